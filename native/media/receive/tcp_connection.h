// One accepted connection of ICE-TCP: datagrams in frames of RFC 4571.
//
//   frame = length (16 bits) | that many bytes
//
// The receiver's thread reads. Any thread sends; the clock never waits for another sender, nor for the
// network. What the kernel does not take at once is dropped if it is the clock's, because old sound is of no
// use; DTLS and answers to checks are kept in a bounded buffer.
#ifndef PARLEY_MEDIA_RECEIVE_TCP_CONNECTION_H_
#define PARLEY_MEDIA_RECEIVE_TCP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "media/counters.h"
#include "media/descriptor.h"
#include "media/path.h"

namespace parley {

class MediaSocket;

class TcpConnection : public PacketSink {
 public:
  static constexpr size_t kMaxUnsent = 64 << 10;  // bytes, beside the kernel's buffer
  static constexpr size_t kMaxFrame = 2048;
  static constexpr size_t kHeadBytes = 2;

  // `epoll` watches the socket, with `id` as its data. `dropped` counts packets and outlives the connection's
  // use of it.
  TcpConnection(std::shared_ptr<const Descriptor> socket, std::shared_ptr<const Descriptor> epoll,
                uint64_t id, const Address& remote, std::shared_ptr<Counter> dropped);

  const Address& remote() const { return remote_; }

  bool Send(const uint8_t* data, size_t len, Wait wait) override;
  // Sends what it can, then the end of the stream. The receiver finds that and lets the connection go.
  void Close() override;

  // The receiver. It hears no more of the socket, whoever still holds it.
  void Unwatch();
  // False: the stream is over or has an error.
  bool Flush();
  // Reads once, up to `room` bytes into `scratch`, and passes on whole frames. False: the stream is over, has
  // an error, or `take` returned false. A frame longer than kMaxFrame is an error.
  using TakeFrame = std::function<bool(const uint8_t* data, size_t len)>;
  bool Read(uint8_t* scratch, size_t room, int64_t now_ns, const TakeFrame& take);
  // Since when the rest of a frame is awaited; INT64_MAX: no part of one is there.
  int64_t half_since_ns() const { return half_since_ns_; }

  // The receiver's. The call whose check came here; null before.
  std::weak_ptr<MediaSocket> call;
  bool checked = false;
  int frames = 0;  // before the check
  int64_t opened_ns = 0;

 private:
  bool SendFrame(const uint8_t* data, size_t len, bool may_wait);
  bool Keep(const uint8_t* head, const uint8_t* data, size_t len, size_t sent);
  bool FlushHeld();
  void WatchOutput(bool on);
  bool TakeFrames(const uint8_t* data, size_t len, const TakeFrame& take, size_t* used);

  const std::shared_ptr<const Descriptor> socket_, epoll_;
  const uint64_t id_;
  const Address remote_;
  const std::shared_ptr<Counter> dropped_;
  std::vector<uint8_t> partial_;  // the receiver's
  int64_t half_since_ns_ = INT64_MAX;

  std::mutex mutex_;  // guards what follows
  const std::unique_ptr<uint8_t[]> unsent_{new uint8_t[kMaxUnsent]};
  size_t unsent_from_ = 0, unsent_to_ = 0;
  bool closed_ = false;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_TCP_CONNECTION_H_
