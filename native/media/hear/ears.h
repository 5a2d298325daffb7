// The windows that one voice activity detector hears: 32 ms of each of its calls, the caller's and ours.
//
//   listening thread ──Put──▶ seat of a call: at most 8 windows ──Take──▶ the detector's thread
//
// Windows of all calls end at the same moments. The batch of a moment is announced once it is complete, so
// that one Take has all of it. Every function may be called from any thread.
#ifndef PARLEY_MEDIA_HEAR_EARS_H_
#define PARLEY_MEDIA_HEAR_EARS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "media/hear/caller_sound.h"
#include "media/hear/tone_watch.h"
#include "media/ready.h"

namespace parley {

class Ears;

// A call that can be listened to. Its own locks are taken before those of ears, never after.
class ListeningOwner {
 public:
  virtual void LeaveEars(const Ears* ears) = 0;
  // A listener has ended by itself. Without another one nothing is decoded any more.
  virtual void OnListenerEnded() = 0;
  virtual void OnTone(const HeardTone& tone) = 0;

 protected:
  ~ListeningOwner() = default;
};

struct EarWindow {
  static constexpr size_t kSamples = 2 * CallerSound::kQuantum;  // 32 ms
  static constexpr float kSilentDb = -120;

  int64_t end_ns = 0;                                // when the sound after its last sample is due
  float caller_db = kSilentDb, ours_db = kSilentDb;  // mean power; a full-scale square wave has 0
  std::array<float, 2 * kSamples> samples{};         // the caller's, then ours
};

// The windows of one call that wait for the detector.
class EarSeat {
 public:
  static constexpr size_t kMost = 8;

  explicit EarSeat(uint64_t socket) : socket_(socket) {}

  uint64_t socket() const { return socket_; }
  // Beyond kMost the oldest window is dropped and counted.
  void Put(const EarWindow& window);
  // The thread left `windows` windows out. Those that wait are old: they are dropped and counted with them.
  void Lose(uint64_t windows);
  // End of the oldest window; INT64_MAX: none waits.
  int64_t FirstEnd();
  // The oldest window, if it ends then. `dropped`: windows lost before it.
  bool Take(int64_t end_ns, EarWindow* window, uint64_t* dropped);

 private:
  const uint64_t socket_;  // handle

  std::mutex mutex_;  // guards what follows
  std::array<EarWindow, kMost> windows_;
  size_t first_ = 0, count_ = 0;
  uint64_t dropped_ = 0;
};

class Ears {
 public:
  struct Row {
    uint64_t socket = 0;  // handle
    uint64_t dropped = 0;
    EarWindow window;
  };

  // Null once closed.
  std::shared_ptr<EarSeat> Join(std::weak_ptr<ListeningOwner> owner, uint64_t socket);
  void Leave(const EarSeat* seat);
  // Leaves every call. Idempotent.
  void Close();

  // The next row, oldest moment first; false when no complete batch waits. One thread at a time.
  bool Take(Row* row);
  // True: windows wait now. False: the sink hears of `handle` once.
  bool Watch(std::shared_ptr<ReadySink> sink, uint64_t handle);

  // The listening thread: every call has put its window that ends then.
  void Announce(int64_t end_ns);

 private:
  struct Member {
    std::shared_ptr<EarSeat> seat;
    std::weak_ptr<ListeningOwner> owner;
  };

  int64_t FirstEnd();

  std::atomic<int64_t> complete_ns_{INT64_MIN};  // windows up to this end may be taken
  ReadyWatch watch_;

  std::mutex mutex_;  // guards what follows
  std::vector<Member> members_;
  int64_t batch_ns_ = 0;  // Take is in the middle of this batch
  size_t next_ = 0;       // member
  bool closed_ = false;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_EARS_H_
