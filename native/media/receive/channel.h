// Sockets that carry several calls, and the room for one read of them.
#ifndef PARLEY_MEDIA_RECEIVE_CHANNEL_H_
#define PARLEY_MEDIA_RECEIVE_CHANNEL_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/path.h"

namespace parley {

class MediaSocket;

// Room for one batch of datagrams; the receiver has one for everything that it reads.
struct ReceiveBatch {
  static constexpr size_t kPackets = 32;
  static constexpr size_t kPacketBytes = 2048;
  struct Control {
    alignas(cmsghdr) uint8_t bytes[kLocalAddressControl];
  };

  std::array<std::array<uint8_t, kPacketBytes>, kPackets> data;
  std::array<sockaddr_storage, kPackets> from;
  std::array<Control, kPackets> control;
  // The headers take datagrams without control data. A reader calls Reuse for those that came.
  std::array<mmsghdr, kPackets> messages{};
  std::array<iovec, kPackets> vectors;

  ReceiveBatch() {
    for (size_t n = 0; n < kPackets; n++) {
      vectors[n] = {data[n].data(), data[n].size()};
      messages[n].msg_hdr.msg_iov = &vectors[n];
      messages[n].msg_hdr.msg_iovlen = 1;
      messages[n].msg_hdr.msg_name = &from[n];
    }
    Reuse(kPackets);
  }
  ReceiveBatch(const ReceiveBatch&) = delete;
  ReceiveBatch& operator=(const ReceiveBatch&) = delete;
  void Reuse(size_t count) {
    for (size_t n = 0; n < count; n++) messages[n].msg_hdr.msg_namelen = sizeof(sockaddr_storage);
  }

  // Calls that got something and wait for a deadline since then.
  std::vector<std::shared_ptr<MediaSocket>> waiting;
};

// Read by the receiver's thread, or by whoever advances a manual clock. Its descriptors never change.
class Channel {
 public:
  static constexpr size_t kMaxDescriptors = 8;

  virtual ~Channel() = default;
  virtual std::vector<int> descriptors() const = 0;
  // The descriptor at `index` is readable. The work is bounded; what is left waits for the next round.
  virtual void Receive(size_t index, ReceiveBatch& batch, int64_t now_ns) = 0;
  // Time of the next Expire; INT64_MAX: none.
  virtual int64_t deadline_ns() const = 0;
  virtual void Expire(int64_t now_ns) = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_CHANNEL_H_
