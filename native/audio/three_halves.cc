#include "audio/three_halves.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/kaiser.h"

namespace parley {
namespace {

constexpr double kExpandedCutoff = 7240.0 / 24'000;  // in halves of 48 kHz
constexpr size_t kExpandedTaps = ThreeHalvesExpander::kTaps, kExpandedLanes = 8;

// The taps of the three phases, those of the oldest sample first. The sum of each phase is 1, so that the
// filter passes 0 Hz unchanged.
struct ExpandedPhases {
  float values[3][kExpandedTaps];

  ExpandedPhases() {
    for (size_t phase = 0; phase < 3; phase++) {
      double taps[kExpandedTaps], sum = 0;
      for (size_t i = 0; i < kExpandedTaps; i++) {
        const auto index = static_cast<double>(3 * (kExpandedTaps - 1 - i) + phase);
        const double middle = (3 * kExpandedTaps - 1) / 2.0, distance = index - middle;
        const double sinc =
            distance == 0 ? kPi * kExpandedCutoff : std::sin(kPi * kExpandedCutoff * distance) / distance;
        taps[i] = sinc * KaiserWindow(distance / (middle + 0.5));
        sum += taps[i];
      }
      for (size_t i = 0; i < kExpandedTaps; i++) values[phase][i] = static_cast<float>(taps[i] / sum);
    }
  }
};

float Expanded(const float* taps, const float* samples) {
  float sums[kExpandedLanes] = {};
  for (size_t i = 0; i < kExpandedTaps; i += kExpandedLanes) {
    for (size_t lane = 0; lane < kExpandedLanes; lane++) sums[lane] += taps[i + lane] * samples[i + lane];
  }
  float sum = 0;
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace

void ThreeHalvesExpander::Process(const float* in, size_t pairs, float* out) {
  for (size_t done = 0; done < pairs; done += kChunk)
    ProcessChunk(in + 2 * done, std::min(kChunk, pairs - done), out + 3 * done);
}

// Outputs stand at 0, 2/3 and 4/3 of a pair: on its first sample, two thirds behind it, and one third behind
// its second sample.
void ThreeHalvesExpander::ProcessChunk(const float* in, size_t pairs, float* out) {
  static const ExpandedPhases phases;
  std::copy_n(in, 2 * pairs, recent_ + kHistory);
  for (size_t n = 0; n < pairs; n++) {
    out[3 * n] = Expanded(phases.values[0], recent_ + 2 * n);
    out[3 * n + 1] = Expanded(phases.values[2], recent_ + 2 * n);
    out[3 * n + 2] = Expanded(phases.values[1], recent_ + 2 * n + 1);
  }
  std::memmove(recent_, recent_ + 2 * pairs, kHistory * sizeof(float));
}

}  // namespace parley
