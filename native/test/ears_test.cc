// Listeners of calls: rings, windows and the thread that fills them. The clock is the test's, except where
// threads meet.
#include "media/hear/ears.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "media/random.h"
#include "test/check.h"
#include "test/heard_call.h"
#include "test/loopback.h"

namespace parley::test {
namespace {

constexpr size_t kClosest = 80;  // samples: 5 ms

// 1 ms of it, at its beginning.
Payload ClickFrame(uint8_t quiet = 0xff) {
  Payload frame(kFrameBytes, quiet);
  for (size_t n = 0; n < 8; n++) frame[n] = n % 2 ? 0x80 : 0x00;
  return frame;
}

Sound Channel(const Sound& interleaved, size_t channel) {
  Sound sound;
  for (size_t n = channel; n < interleaved.size(); n += 2) sound.push_back(interleaved[n]);
  return sound;
}

// Returns the first sample of each sound above 0.2 that follows 100 ms below it.
std::vector<size_t> Clicks(const Sound& sound) {
  std::vector<size_t> clicks;
  size_t quiet_from = 0;
  for (size_t n = 0; n < sound.size(); n++) {
    if (std::abs(sound[n]) < 0.2) continue;
    if (clicks.empty() || n > quiet_from + 1600) clicks.push_back(n);
    quiet_from = n;
  }
  return clicks;
}

void CheckAligned(const Sound& caller, const Sound& ours, size_t count) {
  const std::vector<size_t> theirs = Clicks(caller), own = Clicks(ours);
  CHECK_EQ(theirs.size(), count);
  CHECK_EQ(own.size(), count);
  for (size_t n = 0; n < std::min(theirs.size(), own.size()); n++) {
    const size_t apart = theirs[n] > own[n] ? theirs[n] - own[n] : own[n] - theirs[n];
    CHECK(apart <= kClosest);
    if (apart > kClosest) CHECK_EQ(theirs[n], own[n]);
  }
}

// The far end says these frames of the voice, each at its time.
void Talk(Call& call, const Payload& voice, size_t from, size_t to) {
  for (size_t n = from; n < to; n++) {
    call.Say(FrameOf(voice, n));
    call.plane->Advance(static_cast<int64_t>(n + 1) * kFrameNs);
  }
}

void AMinuteOfPacketsIsAMinuteOfSamples() {
  const auto plane = Manual();
  Call call(plane, 1);
  const auto ring = OpenRing(call, 1);
  const Payload voice = Encoded(Voice(8000, 8000));
  Talk(call, voice, 0, 3000);
  const Sound heard = ReadAll(*ring);
  CHECK_EQ(heard.size(), size_t{60} * CallerSound::kRate);
  CHECK_EQ(heard.size() % CallerSound::kQuantum, size_t{0});
  CHECK_EQ(call.figures().concealed, uint64_t{0});
  CHECK_EQ(call.figures().discarded, uint64_t{0});
  CHECK(Energy(heard.data() + 16'000, 16'000) > 16'000 * 0.001);
  CHECK(Energy(heard.data() + 59 * 16'000, 16'000) > 16'000 * 0.001);
}

// A click in both directions each 2 s. `lateness_ms`: most that other packets of the far end are late.
// `quiet`: the sample of our side between the clicks, in mu-law.
void RunClicks(int lateness_ms, size_t from, size_t seconds, uint8_t quiet = 0xff) {
  const auto plane = Manual();
  Call call(plane, 1);
  call.OpenStream(VoiceCodec::kPcmu);
  const auto ring = OpenRing(call, 2);
  const auto ears = std::make_shared<Ears>();
  CHECK(call.socket->JoinEars(ears));
  Sound callers, ours;  // as the windows have them
  Random random(7);
  size_t clicks = 0;
  std::vector<std::pair<int64_t, std::pair<size_t, bool>>> arrivals;
  for (size_t n = 0; n < seconds * 50; n++) {
    const bool is_click = n >= from && n % 100 == 50;
    clicks += is_click;
    // Late packets never overtake.
    const auto late = is_click || lateness_ms == 0 ? 0 : static_cast<int64_t>(random.Next()) % lateness_ms;
    const int64_t at_ns = static_cast<int64_t>(n) * kFrameNs + std::abs(late) * kNsPerMs;
    arrivals.push_back({at_ns, {n, is_click}});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const auto& one, const auto& other) { return one.first < other.first; });
  size_t next = 0;
  const uint16_t first_sequence = call.sequence;
  const uint32_t first_timestamp = call.timestamp;
  for (int64_t now_ns = 0; now_ns < static_cast<int64_t>(seconds) * kNsPerSecond; now_ns += kNsPerMs) {
    if (now_ns % kFrameNs == 0) {
      const size_t n = static_cast<size_t>(now_ns / kFrameNs);
      call.Push(n >= from && n % 100 == 50 ? ClickFrame(quiet) : Payload(kFrameBytes, quiet));
    }
    for (; next < arrivals.size() && arrivals[next].first <= now_ns; next++) {
      const auto [n, is_click] = arrivals[next].second;
      call.Feed(static_cast<uint16_t>(first_sequence + n),
                first_timestamp + static_cast<uint32_t>(n * kFrameBytes), kPcmuType,
                is_click ? ClickFrame() : SilentFrame());
    }
    plane->Advance(now_ns + kNsPerMs - 1);
    for (Ears::Row row; ears->Take(&row);) {
      const auto middle = row.window.samples.begin() + EarWindow::kSamples;
      callers.insert(callers.end(), row.window.samples.begin(), middle);
      ours.insert(ours.end(), middle, row.window.samples.end());
    }
  }
  const Sound heard = ReadAll(*ring);
  CheckAligned(Channel(heard, 0), Channel(heard, 1), clicks);
  CheckAligned(callers, ours, clicks);
}

void AClickOnBothSidesIsAtOnePlace() { RunClicks(0, 50, 12); }

void TheSidesStayTogetherWhenTheDelayChanges() { RunClicks(60, 400, 30); }

// Our side never pauses, so that a change of the delay finds no pause to wait for.
void TheSidesStayTogetherWhileOursSounds() { RunClicks(60, 400, 30, 0xfe); }

void OursFollowsTheStreamOfTheSocket() {
  const auto plane = Manual();
  Call call(plane, 1);
  call.OpenStream(VoiceCodec::kPcmu);
  const auto ring = OpenRing(call, 2);
  call.Push(ClickFrame());
  plane->Advance(500 * kNsPerMs);
  const auto former = call.stream;
  plane->CloseStream(call.stream.get());
  call.OpenStream(VoiceCodec::kPcma);
  Payload click = Payload(kFrameBytes, 0xd5);  // silence of A-law
  for (size_t n = 0; n < 8; n++) click[n] = n % 2 ? 0x2a : 0xaa;
  call.Push(click);
  plane->Advance(1000 * kNsPerMs);
  call.OpenStream(std::nullopt);  // its codec is not known: nothing is heard
  call.Push(click);
  plane->Advance(1500 * kNsPerMs);
  CHECK_EQ(Clicks(Channel(ReadAll(*ring), 1)).size(), size_t{2});
}

void RedundancyFillsLosses() {
  const auto plane = Manual();
  Call whole(plane, 1), lossy(plane, 2), bare(plane, 3);
  const auto of_whole = OpenRing(whole, 1), of_lossy = OpenRing(lossy, 1), of_bare = OpenRing(bare, 1);
  const Payload voice = Encoded(Voice(8000, 16'000));
  size_t lost = 0;
  for (size_t n = 0; n < 500; n++) {
    const Payload red = Redundant(FrameOf(voice, n + 99), FrameOf(voice, n));
    const bool is_lost = n > 50 && n % 10 == 0;
    lost += is_lost;
    whole.Say(red, kRedType);
    is_lost ? lossy.Lose() : lossy.Say(red, kRedType);
    is_lost ? bare.Lose() : bare.Say(FrameOf(voice, n));
    plane->Advance(static_cast<int64_t>(n + 1) * kFrameNs);
  }
  CHECK_EQ(whole.figures().recovered, uint64_t{0});
  CHECK(bare.figures().concealed >= lost * 300);
  // The delay grows once, because the copies come a frame later.
  CHECK(lossy.figures().recovered >= lost * 320 * 9 / 10);
  CHECK(lossy.figures().concealed < lost * 320 / 10);
  CHECK_EQ(ReadAll(*of_lossy).size(), ReadAll(*of_whole).size());
  CHECK(!ReadAll(*of_bare).empty());
}

void WindowsOfAllCallsEndTogether() {
  const auto plane = Manual();
  Call talking(plane, 11), silent(plane, 12);
  const auto ears = std::make_shared<Ears>();
  const Payload voice = Encoded(Voice(8000, 8000));
  CHECK(talking.socket->JoinEars(ears));
  CHECK(talking.socket->JoinEars(ears));  // once more changes nothing
  CHECK(!talking.socket->JoinEars(std::make_shared<Ears>()));
  Ears::Row row;
  std::vector<Ears::Row> rows;
  for (size_t n = 0; n < 50; n++) {
    talking.Say(FrameOf(voice, n));
    if (n == 5) CHECK(silent.socket->JoinEars(ears));  // at 100 ms, in the middle of a window
    for (int64_t ms = 0; ms < 20; ms++) {
      plane->Advance(static_cast<int64_t>(n) * kFrameNs + ms * kNsPerMs);
      while (ears->Take(&row)) rows.push_back(row);
    }
  }
  for (const Ears::Row& one : rows) {
    CHECK_EQ(one.window.end_ns % (2 * kQuantumNs), 0);
    CHECK_EQ(one.dropped, uint64_t{0});
  }
  const auto of = [&](uint64_t socket) {
    return std::count_if(rows.begin(), rows.end(), [=](const auto& one) { return one.socket == socket; });
  };
  CHECK_EQ(of(11), ptrdiff_t{30});  // from 32 ms to 992 ms
  CHECK_EQ(of(12), ptrdiff_t{27});  // from 128 ms on
  // Rows of one moment follow each other.
  for (size_t n = 1; n < rows.size(); n++) CHECK(rows[n].window.end_ns >= rows[n - 1].window.end_ns);
  const Ears::Row &last = rows.back(), &before = rows[rows.size() - 2];
  CHECK_EQ(last.window.end_ns, before.window.end_ns);
  const bool in_order = before.socket == 11;
  CHECK((in_order ? before : last).window.caller_db > -40);
  CHECK_EQ((in_order ? last : before).window.caller_db, EarWindow::kSilentDb);
  CHECK_EQ((in_order ? last : before).window.ours_db, EarWindow::kSilentDb);
  ears->Close();
  CHECK_EQ(plane->ListeningCount(), size_t{0});
  CHECK(!silent.socket->JoinEars(ears));
  CHECK_EQ(plane->ListeningCount(), size_t{0});
}

void AtMostEightWindowsWaitForACall() {
  const auto plane = Manual();
  Call call(plane, 1);
  const auto ears = std::make_shared<Ears>();
  CHECK(call.socket->JoinEars(ears));
  plane->Advance(21 * 2 * kQuantumNs);
  Ears::Row row;
  std::vector<uint64_t> dropped;
  while (ears->Take(&row)) dropped.push_back(row.dropped);
  CHECK_EQ(dropped.size(), EarSeat::kMost);
  CHECK_EQ(dropped[0], uint64_t{12});
  CHECK_EQ(dropped[1], uint64_t{0});
  plane->Advance(22 * 2 * kQuantumNs);
  CHECK(ears->Take(&row));
  CHECK_EQ(row.dropped, uint64_t{0});
}

class Sink : public ReadySink {
 public:
  int wakes = 0;

 protected:
  void Wake() override { wakes++; }
};

void AWatcherHearsOncePerBatch() {
  const auto plane = Manual();
  Call one(plane, 1), other(plane, 2);
  const auto ears = std::make_shared<Ears>();
  const auto sink = std::make_shared<Sink>();
  CHECK(one.socket->JoinEars(ears) && other.socket->JoinEars(ears));
  CHECK(!ears->Watch(sink, 5));
  plane->Advance(3 * 2 * kQuantumNs);
  CHECK_EQ(sink->wakes, 1);
  const std::vector<uint64_t> handles = sink->Take();
  CHECK(handles.size() == 1 && handles[0] == 5);
  CHECK(ears->Watch(sink, 5));
  for (Ears::Row row; ears->Take(&row);) {
  }
  CHECK(!ears->Watch(sink, 5));
  plane->Advance(4 * 2 * kQuantumNs);
  CHECK_EQ(sink->wakes, 2);
}

void NothingIsDecodedWhenNobodyListens() {
  const auto plane = Manual();
  Call call(plane, 1);
  call.OpenStream(VoiceCodec::kPcmu);
  const Payload voice = Encoded(Voice(8000, 8000));
  Talk(call, voice, 0, 50);
  CHECK(!call.socket->Hearing().has_value());
  CHECK_EQ(plane->ListeningCount(), size_t{0});
  const auto ring = OpenRing(call, 2);
  const auto ears = std::make_shared<Ears>();
  CHECK(call.socket->JoinEars(ears));
  CHECK_EQ(plane->ListeningCount(), size_t{1});
  Talk(call, voice, 50, 100);
  call.socket->CloseEar(ring.get());
  CHECK(ring->GetStatus().ended && ring->GetStatus().error.empty());
  CHECK_EQ(plane->ListeningCount(), size_t{1});
  call.socket->LeaveEars(ears.get());
  CHECK_EQ(plane->ListeningCount(), size_t{0});
  const uint64_t samples = call.figures().samples;
  CHECK(samples > 0);
  const Sound heard = ReadAll(*ring);
  CHECK(heard.size() >= 2 * 15'000 && heard.size() <= 2 * 16'256);
  Talk(call, voice, 100, 150);
  CHECK_EQ(call.figures().samples, samples);
  CHECK(ReadAll(*ring).empty());
  OpenRing(call, 1);
  plane->CloseSocket(call.socket.get());
  CHECK_EQ(plane->ListeningCount(), size_t{0});
}

void ASlowReaderIsLeftAndTheOthersHearOn() {
  const auto plane = Manual();
  Call call(plane, 1);
  const auto slow = OpenRing(call, 2, 1), gone = OpenRing(call, 1), ring = OpenRing(call, 1);
  plane->Advance(500 * kNsPerMs);
  gone->Abort();
  plane->Advance(1500 * kNsPerMs);
  CHECK(slow->GetStatus().ended);
  CHECK_EQ(slow->GetStatus().error, "LISTENER_SLOW");
  CHECK_EQ(ReadAll(*slow).size(), 2 * CallerSound::kQuantum * 62);
  CHECK_EQ(ReadAll(*ring).size(), CallerSound::kQuantum * 93);
  CHECK_EQ(plane->ListeningCount(), size_t{1});
  ring->Abort();
  plane->Advance(1520 * kNsPerMs);
  CHECK_EQ(plane->ListeningCount(), size_t{0});
  for (size_t n = 0; n < ListeningCall::kMostRings; n++) OpenRing(call, 1);
  CHECK(!call.socket->OpenEar(std::make_shared<ByteRing>(1 << 16), EarSound::kCaller));
}

void AnotherSourceRestartsTheSound() {
  const auto plane = Manual();
  Call call(plane, 1);
  const auto ring = OpenRing(call, 1);
  const Payload voice = Encoded(Voice(8000, 8000));
  Talk(call, voice, 0, 100);
  call.ssrc++;
  call.sequence = 7;
  call.timestamp = 1'000'000;
  Talk(call, voice, 100, 200);
  CHECK_EQ(ReadAll(*ring).size(), size_t{4} * CallerSound::kRate);
  CHECK_EQ(call.figures().restarts, uint64_t{1});
  CHECK(call.figures().concealed <= 960);
}

// Calls, ears and rings come and go while the thread listens and packets arrive.
void ListenersMayComeAndGoAtAnyTime() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto shared = std::make_shared<Ears>();
  std::atomic<uint64_t> next_handle{1};
  HammerForASecond([&](uint64_t seed, const std::atomic<bool>& running) {
    Random random(seed);
    Ears::Row row;
    while (running.load()) {
      Call call(plane, next_handle++);
      call.OpenStream(VoiceCodec::kPcmu);
      const auto own = std::make_shared<Ears>();
      std::vector<std::shared_ptr<ByteRing>> rings;
      for (int step = 0; step < 60; step++) {
        call.Say(SilentFrame());
        if (step % 8 == 0) call.stream->queue().Push(0, 1, SilentFrame().data(), kFrameBytes);
        switch (random.Next() % 6) {
          case 0:
            call.socket->JoinEars(random.Next() % 2 ? shared : own);
            break;
          case 1:
            call.socket->LeaveEars(random.Next() % 2 ? shared.get() : own.get());
            break;
          case 2:
            rings.push_back(std::make_shared<ByteRing>(size_t{1} << 13));
            call.socket->OpenEar(rings.back(), static_cast<EarSound>(random.Next() % 3));
            break;
          case 3:
            if (!rings.empty()) call.socket->CloseEar(rings[random.Next() % rings.size()].get());
            break;
          case 4:
            if (seed == 1) shared->Take(&row);
            call.socket->Hearing();
            break;
          default:
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
      }
      if (random.Next() % 2) own->Close();
      plane->CloseStream(call.stream.get());
      plane->CloseSocket(call.socket.get());
    }
  });
  CHECK_EQ(plane->ListeningCount(), size_t{0});
  shared->Close();
  plane->Close();
}

// On the machine's clock: a call is heard in time, and the plane may close in the middle.
void TheThreadHearsAtTheRightRate() {
  const auto plane = MediaPlane::OpenReal(1);
  Call call(plane, 1);
  const auto ring = OpenRing(call, 1);
  const int64_t begin_ns = MonotonicNs();
  const size_t wanted = CallerSound::kRate / 2;
  while (ring->GetStatus().readable < wanted * sizeof(float) && MonotonicNs() < begin_ns + 10 * kNsPerSecond)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto heard = static_cast<int64_t>(ring->GetStatus().readable / sizeof(float));
  const int64_t passed_ns = MonotonicNs() - begin_ns;
  // Never ahead of the clock by more than the first quantum.
  CHECK(heard <= passed_ns * CallerSound::kRate / kNsPerSecond + int64_t{CallerSound::kQuantum});
  CHECK(heard >= static_cast<int64_t>(wanted));
  plane->Close();
  CHECK(ring->GetStatus().ended && ring->GetStatus().error.empty());
}

}  // namespace

TEST_GROUP(ears) {
  return Run({{"a minute of packets is a minute of samples", AMinuteOfPacketsIsAMinuteOfSamples},
              {"a click on both sides is at one place", AClickOnBothSidesIsAtOnePlace},
              {"the sides stay together when the delay changes", TheSidesStayTogetherWhenTheDelayChanges},
              {"the sides stay together while ours sounds", TheSidesStayTogetherWhileOursSounds},
              {"ours follows the stream of the socket", OursFollowsTheStreamOfTheSocket},
              {"redundancy fills losses", RedundancyFillsLosses},
              {"windows of all calls end together", WindowsOfAllCallsEndTogether},
              {"at most eight windows wait for a call", AtMostEightWindowsWaitForACall},
              {"a watcher hears once per batch", AWatcherHearsOncePerBatch},
              {"nothing is decoded when nobody listens", NothingIsDecodedWhenNobodyListens},
              {"a slow reader is left and the others hear on", ASlowReaderIsLeftAndTheOthersHearOn},
              {"another source restarts the sound", AnotherSourceRestartsTheSound},
              {"listeners may come and go at any time", ListenersMayComeAndGoAtAnyTime},
              {"the thread hears at the right rate", TheThreadHearsAtTheRightRate}});
}

}  // namespace parley::test
