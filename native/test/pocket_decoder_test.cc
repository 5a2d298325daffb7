// The decoder of Pocket TTS's codec against the official package's vectors: frame by frame, in blocks, as a
// whole.
#include "model/pocket/latent_decoder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

constexpr double kTolerance = 1e-5;  // absolute; the samples peak near 0.5
constexpr const char* kModels[] = {"tiny-current", "tiny-first"};

struct Opened {
  std::unique_ptr<const PocketCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<LatentDecoder> decoder;

  explicit Opened(const std::string& model) : kernels(MakeKernels(cpu::ChooseVariant(), 2)) {
    std::string problem;
    checkpoint = PocketCheckpoint::Open(kGolden + "/pocket/" + model, &problem);
    CHECK_EQ(problem, "");
    // The published models' transformers have the tanh form since 3.x; those of the first release the exact
    // one.
    const Activation gelu = model == "tiny-first" ? Activation::kGelu : Activation::kGeluTanh;
    decoder = std::make_unique<LatentDecoder>(*kernels, *checkpoint, gelu);
  }
};

using Values = std::vector<float>;

double LargestDifference(const Values& seen, const Values& wanted) {
  if (seen.size() != wanted.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < seen.size(); i++) most = std::max<double>(most, std::fabs(seen[i] - wanted[i]));
  return most;
}

// Decodes the first `frames` of the latents in blocks of so many.
Values DecodedBy(const Opened& opened, const Values& latents, size_t frames, size_t block) {
  const size_t latent = latents.size() / 40, samples = opened.decoder->frame_samples();
  Values audio(frames * samples);
  const auto state = opened.decoder->NewState();
  for (size_t at = 0; at < frames; at += block) {
    const LatentDecoder::Job job{state.get(), latents.data() + at * latent, std::min(block, frames - at),
                                 audio.data() + at * samples};
    opened.decoder->Decode(&job, 1);
  }
  return audio;
}

void SamplesAreThoseOfThePackage() {
  for (const char* const model : kModels) {
    const Opened opened(model);
    const GoldenVectors golden(std::string(model) + "__codec_decode", "pocket");
    const Values latents = golden.Read("latents");
    const Values audio = DecodedBy(opened, latents, 40, 1);
    CHECK(LargestDifference(audio, golden.Read("audio_40")) < kTolerance);
    CHECK(LargestDifference(DecodedBy(opened, latents, 7, 7), golden.Read("audio_7_whole")) < kTolerance);
    for (const size_t block : {3, 5, 40}) CHECK(DecodedBy(opened, latents, 40, block) == audio);
  }
}

void StreamsTogetherAreAsAlone() {
  const Opened opened("tiny-current");
  const Values latents = GoldenVectors("tiny-current__codec_decode", "pocket").Read("latents");
  const Values alone = DecodedBy(opened, latents, 9, 1);
  constexpr size_t kStreams = 19;  // more than a pass has frames
  const size_t samples = 9 * opened.decoder->frame_samples();
  Values together(kStreams * samples);
  std::vector<std::unique_ptr<CodecState>> states;
  std::vector<LatentDecoder::Job> jobs;
  for (size_t n = 0; n < kStreams; n++) {
    states.push_back(opened.decoder->NewState());
    jobs.push_back({states[n].get(), latents.data(), 9, together.data() + n * samples});
  }
  opened.decoder->Decode(jobs.data(), jobs.size());
  for (size_t n = 0; n < kStreams; n++)
    CHECK(std::equal(alone.begin(), alone.end(), together.begin() + static_cast<ptrdiff_t>(n * samples)));
}

void ACopiedStateGoesOnAsItsOriginal() {
  const Opened opened("tiny-first");
  const Values latents = GoldenVectors("tiny-first__codec_decode", "pocket").Read("latents");
  const size_t samples = opened.decoder->frame_samples();
  const auto state = opened.decoder->NewState(), copy = opened.decoder->NewState();
  Values first(5 * samples), original(samples), copied(samples);
  const LatentDecoder::Job begin{state.get(), latents.data(), 5, first.data()};
  opened.decoder->Decode(&begin, 1);
  copy->CopyFrom(*state);
  const float* const next = latents.data() + 5 * latents.size() / 40;
  const LatentDecoder::Job both[] = {{state.get(), next, 1, original.data()},
                                     {copy.get(), next, 1, copied.data()}};
  opened.decoder->Decode(both, 2);
  CHECK(original == copied);
}

}  // namespace

TEST_GROUP(pocket_decoder) {
  return Run({
      {"samples are those of the package", SamplesAreThoseOfThePackage},
      {"streams together are as alone", StreamsTogetherAreAsAlone},
      {"a copied state goes on as its original", ACopiedStateGoesOnAsItsOriginal},
  });
}

}  // namespace parley::test
