#include "audio/two_thirds.h"

#include <algorithm>
#include <cstring>

#include "audio/polyphase.h"

namespace parley {

void TwoThirdsReducer::Process(const float* in, size_t pairs, float* out) {
  for (size_t done = 0; done < pairs; done += kChunk)
    ProcessChunk(in + 3 * done, std::min(kChunk, pairs - done), out + 2 * done);
}

// The filter meets three samples for each two of its output. The first output stands at the first of the
// three, the second one in the middle between the second and the third.
void TwoThirdsReducer::ProcessChunk(const float* in, size_t pairs, float* out) {
  static const Polyphase<2, kTaps> filter(7240.0 / 24'000);  // in halves of 48 kHz
  std::copy_n(in, 3 * pairs, recent_ + kHistory);
  for (size_t n = 0; n < pairs; n++) {
    out[2 * n] = filter.Output(0, recent_ + 3 * n);
    out[2 * n + 1] = filter.Output(1, recent_ + 3 * n + 1);
  }
  std::memmove(recent_, recent_ + 3 * pairs, kHistory * sizeof(float));
}

}  // namespace parley
