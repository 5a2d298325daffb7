// A recording becomes a voice in pieces: none of them is long, however long the recording, whatever
// its rate; how the work is cut does not show; and it can be given up after each of them.
#include <algorithm>
#include <cmath>
#include <map>

#include "model/shared/preparation.h"
#include "model/speech/speaker_encoder.h"
#include "model/speech/voice_encoder.h"
#include "runtime/qwen_voice.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "test/counting_kernels.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;
using Values = std::vector<float>;

constexpr size_t kWhole = SIZE_MAX;

// Some tones and noise.
Values Sound(uint32_t rate, double seconds) {
  Values samples = RandomFloats(static_cast<size_t>(rate * seconds), 11);
  for (size_t n = 0; n < samples.size(); n++) {
    const double at = static_cast<double>(n) / rate;
    samples[n] =
        0.1f * samples[n] + static_cast<float>(0.4 * std::sin(1400 * at) + 0.2 * std::sin(8000 * at));
  }
  return samples;
}

// The CPU's kernels, which count what they are asked for, as StagedWork counts.
class WorkingKernels final : public CountingKernels {
 public:
  size_t mel_row_cost = 0;  // work counted for an uploaded row of `mel_bands` values, which the host computed
  size_t mel_bands = 1;

  size_t TakeWork() { return std::exchange(work_, 0); }

  void Upload(void* to, const void* from, size_t bytes) override {
    work_ += bytes / sizeof(float) / mel_bands * mel_row_cost;
    CountingKernels::Upload(to, from, bytes);
  }
  void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) override {
    work_ += w.rows * w.columns * x.count;
    CountingKernels::Multiply(w, x, finish, y);
  }
  void Activate(Activation activation, float* x, size_t count) override {
    work_ += count * (activation == Activation::kRelu ? kValueCost : kFunctionCost);
    CountingKernels::Activate(activation, x, count);
  }
  void Add(float* y, const float* x, size_t count) override {
    work_ += count * kValueCost;
    CountingKernels::Add(y, x, count);
  }
  void Statistics(const float* x, const float* weights, size_t rows, size_t channels, size_t stride,
                  float floor, float* mean, float* deviation) override {
    work_ += rows * channels * (deviation == nullptr ? 1 : 2) * kValueCost;
    CountingKernels::Statistics(x, weights, rows, channels, stride, floor, mean, deviation);
  }
  void SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) override {
    work_ += rows * channels * 2 * kFunctionCost;
    CountingKernels::SoftmaxOverTime(x, rows, channels, stride);
  }
  void AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) override {
    work_ += rows * channels * kValueCost;
    CountingKernels::AddScaled(y, x, gain, rows, channels);
  }
  void CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width, size_t to,
                   size_t width, size_t rows) override {
    work_ += rows * width * kValueCost;
    CountingKernels::CopyColumns(x, from_width, from, y, to_width, to, width, rows);
  }

 private:
  size_t work_ = 0;
};

void StagesAreDoneInOrderAndUpToACost() {
  StagedWork work;
  std::string done;
  const auto note = [&](const char* name) {
    return [&done, name](size_t first, size_t count) {
      done += name + std::to_string(first) + "+" + std::to_string(count) + " ";
    };
  };
  work.Add(0, 1, note("none"));
  work.Add(5, 10, note("a"));
  work.Add(0, [&] { done += "free "; });
  work.Add(7, 4, note("b"), 3);
  work.Add(90, [&] { done += "dear "; });
  work.Add(2, 1, note("c"));
  std::vector<std::string> pieces;
  while (work.Advance(32)) pieces.push_back(std::exchange(done, ""));
  const std::vector<std::string> wanted = {"a0+3 ", "a3+2 free b0+3 ", "b3+4 ", "dear ", "c0+2 "};
  CHECK(pieces == wanted);
  for (const std::string& piece : pieces)
    std::fprintf(stderr, pieces == wanted ? "" : "    %s\n", piece.c_str());
  CHECK(!work.Advance(32) && done.empty());
}

// Bit for bit, stage by stage, row by row.
void CheckCuts(const SpeechCheckpoint& checkpoint, const Values& samples) {
  std::map<std::string, Values> wanted;
  for (const size_t cost : {kWhole, size_t{1}, size_t{300'000}, size_t{2'500'000}}) {
    const auto kernels = MakeKernels(*Variants().back(), 2);
    Weights weights(*kernels);
    SpeakerEncoder encoder(*kernels, weights, checkpoint, cost);
    std::map<std::string, Values> seen;
    encoder.SetTap([&](const std::string& stage, const float* values, size_t rows, size_t channels) {
      seen[stage] = Values(values, values + rows * channels);
    });
    SpeakerEncoder::Run run(encoder, samples);
    size_t pieces = 0;
    while (run.Advance()) pieces++;
    CHECK_EQ(pieces == 1, cost == kWhole);
    seen["vector"] = run.vector();
    if (cost == kWhole) wanted = seen;
    CHECK(!run.vector().empty() && seen.size() == wanted.size());
    for (const auto& [stage, values] : wanted) CHECK(SameBits(seen[stage], values));
  }
}

void AVoiceDoesNotShowHowTheWorkWasCut() {
  CheckCuts(*OpenGolden("tiny-base"), Sound(24'000, 1.3));
  // Margins that differ at both ends, and are longer than many pieces.
  ReshapedCheckpoint wide("tiny-base");
  wide.Replace("config.json", "speaker_encoder_config",
               R"({"enc_dim": 128, "sample_rate": 24000, "mel_dim": 40, "enc_channels": [24, 24, 24, 48],
                   "enc_kernel_sizes": [4, 2, 7, 3], "enc_dilations": [2, 5, 1, 3], "enc_attention_channels": 10,
                   "enc_res2net_scale": 3, "enc_se_channels": 6})");
  for (const size_t count : {1536u, 2000u, 9001u}) {
    Values samples = Sound(24'000, 0.5);
    samples.resize(count);
    CheckCuts(*wide.Open(), samples);
  }
}

// Kernel work in a piece stays below the limit, and all pieces but the last are nearly full.
void NoPieceOfTheSpeakerEncoderIsLong() {
  constexpr size_t kMost = 20'000'000;
  const auto checkpoint = OpenGolden("tiny-base");
  WorkingKernels kernels;
  Weights weights(kernels);
  SpeakerEncoder encoder(kernels, weights, *checkpoint, kMost);
  const SpeakerEncoderConfig& config = *checkpoint->config().speaker_encoder;
  kernels.mel_bands = static_cast<size_t>(config.mel_bands);
  kernels.mel_row_cost = LogMelShape().window * SpeakerEncoder::kSpectrumCost;
  const Values samples = Sound(24'000, 12);
  SpeakerEncoder::Run run(encoder, samples);
  kernels.TakeWork();
  size_t pieces = 0, most = 0, all = 0;
  while (run.Advance()) {
    const size_t work = kernels.TakeWork();
    most = std::max(most, work);
    all += work;
    pieces++;
  }
  CHECK(most <= kMost);
  CHECK(all > 30 * kMost);
  CHECK(pieces >= all / kMost && pieces < 2 * (all / kMost));
}

void TheDearestRowOfThePublishedSizesFitsIntoAPiece() {
  // Channels of a minute: the attention's, 16 at a time.
  const size_t rows = VoiceEncoder::kMaxSeconds * 24'000 / 256;
  CHECK(kChannelGranule * rows * (2 * kFunctionCost + 4 * kValueCost) < kPieceCost / 10);
}

void ARecordingIsResampledSomeAtATime() {
  for (const uint32_t rate : {8000u, 44'100u, 44'101u, 48'000u, 96'000u}) {
    const Values recording = Sound(rate, 0.1), wanted = Resampled(recording, rate, 24'000);
    for (const size_t some : {1u, 7u, 1000u, 100'000u}) {
      Resampling resampling(recording, rate, 24'000);
      for (size_t done = 0; done < resampling.count(); done += some) resampling.Advance(some);
      CHECK(SameBits(resampling.result(), wanted));
    }
  }
}

const RecordingRules kRules = VoiceEncoder::Rules(24'000, 1280);

// A piece's values follow from its cost, and so does the number of pieces.
void NoPieceOfThePreparationIsLong() {
  for (const uint32_t rate : {24'000u, 44'101u, 48'000u, 192'000u}) {
    constexpr size_t kMost = 5'000'000;
    const Values recording = Sound(rate, 0.3);
    size_t cost = recording.size() * kValueCost;
    if (rate != 24'000) {
      const Resampling resampling(recording, rate, 24'000);
      CHECK(resampling.CostOfResult() < kMost / 10);
      cost += resampling.count() * (resampling.CostOfResult() + kValueCost);
    }
    Preparation whole(kRules, recording, rate, kWhole), cut(kRules, recording, rate, kMost);
    CHECK(whole.Advance() && !whole.Advance());
    size_t pieces = 0;
    while (cut.Advance()) pieces++;
    CHECK_EQ(whole.problem() + cut.problem(), "");
    CHECK(SameBits(cut.TakeSamples(), whole.TakeSamples()));
    CHECK(pieces >= cost / kMost &&
          pieces <= cost / kMost * 11 / 10 + 3);  // less than a unit of each is left over
  }
}

void WhatIsWrongWithARecordingIsFoundInAnyPiece() {
  const Values good = Sound(48'000, 0.5);
  const auto problem_of = [&](size_t at, float value) {
    Values damaged = good;
    damaged[at] = value;
    Preparation preparation(kRules, damaged, 48'000, 1000);
    size_t pieces = 0;
    while (preparation.Advance()) pieces++;
    CHECK(pieces <= damaged.size() * kValueCost / (1000 - kValueCost) + 1);  // it was not resampled
    CHECK(!preparation.Advance());
    return preparation.problem();
  };
  for (const size_t at : {0u, 61u, 62u, 23'999u}) {
    CHECK_EQ(problem_of(at, std::nanf("")),
             "the recording's sample " + std::to_string(at) + " is no finite number");
    CHECK_EQ(problem_of(at, 9), "the recording's loudest sample is 9; full scale is 1");
  }
}

// All of it at once, as the engine does it.
struct Worker {
  Worker() : decoder(kernels, *checkpoint, Format::kF32) { kernels.TakeWork(); }

  std::shared_ptr<const runtime::Recording> Of(uint32_t rate, double seconds, const char* text) const {
    auto recording = std::make_shared<runtime::Recording>();
    recording->hash = "a voice";
    recording->samples = Sound(rate, seconds);
    recording->rate = rate;
    recording->text = text;
    return recording;
  }

  std::unique_ptr<const SpeechCheckpoint> checkpoint = OpenGolden("tiny-base");
  WorkingKernels kernels;
  VoiceEncoder encoder{kernels, *checkpoint};
  CodecDecoder decoder;
};

void AMinuteAtAnOddRateIsManyPieces() {
  Worker worker;
  const auto recording = worker.Of(44'101, 59, "");
  runtime::QwenVoiceWork work(worker.encoder, worker.decoder, recording);
  size_t pieces = 0;
  while (ValueOf(work.Advance()) == nullptr) {
    CHECK(worker.kernels.TakeWork() <= kPieceCost);
    pieces++;
  }
  const size_t preparing =
      59 * 24'000 * Resampling(recording->samples, 44'101, 24'000).CostOfResult() / kPieceCost;
  const size_t spectrum =
      59 * 24'000 / 256 * LogMelShape().window * SpeakerEncoder::kSpectrumCost / kPieceCost;
  CHECK(preparing >= 5 && spectrum >= 3);
  CHECK(pieces >= preparing + spectrum && pieces < preparing + spectrum + 12);
}

// A request is cancelled while its voice is made: memory is as before, and the next one is made as if nothing
// had been.
void TheWorkCanBeGivenUpAfterEachPiece() {
  Worker worker;
  const auto recording = worker.Of(44'101, 0.5, "A voice.");
  std::shared_ptr<runtime::Voice> wanted, seen;
  const auto make = [&](size_t most, std::shared_ptr<runtime::Voice>* voice) {
    runtime::QwenVoiceWork work(worker.encoder, worker.decoder, recording);
    std::shared_ptr<runtime::Voice> made;
    size_t pieces = 0;
    while (pieces < most && (made = ValueOf(work.Advance())) == nullptr) pieces++;
    if (voice != nullptr) *voice = made;
    return pieces;
  };
  const size_t all = make(kWhole, &wanted);
  CHECK(all >=
        3 + 1 + 3 + 7 - 1);  // the preparation, the speaker, 7 frames to codes and back; the last is the end
  const size_t kept = worker.kernels.InUse();
  for (size_t pieces = 0; pieces < all; pieces++) {
    CHECK_EQ(make(pieces, nullptr), pieces);
    CHECK_EQ(worker.kernels.InUse(), kept);
  }
  make(kWhole, &seen);
  const auto prompt = [](const std::shared_ptr<runtime::Voice>& voice) {
    return static_cast<const runtime::QwenVoice&>(*voice).prompt;
  };
  CHECK(SameBits(prompt(seen)->speaker, prompt(wanted)->speaker) &&
        prompt(seen)->codes == prompt(wanted)->codes);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(voice_pieces) {
  using namespace parley::test;
  return Run({
      {"stages are done in order and up to a cost", StagesAreDoneInOrderAndUpToACost},
      {"a voice does not show how the work was cut", AVoiceDoesNotShowHowTheWorkWasCut},
      {"no piece of the speaker encoder is long", NoPieceOfTheSpeakerEncoderIsLong},
      {"the dearest row of the published sizes fits into a piece",
       TheDearestRowOfThePublishedSizesFitsIntoAPiece},
      {"a recording is resampled some at a time", ARecordingIsResampledSomeAtATime},
      {"no piece of the preparation is long", NoPieceOfThePreparationIsLong},
      {"what is wrong with a recording is found in any piece", WhatIsWrongWithARecordingIsFoundInAnyPiece},
      {"a minute at an odd rate is many pieces", AMinuteAtAnOddRateIsManyPieces},
      {"the work can be given up after each piece", TheWorkCanBeGivenUpAfterEachPiece},
  });
}
