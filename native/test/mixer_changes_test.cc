// Members come, leave and change their streams between two steps of a bridge that takes whole frames. The
// tests begin each change at different times within a frame, because the quanta that are owed differ there.
#include "media/random.h"
#include "test/mixer_rig.h"

namespace parley::test {
namespace {

constexpr int kWide = 16'000;
constexpr double kHz[] = {500, 900, 1300, 1700};
constexpr double kLevel = 0.2, kHeard = 0.18, kNotHeard = 0.001;

// Returns a minute of the tone kHz[n].
Sound ToneOf(size_t n) { return Tone(kHz[n], kLevel, kWide, size_t{60} * kWide); }

// Amplitude of a tone in the last 200 ms of what was heard.
double LastLevel(const MixedCall& call, double hz) {
  constexpr size_t kCount = kWide / 5;
  const float* const last = &call.hears[call.hears.size() - kCount];
  double cosine = 0, sine = 0;
  for (size_t n = 0; n < kCount; n++) {
    const double angle = kTwoPi * hz * static_cast<double>(n) / kWide;
    cosine += last[n] * std::cos(angle);
    sine += last[n] * std::sin(angle);
  }
  return 2 * std::sqrt(cosine * cosine + sine * sine) / double{kCount};
}

MemberChange Muted() {
  MemberChange change;
  change.muted = true;
  return change;
}

// A bridge that has taken whole frames for 400 ms and `offset_ms`. The rig's calls say kHz in their order.
struct Bridge {
  explicit Bridge(int64_t offset_ms)
      : one(rig.Add(kL16Member, ToneOf(0))), other(rig.Add(kL16Member, ToneOf(1))) {
    rig.RunMs(400 + offset_ms);
  }

  // Mutes a member, and waits until its gain has reached 0 and the bridge takes its frames again.
  void Mute(const MixedCall& call) {
    rig.mixer->ChangeMember(call.id, Muted());
    rig.RunMs(100);
  }
  double DelayOf(const MixedCall& call) const { return rig.mixer->StatsOf(call.id)->hearing.delay_ms; }

  MixerRig rig;
  MixedCall &one, &other;
};

void CheckTheyHearEachOther(const MixedCall& one, double one_hz, const MixedCall& other, double other_hz) {
  CHECK(LastLevel(one, other_hz) > kHeard);
  CHECK(LastLevel(other, one_hz) > kHeard);
  CHECK(LastLevel(one, one_hz) < kNotHeard && LastLevel(other, other_hz) < kNotHeard);
}

// Every third millisecond of a frame.
void AtEachOffset(const std::function<void(int64_t)>& work) {
  for (int64_t offset_ms = 0; offset_ms < 20; offset_ms += 3) work(offset_ms);
}

// Its gain is 0 already, so that it is freed at once.
void AMutedMemberLeavesABridge() {
  AtEachOffset([](int64_t offset_ms) {
    for (const bool is_first : {true, false}) {
      Bridge bridge(offset_ms);
      MixedCall &leaves = is_first ? bridge.one : bridge.other, &stays = is_first ? bridge.other : bridge.one;
      bridge.Mute(leaves);
      bridge.rig.Leave(leaves);
      bridge.rig.RunMs(400);
      CHECK_EQ(bridge.rig.mixer->size(), size_t{1});
      MixedCall& next = bridge.rig.Add(kL16Member, ToneOf(2));
      bridge.rig.RunMs(400);
      CheckTheyHearEachOther(stays, kHz[is_first ? 1 : 0], next, kHz[2]);
    }
  });
}

// The bridge ends with no muted member, with one, and with two.
void BothMembersLeaveABridge() {
  AtEachOffset([](int64_t offset_ms) {
    for (const size_t muted : {0, 1, 2}) {
      Bridge bridge(offset_ms);
      MixerRig& rig = bridge.rig;
      for (size_t n = 0; n < muted; n++) bridge.Mute(*rig.calls[n]);
      rig.Leave(bridge.one);
      rig.Leave(bridge.other);
      rig.RunMs(400);
      CHECK_EQ(rig.mixer->size(), size_t{0});
      MixedCall &third = rig.Add(kL16Member, ToneOf(2)), &fourth = rig.Add(kL16Member, ToneOf(3));
      rig.RunMs(400);
      CheckTheyHearEachOther(third, kHz[2], fourth, kHz[3]);
    }
  });
}

// A member leaves, and others join before the next step: one, two, or one and another that leaves at once.
void AMemberOfABridgeIsReplaced() {
  AtEachOffset([](int64_t offset_ms) {
    for (const bool is_muted : {true, false}) {
      for (const size_t more : {0, 1, 2}) {
        Bridge bridge(offset_ms);
        MixerRig& rig = bridge.rig;
        if (is_muted) bridge.Mute(bridge.one);
        const double delay_ms = bridge.DelayOf(bridge.other);
        const size_t before = bridge.other.hears.size();
        rig.Leave(bridge.one);
        MixedCall& next = rig.Add(kL16Member, ToneOf(2));
        if (more == 1) rig.Add(kL16Member);
        if (more == 2) rig.Leave(rig.Add(kL16Member, {}, Muted()));
        // The quanta of this frame that the leaving member did not hear are taken, so that the delay stays.
        rig.RunMs(20);
        CHECK(std::abs(bridge.DelayOf(bridge.other) - delay_ms) < 2);
        rig.RunMs(680);
        CheckTheyHearEachOther(bridge.other, kHz[1], next, kHz[2]);
        CHECK(LastLevel(bridge.other, kHz[0]) < kNotHeard);
        const Sound& heard = bridge.other.hears;
        CHECK(BiggestStep(heard, before, heard.size()) < 0.15F);
        CHECK_EQ(rig.mixer->size(), more == 1 ? size_t{3} : size_t{2});
      }
    }
  });
}

// The frame length changes, one side has no stream for a while, and one changes as the other member leaves.
void StreamsOfABridgeChange() {
  AtEachOffset([](int64_t offset_ms) {
    for (const int64_t period_ms : {10, 30}) {
      Bridge bridge(offset_ms);
      MixerRig& rig = bridge.rig;
      const auto follow = [&](MixedCall& call, uint64_t handle) {
        call.socket->Bind(call.OpenStream(kL16Member, period_ms * kNsPerMs, handle + call.socket->handle()));
      };
      follow(bridge.one, 2000);
      rig.RunMs(400);
      CheckTheyHearEachOther(bridge.one, kHz[0], bridge.other, kHz[1]);
      follow(bridge.one, 3000);
      follow(bridge.other, 3000);
      rig.RunMs(400);
      CheckTheyHearEachOther(bridge.one, kHz[0], bridge.other, kHz[1]);
      bridge.one.socket->Bind(nullptr);
      rig.RunMs(300);
      CHECK(LastLevel(bridge.one, kHz[1]) < kNotHeard && LastLevel(bridge.other, kHz[0]) > kHeard);
      follow(bridge.one, 4000);
      rig.RunMs(400);
      CheckTheyHearEachOther(bridge.one, kHz[0], bridge.other, kHz[1]);
      bridge.Mute(bridge.other);
      follow(bridge.one, 5000);
      rig.Leave(bridge.other);
      MixedCall& next = rig.Add(kL16Member, ToneOf(2));
      rig.RunMs(400);
      CheckTheyHearEachOther(bridge.one, kHz[0], next, kHz[2]);
    }
  });
}

// Changes of all kinds, several between two steps, with pauses in which a pair becomes a plain bridge.
class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed) {
    for (size_t n = 0; n < 3; n++) rig_.Open(kL16Member, ToneOf(n));
  }

  void Run() {
    for (int round = 0; round < 30; round++) {
      const int changes = 1 + static_cast<int>(3 * random_.Unit());
      for (int n = 0; n < changes; n++) Change(*rig_.calls[Below(rig_.calls.size())]);
      const bool is_long = random_.Unit() < 0.4;
      rig_.RunMs(is_long ? 1100 + static_cast<int64_t>(Below(20)) : static_cast<int64_t>(Below(30)));
    }
    // Two members hear each other at last, whatever happened before.
    rig_.mixer->RemoveSource(source_);
    rig_.mixer->RemoveSink(sink_.get());
    for (size_t n = 0; n < rig_.calls.size(); n++) Be(*rig_.calls[n], n < 2);
    for (size_t n = 0; n < 2; n++) {
      MemberChange change;
      change.muted = false, change.deaf = false, change.gain = 1.0F;
      rig_.mixer->ChangeMember(rig_.calls[n]->id, change);
      rig_.mixer->Hears(rig_.calls[n]->id, rig_.calls[1 - n]->id, true);
    }
    rig_.RunMs(2000);
    CHECK_EQ(rig_.mixer->size(), size_t{2});
    CheckTheyHearEachOther(*rig_.calls[0], kHz[0], *rig_.calls[1], kHz[1]);
    for (size_t n = 0; n < 2; n++) {
      const MixerMemberStats stats = *rig_.mixer->StatsOf(rig_.calls[n]->id);
      CHECK(stats.hearing.delay_ms < 50 && stats.speaking);
    }
  }

 private:
  size_t Below(size_t count) { return static_cast<size_t>(random_.Unit() * static_cast<double>(count)); }

  void Be(MixedCall& call, bool is_member) {
    if ((call.id != 0) == is_member) return;
    if (is_member) {
      call.leg = std::make_shared<JoinedLeg>();
      rig_.Join(call);
      return;
    }
    rig_.Leave(call);
    call.id = 0;
  }

  void Change(MixedCall& call) {
    const double kind = random_.Unit();
    if (kind < 0.4) {
      Be(call, call.id == 0);
    } else if (kind < 0.7) {
      MemberChange change;
      change.muted = random_.Unit() < 0.6, change.deaf = random_.Unit() < 0.1;
      rig_.mixer->ChangeMember(call.id, change);
    } else if (kind < 0.8) {
      const MixedCall& other = *rig_.calls[Below(rig_.calls.size())];
      if (&other != &call) rig_.mixer->Hears(call.id, other.id, random_.Unit() < 0.7);
    } else if (kind < 0.9) {
      const auto period_ns = static_cast<int64_t>(1 + Below(3)) * 10 * kNsPerMs;
      call.socket->Bind(call.OpenStream(kL16Member, period_ns, ++streams_ * 1000 + call.socket->handle()));
    } else if (source_ != 0) {
      rig_.mixer->RemoveSource(std::exchange(source_, 0));
    } else if (random_.Unit() < 0.5) {
      source_ = rig_.mixer->AddSource(std::make_shared<ByteRing>(64'000), {}, 1);
    } else if (sink_) {
      rig_.mixer->RemoveSink(std::exchange(sink_, nullptr).get());
    } else {
      sink_ = std::make_shared<ByteRing>(size_t{1} << 20);
      CHECK(rig_.mixer->AddSink(sink_, rig_.plane->time().Now()));
    }
  }

  MixerRig rig_;
  Random random_;
  uint64_t streams_ = 1;
  uint32_t source_ = 0;
  std::shared_ptr<ByteRing> sink_;
};

void AnyChangesLeaveABridgeThatIsHeard() {
  for (uint64_t seed = 1; seed <= 12; seed++) Walk(seed).Run();
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(mixer_changes) {
  using namespace parley::test;
  return Run({{"a muted member leaves a bridge", AMutedMemberLeavesABridge},
              {"both members leave a bridge", BothMembersLeaveABridge},
              {"a member of a bridge is replaced", AMemberOfABridgeIsReplaced},
              {"streams of a bridge change", StreamsOfABridgeChange},
              {"any changes leave a bridge that is heard", AnyChangesLeaveABridgeThatIsHeard}});
}
