// A listener to a running call: an RTP stream without a queue, which sends in each tick of its source what
// the source sends, under its own SSRC, numbers, keys and reports. A digit of the source is a pause for it.
//
//   source's tick ──sound──▶ Audience: slot, slot, ... ──▶ Listener::Tick ──▶ wire
//
// A caller puts a listener into a slot of its source and takes it out again. The clock walks the slots within
// the source's tick. A caller that emptied a slot and waited for the clock's turn to end (Clock::Quiesce)
// owns the listener again. The plane keeps callers apart by a mutex that the clock never takes.
#ifndef PARLEY_MEDIA_LISTENER_H_
#define PARLEY_MEDIA_LISTENER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "media/rtp_stream.h"

namespace parley {

class Stream;

class Listener : public RtpStream {
 public:
  using RtpStream::RtpStream;

  // The part of a source's configuration that its listeners must share.
  static StreamConfig Following(const StreamConfig& source, StreamConfig config);
  bool Suits(const StreamConfig& source) const;

  // Callers: the plane holds its mutex. Null: it has no source, and sends nothing.
  std::shared_ptr<Stream> source;

  // The clock, within a tick of the source that is due at `due_ns`.
  void Tick(const TickSound& sound, int64_t due_ns, int64_t now_ns);

 private:
  bool begun_ = false;  // the clock's: it had a tick
};

class Audience {
 public:
  static constexpr size_t kMost = 64;  // listeners

  // Callers, one at a time. False: there are kMost.
  bool Add(Listener* listener);
  void Remove(Listener* listener);
  // Any thread.
  size_t size() const { return size_.load(); }

  // Callers, one at a time, or the clock.
  template <class Work>
  void ForEach(const Work& work) const {
    const size_t end = end_.load();
    for (size_t n = 0; n < end; n++) {
      if (Listener* const listener = slots_[n].load()) work(*listener);
    }
  }

 private:
  std::array<std::atomic<Listener*>, kMost> slots_{};
  std::atomic<size_t> end_{0};  // slots behind this one are empty
  std::atomic<size_t> size_{0};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_LISTENER_H_
