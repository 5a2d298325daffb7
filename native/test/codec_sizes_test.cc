// Codecs of sizes that no published checkpoint has, against the specification written down plainly;
// and what a decoder takes of memory.
#include "model/speech/codec_decoder.h"
#include "test/counted_memory.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"
#include "test/plain_codec.h"
#include "test/random_codec.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;
using Codes = std::vector<int32_t>;

constexpr size_t kGroups = 16;
constexpr size_t kEntries = 128;

// latent, codebook, channels; hidden, intermediate, layers, heads, kv_heads, head_dim, window; ratios, rates
const CodecSizes kSizes[] = {
    {20, 24, 48, 16, 40, 2, 4, 2, 6, 5, {3, 2}, {2, 5}},       // fewer kv heads, nothing a multiple of 16
    {32, 16, 32, 24, 24, 1, 3, 1, 8, 3, {}, {4, 2, 3}},        // no stage before the waveform
    {16, 32, 64, 32, 16, 2, 2, 2, 16, 40, {1, 4, 2}, {1, 3}},  // rates of one
    {48, 32, 128, 32, 48, 1, 8, 4, 4, 1, {2}, {7}},            // a window of one
};

Codes RandomCodes(size_t frames, uint64_t seed) {
  Random random(seed);
  Codes codes(frames * kGroups);
  for (int32_t& code : codes) code = static_cast<int32_t>(random.Unit() * kEntries);
  return codes;
}

// Frames [first, last) of a stream, in jobs of at most `piece`.
Values DecodeIn(CodecDecoder* decoder, CodecState* state, const Codes& codes, size_t piece) {
  const size_t frames = codes.size() / kGroups;
  Values samples(frames * decoder->frame_samples(), NAN);
  for (size_t at = 0; at < frames; at += piece) {
    const CodecDecoder::Job job{state, codes.data() + at * kGroups, std::min(piece, frames - at),
                                samples.data() + at * decoder->frame_samples()};
    decoder->Decode(&job, 1);
  }
  return samples;
}

void AnySizesDecodeAsTheSpecificationSays() {
  for (const CodecSizes& sizes : kSizes) {
    const RandomCodec codec(sizes);
    const auto checkpoint = codec.Open();
    const auto kernels = MakeKernels(cpu::ChooseVariant(), 2);
    CodecDecoder decoder(*kernels, *checkpoint, Format::kF32);
    CHECK_EQ(decoder.frame_samples(), static_cast<size_t>(FrameSamples(sizes)));
    const Codes codes = RandomCodes(30, 3);
    const Values whole = DecodeIn(&decoder, decoder.NewState().get(), codes, 30);
    const std::vector<double> plain = PlainCodec(*checkpoint).Decode(codes);
    CheckNear(whole, Values(plain.begin(), plain.end()),
              "a codec of " + std::to_string(sizes.channels) + " channels");
    for (const size_t piece : {1, 4, 11}) {
      CHECK(SameBits(DecodeIn(&decoder, decoder.NewState().get(), codes, piece), whole));
    }
    for (const size_t unheard : {3, 25}) {
      const auto state = decoder.NewState();
      const CodecDecoder::Job job{state.get(), codes.data(), unheard, nullptr};
      decoder.Decode(&job, 1);
      const Codes rest(codes.begin() + static_cast<ptrdiff_t>(unheard * kGroups), codes.end());
      const Values heard(whole.begin() + static_cast<ptrdiff_t>(unheard * decoder.frame_samples()),
                         whole.end());
      CHECK(SameBits(DecodeIn(&decoder, state.get(), rest, 7), heard));
    }
  }
}

// SPEC 9: what a stream of the published sizes keeps, and room for the rows of one pass.
void AStatesSizeFollowsFromTheConfiguration() {
  for (const char* name : {"tiny-customvoice", "tiny-base"}) {
    const auto checkpoint = OpenGolden(name);
    const auto kernels = MakeKernels(cpu::ChooseVariant());
    const CodecDecoder decoder(*kernels, *checkpoint, Format::kF32);
    const CodecDecoderConfig& config = checkpoint->codec_config().decoder;
    const auto whole = [](size_t floats) { return (floats + 15) / 16 * 16; };
    const auto codebook = static_cast<size_t>(config.codebook_width),
               latent = static_cast<size_t>(config.latent);
    size_t floats = whole(2 * codebook) + 2 * whole(6 * latent) + whole(6 * latent);
    auto channels = static_cast<size_t>(config.channels);
    for (size_t block = 0; block < config.upsample_rates.size(); block++) {
      floats += whole(channels);
      channels /= 2;
      floats += whole(6 * channels) + whole(18 * channels) + whole(54 * channels);
    }
    floats += whole(6 * channels);
    const auto width = static_cast<size_t>(config.transformer.kv_width());
    const size_t positions = static_cast<size_t>(config.window) + 7;
    floats += static_cast<size_t>(config.transformer.layers) * 2 * positions * width;
    CHECK_EQ(decoder.StateBytes(), floats * sizeof(float));
  }
}

void NothingIsAllocatedOnceItIsWarm() {
  const auto checkpoint = OpenGolden("tiny-base");
  for (const unsigned threads : {1u, 2u}) {
    const auto kernels = MakeKernels(cpu::ChooseVariant(), threads);
    CodecDecoder decoder(*kernels, *checkpoint, Format::kF32);
    const Codes codes = RandomCodes(30, 5);
    std::vector<std::unique_ptr<CodecState>> states;
    std::vector<CodecDecoder::Job> jobs;
    Values samples(30 * decoder.frame_samples());
    for (size_t s = 0; s < 3; s++) {
      states.push_back(decoder.NewState());
      jobs.push_back({states.back().get(), codes.data(), 30, s == 2 ? nullptr : samples.data()});
    }
    const size_t before = Allocations().own;
    for (const size_t frames : {30, 1, 12}) {  // the longest passes, and those of most streams
      for (CodecDecoder::Job& job : jobs) job.frames = frames;
      decoder.Decode(jobs.data(), jobs.size());
    }
    CHECK(Allocations().own > before);  // they are seen
    const size_t warm = Allocations().own;
    for (const size_t frames : {1, 30, 7, 12, 3}) {
      for (CodecDecoder::Job& job : jobs) job.frames = frames;
      decoder.Decode(jobs.data(), jobs.size());
      decoder.Decode(jobs.data(), 1);
    }
    CHECK_EQ(Allocations().own - warm, size_t{0});
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(codec_sizes) {
  using namespace parley::test;
  return Run({
      {"any sizes decode as the specification says", AnySizesDecodeAsTheSpecificationSays},
      {"a state's size follows from the configuration", AStatesSizeFollowsFromTheConfiguration},
      {"nothing is allocated once it is warm", NothingIsAllocatedOnceItIsWarm},
  });
}
