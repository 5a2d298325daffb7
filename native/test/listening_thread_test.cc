// The listening thread wakes late: by 0.3 s, 2 s, 5 s and 12 s. The sample counts of all listeners stay
// right, and what could not be heard is counted. The clock is the test's.
#include "media/hear/listening_thread.h"

#include <algorithm>
#include <memory>
#include <string>

#include "test/check.h"
#include "test/heard_call.h"

namespace parley::test {
namespace {

constexpr int64_t kEndNs = 40 * kNsPerSecond, kStallNs = 10 * kNsPerSecond, kReadNs = 200 * kNsPerMs;
constexpr size_t kWindowsInAll = 1249;  // that end up to kEndNs, without the half one at the beginning

// A call whose listening thread stalled once. Its members count the sound that each listener got.
struct Outcome {
  Sound sound;        // of a ring with room for everything
  Sound of_one;       // of a ring of 1 s, which is read each 200 ms
  Sound of_idle;      // of a ring of 1 s, which is read no longer once the stall has begun
  std::string error;  // of the same
  size_t windows = 0, dropped_windows = 0, most_at_once = 0;
  HearingFigures figures;
};

class Rig {
 public:
  Rig() {
    CHECK(thread_.Add(call_));
    for (const auto& ring : {large_, one_, idle_}) CHECK(call_->AddRing(ring, EarSound::kCaller, 0));
    CHECK(call_->AddEars(ears_, {}, 1));
  }

  Outcome Run(int64_t stall_ns) {
    for (int64_t now_ns = 0; now_ns <= kEndNs; now_ns += 4 * kNsPerMs) {
      if (now_ns % kFrameNs == 0) Say(now_ns);
      const bool stalls = now_ns >= kStallNs && now_ns < kStallNs + stall_ns;
      if (stalls) continue;
      time_.Set(now_ns);
      thread_.RunUpTo(now_ns);
      Listen(now_ns, now_ns >= kStallNs);
    }
    Append(&outcome_.sound, *large_);
    outcome_.figures = call_->Figures();
    return outcome_;
  }

 private:
  static std::shared_ptr<ByteRing> RingOf(size_t seconds) {
    return std::make_shared<ByteRing>(seconds * CallerSound::kRate * sizeof(float));
  }
  static void Append(Sound* sound, ByteRing& ring) {
    const Sound more = ReadAll(ring);
    sound->insert(sound->end(), more.begin(), more.end());
  }

  void Say(int64_t now_ns) {
    const auto n = static_cast<size_t>(now_ns / kFrameNs);
    const Payload frame = FrameOf(voice_, n);
    HeardPacket packet;
    packet.sequence = 1000 + n;
    packet.timestamp = 160'000 + n * kFrameBytes;
    packet.arrival_ns = now_ns + 1;
    packet.payload = frame.data();
    packet.bytes = frame.size();
    call_->inbox().Put(packet, 1);
  }

  void Listen(int64_t now_ns, bool has_stalled) {
    size_t windows = 0;
    for (Ears::Row row; ears_->Take(&row); windows++) outcome_.dropped_windows += row.dropped;
    outcome_.windows += windows;
    outcome_.most_at_once = std::max(outcome_.most_at_once, windows);
    if (now_ns % kReadNs != 0) return;
    Append(&outcome_.of_one, *one_);
    if (!has_stalled) Append(&outcome_.of_idle, *idle_);
    if (outcome_.error.empty()) outcome_.error = idle_->GetStatus().error;
  }

  TimeSource time_{0, 0};
  ListeningThread thread_{time_};
  const std::shared_ptr<ListeningCall> call_ =
      std::make_shared<ListeningCall>(std::weak_ptr<ListeningOwner>(), 0);
  const std::shared_ptr<ByteRing> large_ = RingOf(90), one_ = RingOf(1), idle_ = RingOf(1);
  const std::shared_ptr<Ears> ears_ = std::make_shared<Ears>();
  const Payload voice_ = Encoded(Voice(8000, 8000));
  Outcome outcome_;
};

Outcome After(int64_t stall_ms) { return Rig().Run(stall_ms * kNsPerMs); }

size_t PlaceOf(int64_t ns) { return static_cast<size_t>(ns / 1000 * CallerSound::kRate / 1'000'000); }

bool IsEqual(const Sound& one, const Sound& other, int64_t from_ns, int64_t to_ns) {
  return std::equal(one.begin() + static_cast<ptrdiff_t>(PlaceOf(from_ns)),
                    one.begin() + static_cast<ptrdiff_t>(PlaceOf(to_ns)),
                    other.begin() + static_cast<ptrdiff_t>(PlaceOf(from_ns)));
}

void CheckCounts(const Outcome& late) {
  CHECK_EQ(late.sound.size(), PlaceOf(kEndNs));
  CHECK_EQ(late.of_one.size(), PlaceOf(kEndNs));
  CHECK_EQ(late.windows + late.dropped_windows, kWindowsInAll);
  CHECK(late.most_at_once <= EarSeat::kMost);
  CHECK(late.figures.delay_ms < 40);
}

void AThreadInTimeLosesNothing() {
  const Outcome punctual = After(0);
  CheckCounts(punctual);
  CHECK(punctual.of_one == punctual.sound);
  CHECK_EQ(punctual.dropped_windows, size_t{0});
  CHECK_EQ(punctual.figures.missed + punctual.figures.discarded + punctual.figures.concealed, uint64_t{0});
  CHECK_EQ(punctual.error, "LISTENER_SLOW");
}

// The packets of the stall wait in the inbox.
void AShortStallLosesNoSound() {
  const Outcome punctual = After(0);
  for (const int64_t stall_ms : {300, 2000}) {
    const Outcome late = After(stall_ms);
    CheckCounts(late);
    CHECK(late.sound == punctual.sound);
    CHECK_EQ(late.figures.discarded, uint64_t{0});
    CHECK_EQ(late.figures.concealed, uint64_t{0});
    const int64_t lost_windows = stall_ms / 32 - static_cast<int64_t>(EarSeat::kMost);
    CHECK(std::abs(static_cast<int64_t>(late.dropped_windows) - std::max<int64_t>(0, lost_windows)) <= 1);
  }
}

// The inbox is full after about three seconds. The jitter buffer keeps one of them if the moments in between
// were left out. Silence follows, and then the sound of the present.
void ALongStallBecomesSilenceOfItsLength() {
  const Outcome punctual = After(0);
  for (const int64_t stall_ms : {5000, 12'000}) {
    const int64_t ends_ns = kStallNs + stall_ms * kNsPerMs;
    const Outcome late = After(stall_ms);
    CheckCounts(late);
    CHECK(IsEqual(late.sound, punctual.sound, 0, kStallNs - 100 * kNsPerMs));
    CHECK(late.figures.discarded > static_cast<uint64_t>(stall_ms / 20 - 170));
    CHECK(late.figures.discarded < static_cast<uint64_t>(stall_ms / 20 - 40));
    CHECK(Energy(late.sound.data() + PlaceOf(ends_ns - kNsPerSecond), 14'000) < 1e-9);
    const size_t again = PlaceOf(ends_ns + kNsPerSecond), rest = PlaceOf(kEndNs) - again;
    const double heard = Energy(late.sound.data() + again, rest);
    const double wanted = Energy(punctual.sound.data() + again, rest);
    CHECK(heard > 0.97 * wanted && heard < 1.03 * wanted);
  }
}

// A ring that holds the stall gets every moment of 10 s at once; of a longer stall, silence for the others.
void MomentsThatWereLeftOutAreCounted() {
  CHECK_EQ(After(2000).figures.missed % CallerSound::kQuantum, uint64_t{0});
  const Outcome five = After(5000), twelve = After(12'000);
  // Two rings of 1 s drop 4 s each, and what comes before their readers have made room. Of 12 s, silence goes
  // into all three rings.
  const uint64_t second = CallerSound::kRate;
  CHECK(five.figures.missed > 9 * second && five.figures.missed < 12 * second);
  CHECK(twelve.figures.missed > 37 * second && twelve.figures.missed < 42 * second);
}

// A reader that takes its sound again within a second is no slow reader, and one that does not, is.
void OnlyAReaderThatStaysAwayAfterAStallIsSlow() {
  for (const int64_t stall_ms : {2000, 5000, 12'000}) {
    const Outcome late = After(stall_ms);
    CHECK_EQ(late.error, "LISTENER_SLOW");
    CHECK_EQ(late.of_one.size(), PlaceOf(kEndNs));
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(listening_thread) {
  using namespace parley::test;
  return Run(
      {{"a thread in time loses nothing", AThreadInTimeLosesNothing},
       {"a stall of up to 2 s loses no sound", AShortStallLosesNoSound},
       {"a longer stall becomes silence of its length", ALongStallBecomesSilenceOfItsLength},
       {"moments that were left out are counted", MomentsThatWereLeftOutAreCounted},
       {"only a reader that stays away after a stall is slow", OnlyAReaderThatStaysAwayAfterAStallIsSlow}});
}
