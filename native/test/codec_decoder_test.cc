// The codec decoder whole: the golden waveforms, and the same samples to the bit however the
// frames are cut, batched, or begun from a copied state.
#include "model/speech/codec_decoder.h"

#include <stdexcept>

#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;
using Codes = std::vector<int32_t>;

constexpr size_t kGroups = 16;  // codebooks of the golden checkpoints
constexpr const char* kModels[] = {"tiny-customvoice", "tiny-base"};
constexpr double kMostApart = 3e-6;  // largest difference of float32 samples; measured: 6.9e-7

struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<CodecDecoder> decoder;
  GoldenVectors vectors;

  explicit Loaded(const std::string& name, const cpu::Variant& variant = cpu::ChooseVariant(),
                  unsigned threads = 1, Format format = Format::kF32)
      : checkpoint(OpenGolden(name)),
        kernels(MakeKernels(variant, threads)),
        vectors(name + "__codec_decode") {
    decoder = std::make_unique<CodecDecoder>(*kernels, *checkpoint, format);
  }

  Codes CodesOf(const std::string& name) const { return vectors.Read<int32_t>(name); }

  // The next frames of a stream.
  Values Decode(CodecState* state, const Codes& codes) const {
    const size_t frames = codes.size() / kGroups;
    Values samples(frames * decoder->frame_samples(), NAN);
    const CodecDecoder::Job job{state, codes.data(), frames, samples.data()};
    decoder->Decode(&job, 1);
    return samples;
  }
  Values Decode(const Codes& codes) const { return Decode(decoder->NewState().get(), codes); }
  // Frames that nobody hears.
  void Pass(CodecState* state, const Codes& codes) const {
    const CodecDecoder::Job job{state, codes.data(), codes.size() / kGroups, nullptr};
    decoder->Decode(&job, 1);
  }
};

Codes FramesOf(const Codes& codes, size_t first, size_t last) {
  return Codes(codes.begin() + static_cast<ptrdiff_t>(first * kGroups),
               codes.begin() + static_cast<ptrdiff_t>(last * kGroups));
}

Values Part(const Values& samples, size_t first, size_t last) {
  return Values(samples.begin() + static_cast<ptrdiff_t>(first),
                samples.begin() + static_cast<ptrdiff_t>(last));
}

double MostApart(const Values& seen, const Values& wanted) {
  if (seen.size() != wanted.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < seen.size(); i++) {
    const double apart = std::fabs(static_cast<double>(seen[i]) - wanted[i]);
    most = apart <= most ? most : apart;  // NaN is the most
  }
  return most;
}

void WaveformsAreTheReferences() {
  for (const char* name : kModels) {
    const Loaded codec(name);
    for (const char* count : {"1", "7", "40", "130"}) {
      const Values wave = codec.Decode(codec.CodesOf(std::string("codes_") + count));
      CHECK(MostApart(wave, codec.vectors.Read(std::string("wave_") + count)) <= kMostApart);
    }
  }
}

// Longer than the reference's own chunks of 300: it was made to decode these in one piece.
void AStreamIsNotCutAtThreeHundredFrames() {
  const Loaded codec("tiny-base");
  const size_t frame = codec.decoder->frame_samples();
  const Values wave = Part(codec.Decode(codec.CodesOf("codes_330")), 298 * frame, 304 * frame);
  CHECK(MostApart(wave, codec.vectors.Read("wave_330_full_298_304")) <= kMostApart);
  CHECK(MostApart(wave, codec.vectors.Read("wave_330_chunked_298_304")) > 1e-4);
}

void AGenerationIsTheReferencesFromItsCodes() {
  const Loaded codec("tiny-customvoice");
  const GoldenVectors generation("tiny-customvoice__lang_english");
  CHECK(MostApart(codec.Decode(generation.Read<int32_t>("codes")), generation.Read("waveform")) <=
        kMostApart);
}

// The reference decodes recording and generation as one, and drops the recording's samples.
void AVoiceByExampleGoesOnFromItsRecording() {
  const Loaded codec("tiny-base");
  const GoldenVectors generation("tiny-base__icl_text_longer"), recording("tiny-base__ref_short");
  const auto voice = codec.decoder->NewState();
  codec.Pass(voice.get(), recording.Read<int32_t>("codes"));
  const auto stream = codec.decoder->CopyOf(*voice);
  CHECK(MostApart(codec.Decode(stream.get(), generation.Read<int32_t>("codes")),
                  generation.Read("waveform")) <= kMostApart);
}

void AnyCutGivesTheSameSamples() {
  for (const char* name : kModels) {
    const Loaded codec(name);
    const Codes codes = codec.CodesOf("codes_130");
    const Values whole = codec.Decode(codes);
    for (const double most : {1, 3, 12, 60}) {
      Random random(static_cast<uint64_t>(most));
      const auto state = codec.decoder->NewState();
      Values pieces;
      for (size_t at = 0; at < 130;) {
        const size_t end = std::min<size_t>(130, at + 1 + static_cast<size_t>(random.Unit() * most));
        const Values piece = codec.Decode(state.get(), FramesOf(codes, at, end));
        pieces.insert(pieces.end(), piece.begin(), piece.end());
        at = end;
      }
      CHECK(SameBits(pieces, whole));
    }
  }
}

void NeitherVariantNorThreadsShow() {
  for (const char* name : kModels) {
    Values first;
    for (const cpu::Variant* variant : Variants()) {
      for (const unsigned threads : {1u, 3u}) {
        const Loaded codec(name, *variant, threads);
        const Values wave = codec.Decode(codec.CodesOf("codes_7"));
        if (first.empty()) first = wave;
        CHECK(SameBits(wave, first));
      }
    }
  }
}

void StreamsOfABatchAreAsAlone() {
  for (const Format format : {Format::kF32, Format::kF16}) {
    const Loaded codec("tiny-base", cpu::ChooseVariant(), 1, format);
    const Codes codes = codec.CodesOf("codes_130");
    // Different frames, and pieces of different lengths, step after step: also more than one pass takes.
    const std::vector<Codes> streams = {FramesOf(codes, 0, 40), FramesOf(codes, 50, 130),
                                        FramesOf(codes, 7, 20)};
    std::vector<Values> heard(streams.size());
    std::vector<std::unique_ptr<CodecState>> states;
    for (size_t s = 0; s < streams.size(); s++) states.push_back(codec.decoder->NewState());
    Random random(5);
    std::vector<size_t> at(streams.size());
    for (bool more = true; more;) {
      std::vector<CodecDecoder::Job> jobs;
      for (size_t s = 0; s < streams.size(); s++) {
        const size_t left = streams[s].size() / kGroups - at[s];
        const size_t frames = std::min(left, static_cast<size_t>(random.Unit() * 25));
        heard[s].resize((at[s] + frames) * codec.decoder->frame_samples(), NAN);
        jobs.push_back({states[s].get(), streams[s].data() + at[s] * kGroups, frames,
                        heard[s].data() + at[s] * codec.decoder->frame_samples()});
        at[s] += frames;
      }
      codec.decoder->Decode(jobs.data(), jobs.size());
      more = false;
      for (size_t s = 0; s < streams.size(); s++) more = more || at[s] * kGroups < streams[s].size();
    }
    for (size_t s = 0; s < streams.size(); s++) CHECK(SameBits(heard[s], codec.Decode(streams[s])));
  }
}

void ACopiedStateGoesOnAsTheOther() {
  for (const size_t before : {1, 6, 40}) {
    const Loaded codec("tiny-base");
    const Codes codes = codec.CodesOf("codes_130");
    const auto state = codec.decoder->NewState();
    codec.Decode(state.get(), FramesOf(codes, 0, before));
    const auto copy = codec.decoder->CopyOf(*state);
    const Values on = codec.Decode(state.get(), FramesOf(codes, before, 60));
    // The first has gone on: the copy has a past of its own.
    CHECK(SameBits(codec.Decode(copy.get(), FramesOf(codes, before, 60)), on));
  }
}

void FramesThatNobodyHeardLeaveTheSameState() {
  for (const char* name : kModels) {
    const Loaded codec(name);
    const Codes codes = FramesOf(codec.CodesOf("codes_130"), 0, 60);
    const Values whole = codec.Decode(codes);
    for (const size_t unheard : {1, 10, 11, 45}) {
      const auto state = codec.decoder->NewState();
      codec.Pass(state.get(), FramesOf(codes, 0, unheard));
      const Values rest = codec.Decode(state.get(), FramesOf(codes, unheard, 60));
      CHECK(SameBits(rest, Part(whole, unheard * codec.decoder->frame_samples(), whole.size())));
    }
  }
}

// Acts as if ten million frames, nine days, had gone before: once the keys of that past are out of
// every layer's sight, the samples are as at the beginning.
void FarAlongAStreamTheAnglesAreStillExact() {
  const Loaded codec("tiny-base");
  const Codes codes = codec.CodesOf("codes_130");
  const Values whole = codec.Decode(codes);
  const auto state = codec.decoder->NewState();
  state->keys().Advance(10'000'000);
  const Values far = codec.Decode(state.get(), codes);
  const size_t settled =
      90 * codec.decoder->frame_samples();  // three layers with a window of 20, and the convolutions
  CHECK(MostApart(Part(far, settled, far.size()), Part(whole, settled, whole.size())) <= kMostApart);
}

void WeightsOfHalfTheSizeAreNearlyAsGood() {
  for (const char* name : kModels) {
    const Loaded codec(name, cpu::ChooseVariant(), 1, Format::kF16), exact(name);
    const double error = RmsError(codec.Decode(codec.CodesOf("codes_130")), codec.vectors.Read("wave_130"));
    CHECK(-20 * std::log10(error) >= 55);   // 59.8
    CHECK(-20 * std::log10(error) <= 100);  // it was not f32 after all
    CHECK(codec.decoder->WeightBytes() < exact.decoder->WeightBytes());
  }
}

void WhatIsNoCodeIsRefusedBeforeAnythingIsComputed() {
  const Loaded codec("tiny-base");
  Codes codes = codec.CodesOf("codes_40");
  const Values whole = codec.Decode(codes);
  const auto state = codec.decoder->NewState();
  for (const int32_t wrong : {-1, 128}) {
    Codes broken = codes;
    broken[30 * kGroups + 2] = wrong;
    CHECK_EQ(RefusalOf([&] { codec.Decode(state.get(), broken); }),
             "code " + std::to_string(wrong) + " of frame 30 is none of the codec's 0 to 127");
  }
  const CodecDecoder::Job twice[] = {{state.get(), codes.data(), 1, nullptr},
                                     {state.get(), codes.data(), 1, nullptr}};
  CHECK_EQ(RefusalOf([&] { codec.decoder->Decode(twice, 2); }), "two jobs of the codec name one state");
  CHECK(SameBits(codec.Decode(state.get(), codes), whole));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(codec_decoder) {
  using namespace parley::test;
  return Run({
      {"waveforms are the reference's", WaveformsAreTheReferences},
      {"a stream is not cut at three hundred frames", AStreamIsNotCutAtThreeHundredFrames},
      {"a generation is the reference's from its codes", AGenerationIsTheReferencesFromItsCodes},
      {"a voice by example goes on from its recording", AVoiceByExampleGoesOnFromItsRecording},
      {"any cut gives the same samples", AnyCutGivesTheSameSamples},
      {"neither variant nor threads show", NeitherVariantNorThreadsShow},
      {"streams of a batch are as alone", StreamsOfABatchAreAsAlone},
      {"a copied state goes on as the other", ACopiedStateGoesOnAsTheOther},
      {"frames that nobody heard leave the same state", FramesThatNobodyHeardLeaveTheSameState},
      {"far along a stream the angles are still exact", FarAlongAStreamTheAnglesAreStillExact},
      {"weights of half the size are nearly as good", WeightsOfHalfTheSizeAreNearlyAsGood},
      {"what is no code is refused before anything is computed",
       WhatIsNoCodeIsRefusedBeforeAnythingIsComputed},
  });
}
