#include "media/packet_tap.h"

#include <cstring>
#include <thread>

namespace parley {

void PacketTap::Put(Way& way, const PacketInfo& info, const uint8_t* data, Wait wait) {
  while (way.writing.exchange(true, std::memory_order_acquire)) {
    if (wait == Wait::kNo) {
      missed_++;
      return;
    }
    std::this_thread::yield();
  }
  if (!way.ring.Write(info, data)) missed_++;
  way.writing.store(false, std::memory_order_release);
}

std::vector<TappedPacket> PacketTap::Take() {
  std::lock_guard<std::mutex> lock(reading_);
  std::vector<TappedPacket> packets;
  PacketInfo sent, received;
  const uint8_t *sent_data = nullptr, *received_data = nullptr;
  for (;;) {
    const bool has_sent = sent_.ring.Front(&sent, &sent_data);
    const bool has_received = received_.ring.Front(&received, &received_data);
    if (!has_sent && !has_received) return packets;
    const bool is_sent = has_sent && (!has_received || sent.at_ns <= received.at_ns);
    const PacketInfo& info = is_sent ? sent : received;
    const uint8_t* const data = is_sent ? sent_data : received_data;
    packets.push_back({is_sent, info.rtcp, info.at_ns, info.remote, {data, data + info.bytes}});
    (is_sent ? sent_ : received_).ring.Pop();
  }
}

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
