#include "media/packet_ring.h"

#include <cstring>

namespace parley {

bool PacketRing::Write(const PacketInfo& info, const uint8_t* data) {
  uint64_t tail = tail_.load(std::memory_order_relaxed);
  const uint64_t head = head_.load(std::memory_order_acquire);
  const size_t record = RecordBytes(info.bytes);
  const size_t to_end = kBytes - tail % kBytes;
  const size_t skipped = record > to_end ? to_end : 0;
  if (tail + skipped + record - head > kBytes) return false;
  if (skipped >= sizeof(PacketInfo)) {
    const PacketInfo skip{0, 0, kSkip, false};
    std::memcpy(&bytes_[tail % kBytes], &skip, sizeof(skip));
  }
  tail += skipped;
  std::memcpy(&bytes_[tail % kBytes], &info, sizeof(info));
  std::memcpy(&bytes_[tail % kBytes + sizeof(info)], data, info.bytes);
  tail_.store(tail + record, std::memory_order_release);
  return true;
}

bool PacketRing::Front(PacketInfo* info, const uint8_t** data) {
  for (;;) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    const size_t to_end = kBytes - head % kBytes;
    if (to_end >= sizeof(PacketInfo)) {
      std::memcpy(info, &bytes_[head % kBytes], sizeof(*info));
      if (info->bytes != kSkip) {
        *data = &bytes_[head % kBytes + sizeof(*info)];
        return true;
      }
    }
    head_.store(head + to_end, std::memory_order_release);
  }
}

void PacketRing::Pop() {
  const uint64_t head = head_.load(std::memory_order_relaxed);
  PacketInfo info;
  std::memcpy(&info, &bytes_[head % kBytes], sizeof(info));
  head_.store(head + RecordBytes(info.bytes), std::memory_order_release);
}

}  // namespace parley
