// Packets on their way from the intake of a call to its inbox: their numbers, and the copies of RED.
#include "media/hear/inbox.h"

#include <string>

#include "media/receive/intake.h"
#include "test/check.h"
#include "test/heard_call.h"

namespace parley::test {
namespace {

struct IgnoringObserver : IntakeListener {
  void OnKeyDown(uint8_t, int64_t) override {}
  void OnDigit(const Digit&) override {}
  void OnTarget(const Address&, const Address&) override {}
  void OnBye() override {}
  void OnReception(const ReceptionState&) override {}
  void OnForeign(const uint8_t*, size_t, const Address&, bool) override {}
};

// An intake that is fed by hand, and its inbox.
struct Rig {
  TimeSource time{0, 0};
  IgnoringObserver observer;
  Inbox inbox;
  Intake intake{&time, &observer, true};
  int64_t now_ns = 0;

  Rig() {
    intake.SetPayloadTypes(Types());
    intake.Learn(Far(), Address(), true);
    intake.Listen(&inbox);
  }

  void Take(uint16_t sequence, uint32_t timestamp, uint8_t type, const Payload& payload) {
    std::vector<uint8_t> packet(kRtpHeaderBytes + payload.size());
    WriteRtpHeader(packet.data(), {false, type, sequence, timestamp, kFarSsrc});
    std::copy(payload.begin(), payload.end(), packet.begin() + kRtpHeaderBytes);
    intake.Take(packet.data(), packet.size(), Far(), false, now_ns += kFrameNs);
  }

  // The packets since the last time: kind, and their numbers since the first packet of all.
  std::string Text() {
    std::string text;
    HeardPacket packet;
    for (uint32_t source = 0; inbox.Front(&packet, &source); inbox.Pop()) {
      if (first_.sequence == 0) first_ = packet;
      text += packet.redundant ? "+" : "";
      text += "snk"[packet.kind];
      text += std::to_string(packet.sequence - first_.sequence) + "@" +
              std::to_string(static_cast<int64_t>(packet.timestamp - first_.timestamp)) + "/" +
              std::to_string(packet.bytes) + " ";
    }
    return text;
  }

 private:
  HeardPacket first_;
};

void PacketsCarryExtendedNumbersIntoTheInbox() {
  Rig rig;
  const Payload sound(4);
  rig.Take(65'533, 0xffff'fe00, kPcmuType, sound);  // on probation
  rig.Take(65'534, 0xffff'fea0, kPcmuType, sound);
  rig.Take(65'535, 0xffff'ff40, kPcmaType, sound);
  rig.Take(1, 0x80, kPcmuType, sound);
  rig.Take(0, 0xffff'ffe0, kPcmuType, sound);  // overtaken
  rig.Take(0, 0xffff'ffe0, kPcmuType, sound);  // repeated
  rig.Take(2, 0x80, kEventType, {1, 10, 0, 160});
  rig.Take(3, 0x80, kNoiseType, {50});
  CHECK_EQ(rig.Text(), "s0@0/4 s1@160/4 s3@480/4 s2@320/4 k4@480/0 n5@480/1 ");
  rig.intake.Listen(nullptr);
  rig.Take(4, 0x120, kPcmuType, sound);
  CHECK_EQ(rig.Text(), "");
}

void RedundantBlocksStandForLostPackets() {
  Rig rig;
  const Payload one(160, 1), two(160, 2);
  rig.Take(10, 1600, kPcmuType, one);
  rig.Take(11, 1760, kRedType, Redundant(one, two));
  CHECK_EQ(rig.Text(), "s0@0/160 ");
  rig.Take(13, 2080, kRedType, Redundant(one, two));
  CHECK_EQ(rig.Text(), "+s1@160/160 s2@320/160 ");
  rig.Take(12, 1920, kPcmuType, one);  // late: the buffer has it already
  CHECK_EQ(rig.Text(), "s1@160/160 ");
  Payload inner = Redundant(one, two);
  inner[4] = kRedType;
  rig.Take(14, 2240, kRedType, inner);  // RED inside of RED
  CHECK_EQ(rig.Text(), "");
  CHECK_EQ(rig.intake.Stats().unknown_payloads, uint64_t{1});
}

void AFullInboxDropsAndCounts() {
  Rig rig;
  const Payload sound(1000);
  for (uint16_t n = 0; n < 101; n++) rig.Take(n, n * 160U, kPcmuType, sound);
  const uint64_t dropped = rig.inbox.dropped();
  CHECK(dropped >= 65 && dropped <= 72);
  size_t kept = 0;
  HeardPacket packet;
  for (uint32_t source = 0; rig.inbox.Front(&packet, &source); rig.inbox.Pop()) kept++;
  CHECK_EQ(kept + dropped, uint64_t{100});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(inbox) {
  using namespace parley::test;
  return Run({{"packets carry extended numbers into the inbox", PacketsCarryExtendedNumbersIntoTheInbox},
              {"redundant blocks stand for lost packets", RedundantBlocksStandForLostPackets},
              {"a full inbox drops and counts", AFullInboxDropsAndCounts}});
}
