// The thread that reads the sockets of all calls of a plane. It is not the
// clock: it may wait for a call's mutex, never the clock for it.
//
// Work is bounded: each socket that has something gives up at most one batch in
// a round, and a shared port some. A flood at one delays the others by no more.
#ifndef PARLEY_MEDIA_RECEIVE_RECEIVER_H_
#define PARLEY_MEDIA_RECEIVE_RECEIVER_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <vector>

#include "media/receive/channel.h"
#include "media/receive/media_socket.h"
#include "media/time.h"

namespace parley {

class Receiver {
 public:
  explicit Receiver(const TimeSource& time);
  ~Receiver();

  // The thread begins with the first socket, unless the time is held by the caller.
  // False: the system gives no descriptor, or the receiver is closed.
  bool Add(std::shared_ptr<MediaSocket> socket);
  // Reads a shared port for as long as it is there. False: the system gives no descriptor, or the receiver is
  // closed. Repetitions change nothing.
  bool Attach(const std::shared_ptr<Channel>& channel);
  // Closes it: after this returns, no thread reads it any more. False: it is not there.
  bool Remove(MediaSocket* socket);
  // Joins the thread and closes what is left; returns the handles of those.
  std::vector<uint64_t> Close();
  size_t size();

  // Without a thread: reads what waits, and ends what is over by `now_ns`.
  void Poll();
  void Expire(int64_t now_ns);
  // After something was fed by hand.
  void NoteDeadline(const std::shared_ptr<MediaSocket>& socket);
  int64_t NextDeadline();

 private:
  static constexpr int kRound = 64;  // sockets

  void Run();
  void Round(int timeout_ms);
  int WaitMs();
  void Ready(uint64_t tag, const std::shared_ptr<MediaSocket>& socket);
  // Under mutex_. Null: it was removed, or the key is of something else.
  std::shared_ptr<MediaSocket> Find(uint64_t key) const;
  std::shared_ptr<Channel> FindChannel(uint64_t key);
  bool Watch(uint64_t key, size_t index, int fd);
  void Begin();

  const TimeSource& time_;
  const int epoll_;
  const int wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
  std::unique_ptr<ReceiveBatch> batch_;

  std::mutex mutex_;  // guards what follows
  bool closed_ = false;
  uint64_t next_number_ = 1;
  // Sockets have a slot, so that a packet's one is found without a search. Keys are never used again.
  struct Slot {
    uint64_t key;
    std::shared_ptr<MediaSocket> socket;  // null: the slot is free
  };
  std::vector<Slot> slots_;
  std::vector<size_t> free_slots_;
  std::unordered_map<const MediaSocket*, uint64_t> keys_;
  struct Attached {
    const Channel* key;
    std::weak_ptr<Channel> channel;
  };
  std::unordered_map<uint64_t, Attached> channels_;
  std::set<std::shared_ptr<MediaSocket>> waiting_;  // sockets with a deadline
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_RECEIVER_H_
