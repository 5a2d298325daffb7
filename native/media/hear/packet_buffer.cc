#include "media/hear/packet_buffer.h"

#include <algorithm>
#include <cstring>

namespace parley {

bool BufferedPacket::IsBefore(const BufferedPacket& other) const {
  if (epoch != other.epoch) return epoch < other.epoch;
  if (position != other.position) return position < other.position;
  return sequence < other.sequence;
}

PacketBuffer::PacketBuffer() {
  for (size_t n = 0; n < kMostPackets; n++) free_slots_[n] = static_cast<uint8_t>(n);
  for (size_t n = 0; n < kChunks; n++) next_chunk_[n] = static_cast<uint8_t>(n + 1);
}

bool PacketBuffer::HasRoom(const BufferedPacket& packet) const {
  return count_ < kMostPackets && samples_ + packet.samples <= kMostSamples &&
         ChunksOf(packet.bytes) <= free_chunks_;
}

void PacketBuffer::Put(const BufferedPacket& packet, const uint8_t* payload) {
  const uint8_t index = free_slots_[kMostPackets - 1 - count_];
  Slot& slot = slots_[index];
  slot.packet = packet;
  slot.chunk = free_chunk_;
  for (size_t at = 0; at < packet.bytes; at += kChunkBytes) {
    std::memcpy(chunks_[free_chunk_].data(), payload + at, std::min(kChunkBytes, packet.bytes - at));
    free_chunk_ = next_chunk_[free_chunk_];
    free_chunks_--;
  }
  size_t place = count_;
  while (place > 0 && packet.IsBefore(slots_[order_[place - 1]].packet)) {
    order_[place] = order_[place - 1];
    place--;
  }
  order_[place] = index;
  count_++;
  samples_ += packet.samples;
}

const uint8_t* PacketBuffer::FirstPayload() {
  const Slot& slot = slots_[order_[0]];
  if (slot.packet.bytes <= kChunkBytes) return chunks_[slot.packet.bytes == 0 ? 0 : slot.chunk].data();
  uint8_t chunk = slot.chunk;
  for (size_t at = 0; at < slot.packet.bytes; at += kChunkBytes) {
    std::memcpy(joined_.data() + at, chunks_[chunk].data(), std::min(kChunkBytes, slot.packet.bytes - at));
    chunk = next_chunk_[chunk];
  }
  return joined_.data();
}

void PacketBuffer::DropFirst() {
  const uint8_t index = order_[0];
  const Slot& slot = slots_[index];
  const size_t chunks = ChunksOf(slot.packet.bytes);
  if (chunks > 0) {
    uint8_t last = slot.chunk;
    for (size_t n = 1; n < chunks; n++) last = next_chunk_[last];
    next_chunk_[last] = free_chunk_;
    free_chunk_ = slot.chunk;
    free_chunks_ += chunks;
  }
  samples_ -= slot.packet.samples;
  std::copy(order_.begin() + 1, order_.begin() + static_cast<std::ptrdiff_t>(count_), order_.begin());
  count_--;
  free_slots_[kMostPackets - 1 - count_] = index;
}

}  // namespace parley
