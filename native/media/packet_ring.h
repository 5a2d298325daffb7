// Packets that JavaScript fetches: instead of the network, for tests and for
// paths that only JavaScript can write, or copies of what the network was given.
// One writing and one reading thread, no locks.
#ifndef PARLEY_MEDIA_PACKET_RING_H_
#define PARLEY_MEDIA_PACKET_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "media/receive/address.h"

namespace parley {

struct PacketInfo {
  uint64_t stream;  // handle
  int64_t at_ns;    // when it left
  uint32_t bytes;
  bool rtcp;
  Address remote;   // unknown where JavaScript carries the packet
};

class PacketRing {
 public:
  static constexpr size_t kUsualBytes = size_t{1} << 20;  // some 4,500 packets of 160 bytes

  // `size`: bytes, a multiple of 8.
  explicit PacketRing(size_t size = kUsualBytes) : size_(size), bytes_(new uint8_t[size]) {}

  // Writer. False when there is no room.
  bool Write(const PacketInfo& info, const uint8_t* data);

  // Reader: the oldest packet, valid until Pop(). False when there is none.
  bool Front(PacketInfo* info, const uint8_t** data);
  void Pop();

  bool Empty() const { return head_.load() == tail_.load(); }

 private:
  // [PacketInfo][data][padding to 8]; what does not fit before the end starts
  // at the beginning, and the rest of the end is skipped.
  static constexpr uint32_t kSkip = UINT32_MAX;
  static size_t RecordBytes(uint32_t bytes) { return (sizeof(PacketInfo) + bytes + 7) / 8 * 8; }

  const size_t size_;
  const std::unique_ptr<uint8_t[]> bytes_;
  std::atomic<uint64_t> head_{0};  // bytes read
  std::atomic<uint64_t> tail_{0};  // bytes written
};

}  // namespace parley

#endif  // PARLEY_MEDIA_PACKET_RING_H_
