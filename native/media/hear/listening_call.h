// A call that somebody listens to. It exists from the first listener to the last.
//
//   inbox ──▶ CallerSound ──▶ 16 ms of the caller ─┬▶ rings (recorder, recogniser)
//   tap ────▶ SentSound ────▶ 16 ms of ours ──────┬┴▶ windows of ears (voice activity)
//                             16 ms of the caller ┴─▶ tones and keys in the sound
//
// One mutex keeps the listening thread and callers apart. It is held for one quantum at the most.
#ifndef PARLEY_MEDIA_HEAR_LISTENING_CALL_H_
#define PARLEY_MEDIA_HEAR_LISTENING_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "media/hear/caller_sound.h"
#include "media/hear/ears.h"
#include "media/hear/inbox.h"
#include "media/hear/listener_ring.h"
#include "media/hear/sent_sound.h"
#include "media/hear/sent_tap.h"
#include "media/hear/tone_watch.h"

namespace parley {

class ListeningCall {
 public:
  static constexpr size_t kMostRings = 8;

  // It listens to what comes from `now_ns` on.
  ListeningCall(std::weak_ptr<ListeningOwner> owner, int64_t now_ns)
      : owner_(std::move(owner)), from_ns_(now_ns), last_ns_(now_ns) {}

  // Written by the thread that receives, read by the listening thread.
  Inbox& inbox() { return inbox_; }
  std::shared_ptr<ListeningOwner> owner() const { return owner_.lock(); }

  // Callers: the owner holds its mutex.
  // It begins `now_ns`. False: kMostRings are there.
  bool AddRing(std::shared_ptr<ByteRing> ring, EarSound sound, int64_t now_ns);
  void RemoveRing(ByteRing* ring);  // and ends it
  // False: other ears hear this call. The same ears again change nothing.
  bool AddEars(const std::shared_ptr<Ears>& ears, std::weak_ptr<ListeningOwner> owner, uint64_t socket);
  void RemoveEars(const Ears* ears);
  // From now on; without wishes no longer.
  void WatchTones(ToneWishes wishes);
  bool idle();
  // Null while nobody listens to our side.
  std::shared_ptr<SentTap> tap();
  HearingFigures Figures();
  // Ends the rings and leaves the ears. Nothing is read or written any more.
  void Close();

  // The listening thread. Processes the quantum that is due at this moment. Moments that were left out since
  // the one before are silence in the rings.
  struct Result {
    bool ended = false;          // a listener has ended by itself
    std::shared_ptr<Ears> ears;  // a window was put there
    HeardTones tones;
  };
  Result Tick(const ListeningMoment& moment);

 private:
  struct Channel {
    std::array<float, CallerSound::kQuantum> samples;
    bool sounds = false;  // otherwise all are zero
  };

  void LeaveOut(const ListeningMoment& moment, HeardTones* tones);
  void TakeInbox(int64_t now_ns);
  void Hear(int64_t now_ns);
  bool WriteRings(const ListeningMoment& moment);
  bool WriteRing(ListenerRing& ring, const ListeningMoment& moment);
  bool AddToWindow(int64_t end_ns, bool ends_window);
  void FollowOurs();

  const std::weak_ptr<ListeningOwner> owner_;
  const int64_t from_ns_;
  Inbox inbox_;

  std::mutex mutex_;  // guards what follows
  int64_t last_ns_;   // the last moment
  uint64_t missed_ = 0;
  CallerSound caller_sound_{CallerSound::Limits()};
  uint32_t source_ = 0;  // of the packets before
  bool has_source_ = false;
  std::shared_ptr<SentTap> tap_;
  std::unique_ptr<SentSound> sent_sound_;  // null while nobody listens to our side
  std::vector<ListenerRing> rings_;
  std::unique_ptr<ToneWatch> tones_;  // null: nobody wishes to know them
  std::shared_ptr<Ears> ears_;
  std::shared_ptr<EarSeat> seat_;
  std::unique_ptr<EarWindow> window_;  // with ears: the one that grows
  bool window_begun_ = false;
  double caller_power_ = 0, our_power_ = 0;  // sums over the window so far
  Channel caller_, ours_;
  std::array<float, 2 * CallerSound::kQuantum> interleaved_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_LISTENING_CALL_H_
