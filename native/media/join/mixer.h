// A mixer: each member hears the others, and sounds of ours. Two members are a bridge between codecs; more
// are a room.
//
//   legs ──▶ LegInput ──┬─▶ MixPlaces: the loudest ──▶ mix for each mask of places ──▶ limiter ──▶ MixOutput
//   rings ─▶ RingInput ─┘                                                                             │
//                             clock ◀── JoinedSound, just before each member's tick ◀── encoder ◀─────┘
//
// The joining thread runs a quantum of 5 ms at a time. A plain bridge takes a whole frame at a time instead,
// when it is due: it waits only for the packets of that frame.
//
// One mutex keeps the thread and callers apart. Callers hold it to change a list or a number, the thread for
// one quantum or one frame.
#ifndef PARLEY_MEDIA_JOIN_MIXER_H_
#define PARLEY_MEDIA_JOIN_MIXER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "media/hear/listener_ring.h"
#include "media/join/mix_places.h"
#include "media/join/mixer_member.h"
#include "media/ready.h"
#include "media/time.h"

namespace parley {

// Changes of a member; absent fields stay as they are.
struct MemberChange {
  std::optional<bool> muted, deaf;
  std::optional<float> gain;  // of what the others hear, 0 to 4
  std::optional<VoiceMode> voice;
};

// Something that JavaScript hears of.
struct MixerEvent {
  enum Kind : uint8_t { kSpeaks, kSilent, kSourceEnded };
  uint32_t id;  // a member, or a source
  Kind kind;
};

struct MixerMemberStats {
  HearingFigures hearing;
  uint64_t frames = 0, late = 0, shared = 0, missed = 0;
  float level_db = 0;
  bool speaking = false;
};

class Mixer {
 public:
  static constexpr size_t kMostMembers = 256, kMostSinks = 4, kMostEvents = 4096;

  // A frame that has to be encoded before this tick of its stream.
  struct Job {
    int64_t tick_ns;
    Mixer* mixer;
    uint32_t member;
    size_t index;  // of the member, unless one left
  };

  explicit Mixer(size_t loudest) : places_(loudest) {}

  // Callers, any thread. Ids of members and sources; 0: closed, or there are as many as may.
  uint32_t AddMember(std::shared_ptr<JoinedLeg> leg, const MemberChange& change);
  void RemoveMember(uint32_t id);
  void ChangeMember(uint32_t id, const MemberChange& change);
  void Hears(uint32_t member, uint32_t other, bool is_heard);
  // `only`: the members that hear it; empty: all.
  uint32_t AddSource(std::shared_ptr<ByteRing> ring, std::vector<uint32_t> only, float gain);
  void RemoveSource(uint32_t id);
  // The mix of everything, 16 ms at a time from `now_ns` on. False: closed, or there are kMostSinks.
  bool AddSink(std::shared_ptr<ByteRing> ring, int64_t now_ns);
  void RemoveSink(const ByteRing* ring);  // and ends it
  std::vector<MixerEvent> TakeEvents();
  // True: events wait. False: the sink hears of `handle` once.
  bool Watch(std::shared_ptr<ReadySink> sink, uint64_t handle);
  std::optional<MixerMemberStats> StatsOf(uint32_t id);
  size_t size();
  void Close();  // idempotent

  // The joining thread. Mixes the quantum that is due, and appends the frames that follow from it.
  void Run(int64_t at_ns, int64_t now_ns, std::vector<Job>* jobs);
  void Encode(const Job& job, int64_t at_ns, int64_t now_ns);

 private:
  // A mixer that becomes a plain bridge takes whole frames after a second.
  static constexpr int64_t kPlainQuanta = kNsPerSecond / JoinedSound::kQuantumNs;

  MixerMember* Find(uint32_t id);
  void Apply(MixerMember& member, const MemberChange& change);
  void Part(MixerMember& member);
  void DropLeft();
  void Post(uint32_t id, MixerEvent::Kind kind);
  bool IsPlainBridge() const;
  void ChooseStep(int64_t at_ns);
  void MixFrames(int64_t at_ns);
  void MixOwed(MixerMember& hearer, int64_t at_ns);
  void MixQuanta(int64_t at_ns, int64_t now_ns);
  void HearMembers(int64_t at_ns);
  void TakeNext(MixerMember& member);
  void ReadSources();
  void ChooseMasks();
  void MixAll();
  void MixFor(MixerMember& member);
  void WriteSinks(int64_t at_ns, int64_t now_ns);
  void CountBands();
  bool HearsNarrow(const MixerMember& member) const;
  void ListJobs(int64_t at_ns, std::vector<Job>* jobs);
  MixerMember* LeaderFor(const MixerMember& member);

  ReadyWatch watch_;

  std::mutex mutex_;  // guards what follows
  bool closed_ = false;
  uint32_t last_id_ = 0;
  MixPlaces places_;
  std::vector<std::unique_ptr<MixerMember>> members_;
  std::vector<LegInput*> inputs_;  // of the members
  std::vector<std::unique_ptr<RingInput>> sources_;
  std::vector<ListenerRing> sinks_;
  std::array<float, CallerSound::kQuantum> sink_block_{};
  size_t sink_at_ = 0;            // samples of the block
  size_t narrow_ = 0, wide_ = 0;  // inputs of members that are so
  bool takes_frames_ = false;
  int64_t plain_quanta_ = kPlainQuanta;  // for which it has been a plain bridge
  Limiter sink_limiter_;
  std::vector<MixerEvent> events_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_MIXER_H_
