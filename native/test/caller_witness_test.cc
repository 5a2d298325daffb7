// A far end or a listener that behaves badly disturbs no other call. A witness call shares the plane and the
// listening thread with it. Its sound, windows and figures are sample for sample what they are without it.
// The bad call itself stays within bounds, and what was wrong is counted under a name.
#include <cmath>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "media/hear/ears.h"
#include "media/random.h"
#include "test/check.h"
#include "test/heard_call.h"

namespace parley::test {
namespace {

constexpr size_t kFrames = 500;  // 10 s

struct Sounds {
  Sound sound;
  HearingFigures figures;
  IntakeStats stats;
  std::string error;  // of the ring
  std::vector<EarWindow> windows;
};

struct Scene {
  Sounds witness, other;
};

// Sends the packets of 20 ms of the other call.
using FarEndOf = std::function<void(Call& call, size_t frame, Random& random)>;

void Note(Sounds* sounds, Call& call, ByteRing& ring) {
  sounds->sound = ReadAll(ring);
  sounds->figures = call.figures();
  sounds->stats = call.socket->Stats();
  sounds->error = ring.GetStatus().error;
}

// The other call is absent without a far end. `ring_seconds`: room for its sound, which is read at the end.
Scene Play(const FarEndOf& other_says, size_t ring_seconds = 90) {
  const auto plane = Manual();
  const auto ears = std::make_shared<Ears>();
  Call witness(plane, 1), other(plane, 2);
  const auto ring = OpenRing(witness, 1), others = OpenRing(other, 1, ring_seconds);
  CHECK(witness.socket->JoinEars(ears) && other.socket->JoinEars(ears));
  if (!other_says) plane->CloseSocket(other.socket.get());
  const Payload voice = Encoded(Voice(8000, 8000));
  Random random(11), losses(12);
  Scene scene;
  for (size_t n = 0; n < kFrames; n++) {
    if (other_says) other_says(other, n, random);
    losses.Unit() < 0.05 ? witness.Lose() : witness.Say(FrameOf(voice, n));
    plane->Advance(static_cast<int64_t>(n + 1) * kFrameNs);
    for (Ears::Row row; ears->Take(&row);) {
      CHECK_EQ(row.dropped, uint64_t{0});
      (row.socket == 1 ? scene.witness : scene.other).windows.push_back(row.window);
    }
  }
  Note(&scene.witness, witness, *ring);
  Note(&scene.other, other, *others);
  return scene;
}

auto NumbersOf(const HearingFigures& one) {
  return std::make_tuple(one.samples, one.concealed, one.recovered, one.stretched, one.late_packets,
                         one.lost_packets, one.discarded, one.restarts, one.missed, one.delay_ms,
                         one.target_ms, one.jitter_ms, one.drift_ppm);
}

bool IsEqual(const EarWindow& one, const EarWindow& other) {
  return one.end_ns == other.end_ns && one.caller_db == other.caller_db && one.samples == other.samples;
}

const Scene& Alone() {
  static const Scene scene = Play(nullptr);
  return scene;
}

// Returns the other call.
Sounds Witnessed(const FarEndOf& other_says, size_t ring_seconds = 90) {
  const Sounds& alone = Alone().witness;
  const Scene scene = Play(other_says, ring_seconds);
  const Sounds& witness = scene.witness;
  CHECK_EQ(witness.sound.size(), kFrames / 50 * CallerSound::kRate);
  CHECK(witness.sound == alone.sound);
  CHECK(NumbersOf(witness.figures) == NumbersOf(alone.figures));
  CHECK(std::equal(witness.windows.begin(), witness.windows.end(), alone.windows.begin(), alone.windows.end(),
                   IsEqual));
  CHECK_EQ(scene.other.windows.size(), witness.windows.size());
  CHECK(scene.other.figures.delay_ms < 1300);
  CHECK(scene.other.figures.samples <= witness.sound.size());
  bool finite = true;
  for (const float sample : scene.other.sound)
    finite = finite && std::isfinite(sample) && std::abs(sample) < 10;
  CHECK(finite);
  if (ring_seconds > 10) CHECK_EQ(scene.other.sound.size(), witness.sound.size());
  return scene.other;
}

Payload Noise(Random& random, size_t bytes) {
  Payload payload(bytes);
  for (uint8_t& byte : payload) byte = static_cast<uint8_t>(random.Next());
  return payload;
}

void TheWitnessHears() {
  const Sounds& alone = Alone().witness;
  CHECK(Energy(alone.sound.data() + 16'000, 16'000) > 16'000 * 0.001);
  CHECK(alone.figures.lost_packets > 10 && alone.figures.concealed > 10 * 300);
  CHECK(alone.windows.size() > 300);
  CHECK(Alone().other.windows.empty());
}

void PayloadsOfAnotherTypeThanTheyState() {
  constexpr uint8_t kUnknownType = 50;
  const Payload voice = Encoded(Voice(8000, 8000));
  const Sounds other = Witnessed([&](Call& call, size_t n, Random&) {
    constexpr uint8_t kTypes[] = {kOpusType, kG722Type, kRedType, kEventType, kNoiseType, kUnknownType};
    call.Say(FrameOf(voice, n), kTypes[n / 3 % std::size(kTypes)]);
  });
  CHECK(other.stats.unknown_payloads > 50);
  CHECK(other.stats.malformed + other.stats.unknown_payloads > 100);
}

void PayloadsOfAnotherLengthThanTheirTimestamps() {
  const Sounds other = Witnessed([](Call& call, size_t n, Random& random) {
    constexpr size_t kLengths[] = {0, 1, 40, 161, 960, 961, 2000};
    call.Say(Noise(random, kLengths[n % std::size(kLengths)]), n % 2 ? kPcmuType : kG722Type);
  });
  CHECK(other.figures.discarded > 100);  // those of 0 ms and of more than 120 ms
}

// Six times as much sound as time.
void OpusPacketsOf120Ms() {
  const Sounds other = Witnessed([](Call& call, size_t, Random& random) {
    Payload payload = Noise(random, 60);
    payload[0] = 3 << 3 | 3;  // SILK, 60 ms a frame; the number of frames follows (RFC 6716, section 3.1)
    payload[1] = 2;
    call.Feed(call.sequence++, call.timestamp, kOpusType, payload);
    call.timestamp += 960;
  });
  CHECK_EQ(other.figures.discarded, uint64_t{0});
  CHECK(other.figures.delay_ms < 200);
  CHECK_EQ(other.stats.packets, uint64_t{kFrames - 1});
}

void RandomBytes() {
  const Sounds other = Witnessed([](Call& call, size_t n, Random& random) {
    constexpr uint8_t kTypes[] = {kOpusType, kG722Type, kRedType};
    call.Say(Noise(random, random.Next() % 1400), kTypes[n / 50 % std::size(kTypes)]);
  });
  CHECK(other.figures.discarded > 50);
  CHECK(other.stats.malformed + other.stats.unknown_payloads > 100);
}

void TimestampsThatJumpByHours() {
  const Payload voice = Encoded(Voice(8000, 8000));
  const Sounds other = Witnessed([&](Call& call, size_t n, Random&) {
    constexpr uint32_t kHours = 8000 * 3600 * 5;
    if (n % 25 == 24) call.timestamp += n / 25 % 2 ? kHours : -kHours;
    call.Say(FrameOf(voice, n));
  });
  CHECK_EQ(other.figures.restarts, uint64_t{kFrames / 25});
  CHECK(other.figures.delay_ms < 60);
}

void SequenceNumbersThatJump() {
  const Payload voice = Encoded(Voice(8000, 8000));
  const Sounds other = Witnessed([&](Call& call, size_t n, Random& random) {
    if (n % 25 == 24) call.sequence = static_cast<uint16_t>(random.Next());
    call.Say(FrameOf(voice, n));
  });
  CHECK(other.figures.restarts >= 10);
  CHECK(other.figures.delay_ms < 100);
}

void AFloodOf50000PacketsInASecond() {
  const Payload voice = Encoded(Voice(8000, 8000));
  const Sounds other = Witnessed([&](Call& call, size_t n, Random&) {
    const size_t packets = n >= 100 && n < 150 ? 1000 : 1;
    for (size_t k = 0; k < packets; k++) call.Say(FrameOf(voice, n));
  });
  CHECK(other.figures.discarded > 40'000);
  CHECK_EQ(other.stats.packets, uint64_t{50'000 + kFrames - 50 - 1});
}

void AFarEndThatNeverSends() {
  const Sounds other = Witnessed([](Call&, size_t, Random&) {});
  CHECK_EQ(other.figures.samples, uint64_t{0});
  CHECK_EQ(Energy(other.sound.data(), other.sound.size()), 0.0);
  CHECK_EQ(other.stats.packets, uint64_t{0});
}

void AListenerThatDoesNotRead() {
  const Payload voice = Encoded(Voice(8000, 8000));
  const Sounds other = Witnessed([&](Call& call, size_t n, Random&) { call.Say(FrameOf(voice, n)); }, 1);
  CHECK_EQ(other.error, "LISTENER_SLOW");
  CHECK_EQ(other.sound.size(), CallerSound::kQuantum * 62);
  CHECK_EQ(other.figures.missed, uint64_t{0});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(caller_witness) {
  using namespace parley::test;
  return Run(
      {{"the witness hears", TheWitnessHears},
       {"payloads of another type than they state", PayloadsOfAnotherTypeThanTheyState},
       {"payloads of another length than their timestamps", PayloadsOfAnotherLengthThanTheirTimestamps},
       {"Opus packets of 120 ms", OpusPacketsOf120Ms},
       {"random bytes as Opus, G.722 and RED", RandomBytes},
       {"timestamps that jump by hours", TimestampsThatJumpByHours},
       {"sequence numbers that jump", SequenceNumbersThatJump},
       {"a flood of 50,000 packets in a second", AFloodOf50000PacketsInASecond},
       {"a far end that never sends", AFarEndThatNeverSends},
       {"a listener that does not read", AListenerThatDoesNotRead}});
}
