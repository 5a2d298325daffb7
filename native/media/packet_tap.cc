#include "media/packet_tap.h"

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

}  // namespace parley
