#include "audio/two_thirds.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/kaiser.h"

namespace parley {
namespace {

constexpr double kCutoff = 7240.0 / 24'000;  // in halves of 48 kHz
constexpr size_t kPhaseTaps = TwoThirdsReducer::kTaps, kSumLanes = 8;

// The taps of both phases, those of the oldest sample first. The sum of each phase is 1, so that the filter
// passes 0 Hz unchanged.
struct Phases {
  float values[2][kPhaseTaps];

  Phases() {
    for (size_t phase = 0; phase < 2; phase++) {
      double taps[kPhaseTaps], sum = 0;
      for (size_t i = 0; i < kPhaseTaps; i++) {
        const auto index = static_cast<double>(2 * (kPhaseTaps - 1 - i) + phase);
        const double distance = index - (kPhaseTaps - 0.5), place = distance / kPhaseTaps;
        const double sinc = std::sin(kPi * kCutoff * distance) / distance;
        taps[i] = sinc * KaiserWindow(place);
        sum += taps[i];
      }
      for (size_t i = 0; i < kPhaseTaps; i++) values[phase][i] = static_cast<float>(taps[i] / sum);
    }
  }
};

float Filtered(const float* taps, const float* samples) {
  float sums[kSumLanes] = {};
  for (size_t i = 0; i < kPhaseTaps; i += kSumLanes) {
    for (size_t lane = 0; lane < kSumLanes; lane++) sums[lane] += taps[i + lane] * samples[i + lane];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace

void TwoThirdsReducer::Process(const float* in, size_t pairs, float* out) {
  for (size_t done = 0; done < pairs; done += kChunk)
    ProcessChunk(in + 3 * done, std::min(kChunk, pairs - done), out + 2 * done);
}

// The filter meets three samples for each two of its output. The first output stands at the first of the
// three, the second one in the middle between the second and the third.
void TwoThirdsReducer::ProcessChunk(const float* in, size_t pairs, float* out) {
  static const Phases phases;
  std::copy_n(in, 3 * pairs, recent_ + kHistory);
  for (size_t n = 0; n < pairs; n++) {
    out[2 * n] = Filtered(phases.values[0], recent_ + 3 * n);
    out[2 * n + 1] = Filtered(phases.values[1], recent_ + 3 * n + 1);
  }
  std::memmove(recent_, recent_ + 3 * pairs, kHistory * sizeof(float));
}

}  // namespace parley
