#include "audio/three_halves.h"

#include <algorithm>
#include <cstring>

#include "audio/polyphase.h"

namespace parley {

void ThreeHalvesExpander::Process(const float* in, size_t pairs, float* out) {
  for (size_t done = 0; done < pairs; done += kChunk)
    ProcessChunk(in + 2 * done, std::min(kChunk, pairs - done), out + 3 * done);
}

// Outputs stand at 0, 2/3 and 4/3 of a pair: on its first sample, two thirds behind it, and one third behind
// its second sample.
void ThreeHalvesExpander::ProcessChunk(const float* in, size_t pairs, float* out) {
  static const Polyphase<3, kTaps> filter(7240.0 / 24'000);  // in halves of 48 kHz
  std::copy_n(in, 2 * pairs, recent_ + kHistory);
  for (size_t n = 0; n < pairs; n++) {
    out[3 * n] = filter.Output(0, recent_ + 2 * n);
    out[3 * n + 1] = filter.Output(2, recent_ + 2 * n);
    out[3 * n + 2] = filter.Output(1, recent_ + 2 * n + 1);
  }
  std::memmove(recent_, recent_ + 2 * pairs, kHistory * sizeof(float));
}

}  // namespace parley
