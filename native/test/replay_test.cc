// Checks that frames which a dead path swallowed are sent once more: each of them once, in order, before what
// waits, and with exact counts for the one who interrupts.
#include <cstring>
#include <string>
#include <vector>

#include "media/plane.h"
#include "test/check.h"
#include "test/hammered_stream.h"

namespace parley::test {
namespace {

constexpr uint32_t kTicks = 80;
constexpr int64_t kFrame = 10 * kNsPerMs;

StreamConfig Config() {
  StreamConfig config;
  config.ssrc = 1;
  config.ticks_per_frame = kTicks;
  config.period_ns = kFrame;
  config.cname = "replay-test";
  return config;
}

struct Packet {
  uint32_t timestamp;
  std::string payload;
};

// A stream on a clock that stands still between calls. Its ticks come at 0 ms, 10 ms and so on. Nothing is
// sent in pauses.
class Rig {
 public:
  Rig() {
    stream->set_handle(1);
    CHECK(plane->Begin(stream.get()));
    Connect(true);
  }

  void Connect(bool on) { stream->SetTarget(on ? plane->CaptureTarget() : nullptr); }

  void Say(uint32_t track, const std::string& frames) {
    for (const char frame : frames) {
      const auto byte = static_cast<uint8_t>(frame);
      CHECK(stream->queue().Push(stream->queue().generation(), track, &byte, 1) == PushResult::kTaken);
    }
  }
  void End(uint32_t track) {
    CHECK(stream->queue().Mark(stream->queue().generation(), track, 9, true) == PushResult::kTaken);
  }

  std::vector<Packet> Packets(int ticks) {
    now_ns_ += ticks * kFrame;
    plane->Advance(now_ns_ - 1);
    std::vector<Packet> packets;
    for (const CapturedPacket& packet : plane->TakePackets()) {
      uint32_t timestamp = 0;
      for (size_t n = 4; n < 8; n++) timestamp = timestamp << 8 | packet.data[n];
      packets.push_back({timestamp, std::string(packet.data.begin() + 12, packet.data.end())});
    }
    return packets;
  }
  std::string Heard(int ticks) {
    std::string text;
    for (const Packet& packet : Packets(ticks)) text += packet.payload;
    return text;
  }

  const std::shared_ptr<MediaPlane> plane = MediaPlane::OpenManual(1, 0, 0);
  const std::shared_ptr<Stream> stream = plane->MakeStream(Config(), nullptr);

 private:
  int64_t now_ns_ = 0;
};

std::string TextOf(const std::vector<TakenEntry>& entries) {
  std::string text;
  for (const TakenEntry& entry : entries) {
    if (entry.kind == EntryKind::kFrame) text.append(entry.payload.begin(), entry.payload.end());
    else text += entry.kind == EntryKind::kRest ? '_' : '|';
  }
  return text;
}

void LostFramesAreSentOnceMoreBeforeTheQueue() {
  Rig rig;
  rig.Say(1, "abcdefghij");
  const std::vector<Packet> before = rig.Packets(6);  // the far end received "abc"
  CHECK_EQ(before.size(), size_t{6});
  rig.Connect(false);
  CHECK_EQ(rig.Heard(5), "");
  CHECK_EQ(rig.stream->Rewind(before[2].timestamp), size_t{3});
  CHECK_EQ(rig.stream->Sent(1), uint64_t{3});
  rig.Connect(true);
  const std::vector<Packet> after = rig.Packets(10);
  std::string text;
  for (size_t n = 0; n < after.size(); n++) {
    text += after[n].payload;
    CHECK_EQ(after[n].timestamp, static_cast<uint32_t>((11 + n) * kTicks));  // the time went on
  }
  CHECK_EQ(text, "defghij");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{10});
}

void AReplayMayBeLostAsWell() {
  Rig rig;
  rig.Say(1, "abcdefghij");
  const uint32_t received = rig.Packets(6)[1].timestamp;  // "ab"
  CHECK_EQ(rig.stream->Rewind(received), size_t{4});
  const std::vector<Packet> again = rig.Packets(3);  // "cde", of which "c" is received
  CHECK_EQ(again[0].payload, "c");
  CHECK_EQ(rig.stream->Rewind(again[0].timestamp), size_t{3});
  CHECK_EQ(rig.stream->Rewind(again[0].timestamp), size_t{3});  // said twice
  const std::vector<Packet> third = rig.Packets(5);             // "def" and "gh", of which "defg" is received
  CHECK_EQ(third[3].payload, "g");
  CHECK_EQ(rig.stream->Rewind(third[3].timestamp), size_t{1});
  CHECK_EQ(rig.Heard(10), "hij");
}

void NothingIsSentAgainThatWasReceived() {
  Rig rig;
  CHECK_EQ(rig.stream->Rewind(0), size_t{0});
  rig.Say(1, "abc");
  const std::vector<Packet> packets = rig.Packets(5);
  CHECK_EQ(rig.stream->Rewind(packets[2].timestamp), size_t{0});
  CHECK_EQ(rig.stream->Rewind(packets[2].timestamp + 100 * kTicks), size_t{0});
  CHECK_EQ(rig.Heard(5), "");
}

void AnInterruptionCountsWhatWasHeard() {
  Rig rig;
  rig.Say(1, "abcdefghij");
  const uint32_t received = rig.Packets(6)[1].timestamp;
  rig.stream->Rewind(received);
  CHECK_EQ(rig.Heard(1), "c");
  const ClearedQueue cleared = rig.stream->Clear();
  CHECK_EQ(cleared.tracks.size(), size_t{1});
  CHECK_EQ(cleared.tracks[0].sent_frames, uint64_t{3});
  CHECK_EQ(cleared.tracks[0].dropped_frames, uint64_t{7});
  CHECK_EQ(rig.Heard(5), "");
  CHECK_EQ(rig.stream->Rewind(received), size_t{0});  // what was interrupted is not said again
  rig.Say(2, "xyz");
  const std::vector<Packet> next = rig.Packets(2);
  CHECK_EQ(rig.stream->Rewind(next[0].timestamp), size_t{1});
  CHECK_EQ(rig.Heard(5), "yz");
}

void MarksBehindAReplayWaitForIt() {
  Rig rig;
  rig.Say(1, "abc");
  const uint32_t received = rig.Packets(3)[0].timestamp;
  rig.Connect(false);
  rig.End(1);
  rig.stream->Rewind(received);
  rig.Connect(true);
  CHECK_EQ(rig.Heard(1), "b");
  CHECK(rig.plane->TakeMarks().empty());
  CHECK_EQ(rig.Heard(1), "c");
  CHECK_EQ(rig.plane->TakeMarks().size(), size_t{1});
  CHECK_EQ(rig.Heard(5), "");
  CHECK_EQ(rig.stream->Stats().underruns, uint64_t{0});
}

void AReplayAfterTheEndOfItsTrackIsNoUnderrun() {
  Rig rig;
  rig.Say(1, "abc");
  rig.End(1);
  const uint32_t received = rig.Packets(5)[0].timestamp;
  CHECK_EQ(rig.stream->Rewind(received), size_t{2});
  CHECK_EQ(rig.Heard(5), "bc");
  CHECK_EQ(rig.stream->Stats().underruns, uint64_t{0});
}

void ATakeHandsOutWhatWasLost() {
  Rig rig;
  rig.Say(1, "abcdefghij");
  const uint32_t received = rig.Packets(6)[2].timestamp;
  rig.stream->Rewind(received);
  CHECK_EQ(rig.Heard(1), "d");
  const TakenQueue taken = rig.stream->Take(2);
  CHECK_EQ(TextOf(taken.sent), "cd");
  CHECK_EQ(TextOf(taken.entries), "ef_ghij");
  CHECK_EQ(taken.cleared.tracks[0].sent_frames, uint64_t{4});
  CHECK_EQ(taken.cleared.tracks[0].dropped_frames, uint64_t{6});
}

void FramesWhosePlacesWereUsedAgainAreGone() {
  Rig rig;
  std::string said;
  for (int n = 0; n < 2000; n++) {
    said += static_cast<char>('a' + n % 26);
    rig.Say(1, said.substr(said.size() - 1));
    rig.Packets(1);
  }
  const size_t again = rig.stream->Rewind(0);
  CHECK(again > 50);
  CHECK(again < 2000);
  CHECK_EQ(rig.Heard(2000), said.substr(said.size() - again));
}

// Rewinding, interrupting and counting from several threads while the clock sends.
void ThreadsMayRewindAtOnce() {
  HammerStream(Config(), {2, 40, 60}, [](Stream& stream, Random& random) {
    const uint64_t dice = random.Next() % 20;
    if (dice == 0) stream.Clear();
    else if (dice == 1) stream.Take(8);
    else if (dice < 8) stream.Rewind(stream.Stats().timestamp - 10 * kTicks);
    else stream.Sent(1);
  });
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(replay) {
  using namespace parley::test;
  return Run({
      {"lost frames are sent once more before the queue", LostFramesAreSentOnceMoreBeforeTheQueue},
      {"a replay may be lost as well", AReplayMayBeLostAsWell},
      {"nothing is sent again that was received", NothingIsSentAgainThatWasReceived},
      {"an interruption counts what was heard", AnInterruptionCountsWhatWasHeard},
      {"marks behind a replay wait for it", MarksBehindAReplayWaitForIt},
      {"a replay after the end of its track is no underrun", AReplayAfterTheEndOfItsTrackIsNoUnderrun},
      {"a take hands out what was lost", ATakeHandsOutWhatWasLost},
      {"frames whose places were used again are gone", FramesWhosePlacesWereUsedAgainAreGone},
      {"threads may rewind at once", ThreadsMayRewindAtOnce},
  });
}
