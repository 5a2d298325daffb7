// Recordings at another rate: what the filter passes, what it stops, and where a sound comes to lie.
#include "model/speech/preparation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "test/check.h"

namespace parley {
namespace {

using model::Resampled;
using model::ResampledCount;

constexpr double kPi = 3.14159265358979323846;
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
}  // namespace parley

TEST_GROUP(resampling) {
  return parley::test::Run({
      {"tones of the pass band come out as they were", parley::TonesOfThePassBandComeOutAsTheyWere},
      {"tones that the new rate cannot hold are not heard", parley::TonesThatTheNewRateCannotHoldAreNotHeard},
      {"a constant stays what it is", parley::AConstantStaysWhatItIs},
      {"an impulse stays in its place", parley::AnImpulseStaysInItsPlace},
      {"the length is that of the same time", parley::TheLengthIsThatOfTheSameTime},
      {"equal rates change nothing", parley::EqualRatesChangeNothing},
      {"a rate of nothing is refused", parley::ARateOfNothingIsRefused},
  });
}
