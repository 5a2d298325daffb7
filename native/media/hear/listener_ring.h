// The ring of one listener of a call: a recorder, or a recogniser. Each moment of the listening thread is one
// quantum in it, so that one minute of the call is one minute of samples.
//
// A reader that leaves its ring full is too slow, and its ring ends. It is not the reader's fault where the
// listening thread was late: then many moments come at once, or were left out. What finds no room is dropped
// and counted. The ring owes silence in its place, which is written before anything else once there is room.
#ifndef PARLEY_MEDIA_HEAR_LISTENER_RING_H_
#define PARLEY_MEDIA_HEAR_LISTENER_RING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "media/byte_ring.h"
#include "media/time.h"

namespace parley {

// A listener hears the caller; the caller and our side, interleaved; or the sum of both.
enum class EarSound { kCaller, kBoth, kSum };

// One moment of the listening thread. It is `now_ns` when the thread gets there.
struct ListeningMoment {
  int64_t at_ns, now_ns;
  bool ends_window;  // each second one does
};

class ListenerRing {
 public:
  // Time for a reader to make room after the thread was late, and again each time that less is owed.
  static constexpr int64_t kPatienceNs = kNsPerSecond;

  // Moments before `from_ns` are not written.
  ListenerRing(std::shared_ptr<ByteRing> bytes, EarSound sound, int64_t from_ns)
      : bytes_(std::move(bytes)), sound_(sound), from_ns_(from_ns) {}

  const ByteRing* bytes() const { return bytes_.get(); }
  EarSound sound() const { return sound_; }
  size_t channels() const { return sound_ == EarSound::kBoth ? 2 : 1; }
  // An empty error is a complete end.
  void End(const char* error) { bytes_->End(error); }

  // The thread left out the moments between these two: the ring owes silence for them.
  void LeaveOut(int64_t after_ns, const ListeningMoment& moment);
  // `samples`: a quantum of each channel, interleaved. False: the reader has ended it, or is too slow.
  bool Write(const float* samples, const ListeningMoment& moment);
  // Samples of a channel that were dropped since the last call.
  uint64_t TakeMissed();

 private:
  size_t QuantumBytes() const;
  bool PayOwed(int64_t now_ns);
  void BePatient(int64_t now_ns);
  void Owe(int64_t quanta);

  std::shared_ptr<ByteRing> bytes_;
  EarSound sound_;
  int64_t from_ns_;
  int64_t owed_ = 0, least_owed_ = 0;  // quanta; the least since the thread was late
  int64_t patience_ends_ns_ = 0;
  uint64_t missed_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_LISTENER_RING_H_
