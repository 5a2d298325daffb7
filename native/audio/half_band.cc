#include "audio/half_band.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/kaiser.h"

namespace parley {
namespace {

constexpr size_t kMiddle = kHalfBandTaps / 2;  // samples of the lower rate from the newest to the middle tap
constexpr size_t kLanes = 8;

// The side taps of a windowed sinc. Their sum is 1, so that the filter passes 0 Hz unchanged.
struct SideTaps {
  float values[kHalfBandTaps];

  SideTaps() {
    double taps[kHalfBandTaps], sum = 0;
    for (size_t i = 0; i < kHalfBandTaps; i++) {
      const double distance = 2 * static_cast<double>(i) - kHalfBandHistory;
      const double place = distance / (kHalfBandHistory + 1.0);
      taps[i] = std::sin(kPi * distance / 2) / distance * KaiserWindow(place);
      sum += taps[i];
    }
    for (size_t i = 0; i < kHalfBandTaps; i++) values[i] = static_cast<float>(taps[i] / sum);
  }
};

// The sums of side taps over x[n] to x[n + kHalfBandHistory], eight at a time.
void ApplySideTaps(const float* x, size_t count, float* out) {
  static const SideTaps taps;
  size_t n = 0;
  for (; n + kLanes <= count; n += kLanes) {
    float sums[kLanes] = {};
    for (size_t i = 0; i < kHalfBandTaps; i++) {
      const float tap = taps.values[i];
      for (size_t lane = 0; lane < kLanes; lane++) sums[lane] += tap * x[n + i + lane];
    }
    for (size_t lane = 0; lane < kLanes; lane++) out[n + lane] = sums[lane];
  }
  for (; n < count; n++) {
    float sum = 0;
    for (size_t i = 0; i < kHalfBandTaps; i++) sum += taps.values[i] * x[n + i];
    out[n] = sum;
  }
}

// Keeps the newest kHalfBandHistory samples.
void Forget(float* recent, size_t count) {
  std::memmove(recent, recent + count, kHalfBandHistory * sizeof(float));
}

}  // namespace

void HalfBandDoubler::Process(const float* in, size_t count, float* out) {
  for (size_t done = 0; done < count; done += kHalfBandChunk)
    ProcessChunk(in + done, std::min(kHalfBandChunk, count - done), out + 2 * done);
}

void HalfBandDoubler::ProcessChunk(const float* in, size_t count, float* out) {
  float sides[kHalfBandChunk];
  std::copy_n(in, count, recent_ + kHalfBandHistory);
  ApplySideTaps(recent_, count, sides);
  for (size_t n = 0; n < count; n++) {
    out[2 * n] = sides[n];
    out[2 * n + 1] = recent_[n + kMiddle];
  }
  Forget(recent_, count);
}

void HalfBandHalver::Process(const float* in, size_t count, float* out) {
  for (size_t done = 0; done < count; done += kHalfBandChunk)
    ProcessChunk(in + 2 * done, std::min(kHalfBandChunk, count - done), out + done);
}

void HalfBandHalver::ProcessChunk(const float* in, size_t count, float* out) {
  for (size_t n = 0; n < count; n++) {
    even_[kHalfBandHistory + n] = in[2 * n];
    odd_[kHalfBandHistory + n] = in[2 * n + 1];
  }
  ApplySideTaps(odd_, count, out);
  for (size_t n = 0; n < count; n++) out[n] = (out[n] + even_[n + kMiddle]) / 2;
  Forget(even_, count);
  Forget(odd_, count);
}

}  // namespace parley
