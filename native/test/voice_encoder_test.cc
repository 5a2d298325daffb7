// Recordings as callers bring them: which are refused and what is said, other rates,
// the memory that they take, and voices that are encoded side by side.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "model/shared/preparation.h"
#include "model/speech/voice_encoder.h"
#include "test/check.h"
#include "test/counting_kernels.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;
using Values = std::vector<float>;

constexpr double kPi = 3.14159265358979323846;

// A backend, and the encoder of the tiny Base model on it.
struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint = OpenGolden("tiny-base");
  CountingKernels kernels;
  VoiceEncoder encoder{kernels, *checkpoint};
};

// Some tones at once, none above 3 kHz.
Values Tones(uint32_t rate, double seconds) {
  Values samples(static_cast<size_t>(rate * seconds));
  for (size_t n = 0; n < samples.size(); n++) {
    const double at = static_cast<double>(n) / rate;
    const double wobble = 1 + 0.3 * std::sin(2 * kPi * 3 * at);
    samples[n] = static_cast<float>(wobble * (0.3 * std::sin(2 * kPi * 220 * at) +
                                              0.2 * std::sin(2 * kPi * 1310 * at) +
                                              0.1 * std::sin(2 * kPi * 2930 * at)));
  }
  return samples;
}

std::string ProblemOf(Loaded& loaded, const Values& recording, uint32_t rate = 24000) {
  std::string problem, again;
  Values samples;
  CHECK(!loaded.encoder.Prepare(recording, rate, &samples, &problem));
  if (rate != 24000) return problem;
  // The encoder itself says the same.
  std::vector<int32_t> codes;
  CHECK(loaded.encoder.Begin(recording, true, &again) == nullptr);
  CHECK_EQ(again, problem);
  CHECK(!loaded.encoder.Speaker(recording, &samples, &again));
  CHECK_EQ(again, problem);
  CHECK(!loaded.encoder.Codes(recording, &codes, &again));
  CHECK_EQ(again, problem);
  CHECK(samples.empty() && codes.empty());
  return problem;
}

void ARecordingThatIsNoneIsRefused() {
  Loaded loaded;
  const size_t before = loaded.kernels.InUse();
  const Values second = Tones(24000, 1);
  const auto with = [&](size_t at, float value) {
    Values damaged = second;
    damaged[at] = value;
    return damaged;
  };
  CHECK_EQ(ProblemOf(loaded, {}), "the recording is empty");
  CHECK_EQ(ProblemOf(loaded, with(17, std::nanf(""))), "the recording's sample 17 is no finite number");
  CHECK_EQ(ProblemOf(loaded, with(23'999, -INFINITY)), "the recording's sample 23999 is no finite number");
  CHECK_EQ(ProblemOf(loaded, with(0, -32768)), "the recording's loudest sample is 32768; full scale is 1");
  CHECK_EQ(ProblemOf(loaded, Values(24000)), "the recording is silent");
  CHECK_EQ(ProblemOf(loaded, Values(24000, 0.99e-4f)), "the recording is silent");
  CHECK_EQ(ProblemOf(loaded, Values(1279, 0.5f)), "the recording lasts 0.053 s; 0.053 to 60 s are taken");
  CHECK_EQ(ProblemOf(loaded, Values(1, 0.5f)), "the recording lasts 0.000 s; 0.053 to 60 s are taken");
  CHECK_EQ(ProblemOf(loaded, Values(60 * 24000 + 1, 0.5f)),
           "the recording lasts 60.000 s; 0.053 to 60 s are taken");
  CHECK_EQ(ProblemOf(loaded, second, 3999),
           "the recording's sample rate is 3999 Hz; 4000 to 192000 are taken");
  CHECK_EQ(ProblemOf(loaded, second, 192'001),
           "the recording's sample rate is 192001 Hz; 4000 to 192000 are taken");
  CHECK_EQ(ProblemOf(loaded, second, 0), "the recording's sample rate is 0 Hz; 4000 to 192000 are taken");
  CHECK_EQ(ProblemOf(loaded, Values(61 * 8000, 0.5f), 8000),
           "the recording lasts 61.000 s; 0.053 to 60 s are taken");
  CHECK_EQ(loaded.kernels.InUse(), before);
}

void AModelWithoutEncodersIsRefused() {
  const auto checkpoint = OpenGolden("tiny-customvoice");
  CountingKernels kernels;
  CHECK_EQ(RefusalOf([&] { VoiceEncoder encoder(kernels, *checkpoint); }), "only a Base model has encoders");
}

void WhatNobodyCanHearIsSilent() {
  Loaded loaded;
  Values ultrasound(192'000);
  for (size_t n = 0; n < ultrasound.size(); n++) {
    ultrasound[n] = static_cast<float>(std::exp(-1e-9 * std::pow(static_cast<double>(n) - 96'000, 2)) *
                                       std::sin(2 * kPi * 40'000 * static_cast<double>(n) / 192'000));
  }
  CHECK_EQ(ProblemOf(loaded, ultrasound, 192'000), "the recording is silent");
}

void TheShortestAndTheLongestAreTaken() {
  Loaded loaded;
  std::string problem;
  Values samples, vector;
  CHECK_EQ(loaded.encoder.min_samples(), size_t{1280});
  CHECK(loaded.encoder.Speaker(Values(1280, 1e-4f), &vector, &problem));
  CHECK_EQ(problem, "");
  CHECK(loaded.encoder.Prepare(Values(60 * 4000, 0.5f), 4000, &samples, &problem));
  CHECK_EQ(samples.size(), loaded.encoder.max_samples());
  CHECK(loaded.encoder.Begin(samples, true, &problem) != nullptr);
}

// A tone has one voice, at whatever rate it was recorded.
void ARecordingOfAnyRateGivesTheSameVoice() {
  Loaded loaded;
  Values wanted, samples, vector;
  std::string problem;
  CHECK(loaded.encoder.Speaker(Tones(24000, 1.5), &wanted, &problem));
  for (const uint32_t rate : {8000u, 11025u, 16000u, 22050u, 44100u, 48000u, 96000u}) {
    CHECK(loaded.encoder.Prepare(Tones(rate, 1.5), rate, &samples, &problem));
    CHECK_EQ(samples.size(), ResampledCount(Tones(rate, 1.5).size(), rate, 24000));
    CHECK(loaded.encoder.Speaker(samples, &vector, &problem));
    // The spectrum's floor hears what the filter does at the ends.
    CHECK(RmsError(vector, wanted) < 0.1);
  }
  CHECK(loaded.encoder.Prepare(Tones(48000, 1.5), 24000, &samples, &problem));  // a rate that is not true
  CHECK(loaded.encoder.Speaker(samples, &vector, &problem));
  CHECK(RmsError(vector, wanted) > 0.2);
}

void PieceByPieceTwoVoicesComeOutAsAlone() {
  Loaded loaded;
  std::string problem;
  const Values clips[] = {GoldenVectors("tiny-base__ref_long").Read("waveform"), Tones(24000, 1.1)};
  std::unique_ptr<VoiceEncoding> encodings[2];
  size_t pieces = 0;
  for (size_t n = 0; n < 2; n++) encodings[n] = loaded.encoder.Begin(clips[n], true, &problem);
  for (bool more = true; more; pieces++) {
    more = false;
    for (const auto& encoding : encodings) more = encoding->Advance() || more;
  }
  // All of the speaker encoder, which is small, 32 frames in pieces of 3, and the end.
  CHECK_EQ(pieces, size_t{1 + 11 + 1});
  for (size_t n = 0; n < 2; n++) {
    Values vector;
    std::vector<int32_t> codes;
    CHECK(loaded.encoder.Speaker(clips[n], &vector, &problem));
    CHECK(loaded.encoder.Codes(clips[n], &codes, &problem));
    CHECK(SameBits(encodings[n]->speaker(), vector));
    CHECK(!codes.empty() && encodings[n]->codes() == codes);
    CHECK(!encodings[n]->Advance());
  }
}

void WithoutCodesThereAreNone() {
  Loaded loaded;
  std::string problem;
  const auto encoding = loaded.encoder.Begin(Tones(24000, 0.5), false, &problem);
  while (encoding->Advance()) continue;
  CHECK_EQ(encoding->speaker().size(), size_t{128});
  CHECK(encoding->codes().empty());
}

// The memory announced before an encoding suffices and is not much too large.
void TheMemoryOfARecordingIsKnownBeforeItBegins() {
  for (const double seconds : {0.06, 0.3, 2.0, 9.0}) {
    Loaded loaded;
    std::string problem;
    const Values samples = Tones(24000, seconds);
    const size_t before = loaded.kernels.InUse();
    loaded.kernels.TakePeak();
    const auto encoding = loaded.encoder.Begin(samples, true, &problem);
    while (encoding->Advance()) continue;
    const size_t used = loaded.kernels.TakePeak() - before,
                 promised = loaded.encoder.WorkBytes(samples.size());
    CHECK(used <= promised);
    CHECK(promised - used < promised / 10 + 4096);
  }
  Loaded loaded;
  CHECK(loaded.encoder.WorkBytes(loaded.encoder.max_samples()) < size_t{20} << 20);
}

// Working memory of a piece is kept for the next recording. Memory does not grow from one to the next.
void TheMemoryOfARecordingIsGivenBack() {
  Loaded loaded;
  std::string problem;
  std::vector<int32_t> codes;
  Values vector;
  const Values samples = Tones(24000, 3);
  const size_t weights = loaded.kernels.InUse();
  CHECK(weights <= loaded.encoder.WeightBytes());
  CHECK(loaded.encoder.Codes(samples, &codes, &problem));
  CHECK(loaded.encoder.Speaker(samples, &vector, &problem));
  const size_t kept = loaded.kernels.InUse();
  CHECK(kept - weights < size_t{1} << 20);
  for (int n = 0; n < 3; n++) {
    CHECK(loaded.encoder.Codes(Tones(24000, 1 + n), &codes, &problem));
    {
      const auto abandoned = loaded.encoder.Begin(samples, true, &problem);
    }
    const auto half = loaded.encoder.Begin(samples, true, &problem);
    for (int piece = 0; piece < 8; piece++) CHECK(half->Advance());
  }
  CHECK_EQ(loaded.kernels.InUse(), kept);
}

// Wherever memory ends, nothing is lost and the next recording is encoded as if nothing had been.
void WithoutMemoryTheEncoderStaysWhole() {
  std::string problem;
  std::vector<int32_t> wanted;
  const Values samples = Tones(24000, 0.8);
  {
    Loaded loaded;
    CHECK(loaded.encoder.Codes(samples, &wanted, &problem));
  }
  size_t failures = 0;
  for (size_t allowed = 0; failures == allowed; allowed++) {
    Loaded loaded;
    const size_t before = loaded.kernels.InUse();
    loaded.kernels.Allow(allowed);
    try {
      const auto encoding = loaded.encoder.Begin(samples, true, &problem);
      while (encoding->Advance()) continue;
    } catch (const std::bad_alloc&) {
      failures++;
    }
    CHECK(loaded.kernels.InUse() - before < size_t{1} << 20);
    loaded.kernels.AllowAll();
    const auto encoding = loaded.encoder.Begin(samples, true, &problem);
    while (encoding->Advance()) continue;
    CHECK(encoding->codes() == wanted);
  }
  CHECK(failures > 10);
}

// --- recordings at another rate: pass band, stop band and alignment of the filter

using model::Resampled;
using model::ResampledCount;

constexpr uint32_t kRates[] = {4000, 8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 96000, 192000};
constexpr uint32_t kOddRates[] = {4001, 23999, 37799};

std::vector<float> Sine(uint32_t rate, double hertz, double seconds) {
  std::vector<float> samples(static_cast<size_t>(rate * seconds));
  for (size_t n = 0; n < samples.size(); n++) {
    samples[n] = static_cast<float>(0.5 * std::sin(2 * kPi * hertz * static_cast<double>(n) / rate));
  }
  return samples;
}

// Difference from the expected sine in dB relative to a sine of amplitude 0.5, away from both ends.
double ErrorOf(const std::vector<float>& seen, uint32_t rate, double hertz, double amplitude, size_t margin) {
  double error = 0;
  size_t count = 0;
  for (size_t m = margin; m + margin < seen.size(); m++, count++) {
    const double off = seen[m] - amplitude * std::sin(2 * kPi * hertz * static_cast<double>(m) / rate);
    error += off * off;
  }
  CHECK(count > 100);
  return 10 * std::log10(std::max(error / static_cast<double>(count), 1e-30) / (0.5 * 0.5 / 2));
}

// Equal in time too: a delay of a hundredth of a sample would be an error of -50 dB.
void CheckPasses(uint32_t from, uint32_t to) {
  for (const double part : {0.01, 0.3, 0.77, 0.905}) {
    const double hertz = part * std::min(from, to) / 2;
    const double error = ErrorOf(Resampled(Sine(from, hertz, 0.2), from, to), to, hertz, 0.5, to / 25);
    if (error > -100)
      std::fprintf(stderr, "    %u to %u Hz, a tone of %.0f Hz: %.1f dB\n", from, to, hertz, error);
    CHECK(error <= -100);
  }
}

void TonesOfThePassBandComeOutAsTheyWere() {
  for (const uint32_t rate : kRates) {
    CheckPasses(rate, 24000);
    CheckPasses(rate, 16000);
  }
  for (const uint32_t rate : kOddRates) CheckPasses(rate, 24000);
}

void TonesThatTheNewRateCannotHoldAreNotHeard() {
  for (const uint32_t rate : kRates) {
    if (rate <= 24000) continue;
    for (const double hertz : {12'001.0, 12'500.0, 13'777.0, 0.49 * rate}) {
      if (hertz >= rate / 2.0) continue;
      const double left = ErrorOf(Resampled(Sine(rate, hertz, 0.2), rate, 24000), 24000, 0, 0, 960);
      if (left > -100) std::fprintf(stderr, "    %u Hz, a tone of %.0f Hz: %.1f dB\n", rate, hertz, left);
      CHECK(left <= -100);
    }
  }
}

void AConstantStaysWhatItIs() {
  for (const uint32_t rate : kRates) {
    const std::vector<float> seen = Resampled(std::vector<float>(rate / 4, 0.25f), rate, 24000);
    for (size_t m = 1000; m + 1000 < seen.size(); m++) CHECK(std::fabs(seen[m] - 0.25f) < 1e-5f);
  }
}

void AnImpulseStaysInItsPlace() {
  for (const uint32_t rate : {8000u, 48000u, 44100u}) {
    std::vector<float> samples(rate / 10);
    const size_t at = rate / 20;
    samples[at] = 1;
    const std::vector<float> seen = Resampled(samples, rate, 24000);
    const auto loudest = std::max_element(seen.begin(), seen.end()) - seen.begin();
    CHECK_EQ(loudest, static_cast<std::ptrdiff_t>(std::lround(at * 24000.0 / rate)));
  }
}

void TheLengthIsThatOfTheSameTime() {
  CHECK_EQ(ResampledCount(48000, 48000, 24000), size_t{24000});
  CHECK_EQ(ResampledCount(3, 48000, 24000), size_t{2});  // 1.5
  CHECK_EQ(ResampledCount(1, 192000, 24000), size_t{0});
  CHECK_EQ(ResampledCount(44101, 44100, 24000), size_t{24001});  // 24000.54
  CHECK_EQ(ResampledCount(size_t{60} * 191999, 191999, 24000), size_t{1440000});
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{999}}) {
    CHECK_EQ(Resampled(std::vector<float>(count, 1), 22050, 24000).size(),
             ResampledCount(count, 22050, 24000));
  }
}

void EqualRatesChangeNothing() {
  const std::vector<float> samples = Sine(24000, 440, 0.01);
  CHECK(Resampled(samples, 24000, 24000) == samples);
}

void ARateOfNothingIsRefused() {
  for (const auto& rates : {std::pair{0u, 24000u}, std::pair{24000u, 0u}}) {
    CHECK(test::RefusalOf([&] { Resampled({1, 2}, rates.first, rates.second); }) != "");
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(voice_encoder) {
  using namespace parley::test;
  return Run({
      {"a recording that is none is refused", ARecordingThatIsNoneIsRefused},
      {"a model without encoders is refused", AModelWithoutEncodersIsRefused},
      {"what nobody can hear is silent", WhatNobodyCanHearIsSilent},
      {"the shortest and the longest are taken", TheShortestAndTheLongestAreTaken},
      {"a recording of any rate gives the same voice", ARecordingOfAnyRateGivesTheSameVoice},
      {"piece by piece two voices come out as alone", PieceByPieceTwoVoicesComeOutAsAlone},
      {"without codes there are none", WithoutCodesThereAreNone},
      {"the memory of a recording is known before it begins", TheMemoryOfARecordingIsKnownBeforeItBegins},
      {"the memory of a recording is given back", TheMemoryOfARecordingIsGivenBack},
      {"without memory the encoder stays whole", WithoutMemoryTheEncoderStaysWhole},
      {"tones of the pass band come out as they were", TonesOfThePassBandComeOutAsTheyWere},
      {"tones that the new rate cannot hold are not heard", TonesThatTheNewRateCannotHoldAreNotHeard},
      {"a constant stays what it is", AConstantStaysWhatItIs},
      {"an impulse stays in its place", AnImpulseStaysInItsPlace},
      {"the length is that of the same time", TheLengthIsThatOfTheSameTime},
      {"equal rates change nothing", EqualRatesChangeNothing},
      {"a rate of nothing is refused", ARateOfNothingIsRefused},
  });
}
