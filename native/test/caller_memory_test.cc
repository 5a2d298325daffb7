// Hearing allocates nothing for a packet or a pull.
#include "media/hear/caller_sound.h"
#include "test/check.h"
#include "test/counted_memory.h"
#include "test/far_end.h"

namespace parley::test {
namespace {

void PacketsAndPullsAllocateNothing() {
  Network net;
  net.loss = 0.1;
  net.jitter_ms = 80;
  net.duplicates = 0.1;
  FarEnd far;
  far.drift_ppm = 300;
  const Journey journey = Travel(far, net);
  CallerSound sound({}, MakeToneDecoders());
  float out[CallerSound::kQuantum];
  size_t before = 0, next = 0;
  for (int64_t now = 5 * kMs; now < 60'000 * kMs; now += 16 * kMs) {
    for (; next < journey.arrivals.size() && journey.arrivals[next].packet.arrival_ns <= now; next++) {
      HeardPacket packet = journey.arrivals[next].packet;
      packet.payload = reinterpret_cast<const uint8_t*>(&journey.arrivals[next].payload);
      packet.bytes = sizeof(TonePayload);
      sound.Put(packet);
      if (next == 0) before = Allocations().own;  // the codec's decoder is made
    }
    if (next == journey.arrivals.size() / 2) sound.Restart();
    sound.Pull(now, out);
  }
  CHECK(before > 0);
  CHECK_EQ(Allocations().own, before);
  CHECK(sound.figures().concealed > 0 && sound.figures().stretched > 0);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(caller_memory) {
  using namespace parley::test;
  return Run({{"packets and pulls allocate nothing", PacketsAndPullsAllocateNothing}});
}
