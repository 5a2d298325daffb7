// Packets that wait for their time, ordered by their place in the sound. Everything is allocated at
// construction: slots, and chunks of memory for the payloads.
#ifndef PARLEY_MEDIA_HEAR_PACKET_BUFFER_H_
#define PARLEY_MEDIA_HEAR_PACKET_BUFFER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "audio/voice_codec.h"

namespace parley {

struct BufferedPacket {
  uint32_t epoch = 0;    // see MediaTimeline
  int64_t position = 0;  // samples of 16 kHz since the first packet
  uint64_t sequence = 0;
  uint32_t samples = 0;  // of 16 kHz; 0 for comfort noise and events
  uint16_t bytes = 0;
  VoiceCodec codec = VoiceCodec::kPcmu;
  bool redundant = false;  // from a later RED packet
  bool IsBefore(const BufferedPacket& other) const;
};

class PacketBuffer {
 public:
  static constexpr size_t kMostPackets = 100;
  static constexpr size_t kMostSamples = 16'000;  // 1 s
  static constexpr size_t kMostBytes = 2048;      // of a payload

  PacketBuffer();
  bool HasRoom(const BufferedPacket& packet) const;
  // Requires room.
  void Put(const BufferedPacket& packet, const uint8_t* payload);
  // The first in the order; null: the buffer is empty.
  const BufferedPacket* First() const { return count_ > 0 ? &slots_[order_[0]].packet : nullptr; }
  // The payload of the first packet, until the next call.
  const uint8_t* FirstPayload();
  void DropFirst();

 private:
  static constexpr size_t kChunkBytes = 192, kChunks = 160;
  struct Slot {
    BufferedPacket packet;
    uint8_t chunk = 0;  // the first of a chain
  };
  static size_t ChunksOf(size_t bytes) { return (bytes + kChunkBytes - 1) / kChunkBytes; }

  std::array<Slot, kMostPackets> slots_;
  std::array<uint8_t, kMostPackets> order_, free_slots_;  // of slots_; the first count_ of order_ are in use
  size_t count_ = 0, samples_ = 0;
  std::array<std::array<uint8_t, kChunkBytes>, kChunks> chunks_;
  std::array<uint8_t, kChunks> next_chunk_;
  uint8_t free_chunk_ = 0;
  size_t free_chunks_ = kChunks;
  std::array<uint8_t, kMostBytes> joined_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_PACKET_BUFFER_H_
