#include "media/packet_ring.h"

#include <cstring>

namespace parley {

bool PacketRing::Write(const PacketInfo& info, const uint8_t* data) {
  uint64_t tail = tail_.load(std::memory_order_relaxed);
  const uint64_t head = head_.load(std::memory_order_acquire);
  const size_t record = RecordBytes(info.bytes);
  const size_t to_end = size_ - tail % size_;
  const size_t skipped = record > to_end ? to_end : 0;
  if (tail + skipped + record - head > size_) return false;
  if (skipped >= sizeof(PacketInfo)) {
    const PacketInfo skip{0, 0, kSkip, false, {}};
    std::memcpy(&bytes_[tail % size_], &skip, sizeof(skip));
  }
  tail += skipped;
  std::memcpy(&bytes_[tail % size_], &info, sizeof(info));
  std::memcpy(&bytes_[tail % size_ + sizeof(info)], data, info.bytes);
  tail_.store(tail + record, std::memory_order_release);
  return true;
}

bool PacketRing::Front(PacketInfo* info, const uint8_t** data) {
  for (;;) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;
    const size_t to_end = size_ - head % size_;
    if (to_end >= sizeof(PacketInfo)) {
      std::memcpy(info, &bytes_[head % size_], sizeof(*info));
      if (info->bytes != kSkip) {
        *data = &bytes_[head % size_ + sizeof(*info)];
        return true;
      }
    }
    head_.store(head + to_end, std::memory_order_release);
  }
}

void PacketRing::Pop() {
  const uint64_t head = head_.load(std::memory_order_relaxed);
  PacketInfo info;
  std::memcpy(&info, &bytes_[head % size_], sizeof(info));
  head_.store(head + RecordBytes(info.bytes), std::memory_order_release);
}

}  // namespace parley
