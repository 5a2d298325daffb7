// Redundant audio (RFC 2198, as RFC 8854 uses it): a packet repeats the voice payloads of the packets before
// it, so that a receiver that loses one packet finds its frame in the next.
//
//   F|block PT (7)|offset (14)|length (10) ...  0|block PT  redundant payloads, oldest first  primary payload
//
// A source keeps its last voice payloads (VoiceHistory). Each stream that sends them, the source's own and
// those of its listeners, chooses what its next packet repeats (RedEncoder). Nothing is allocated.
#ifndef PARLEY_MEDIA_RED_H_
#define PARLEY_MEDIA_RED_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace parley {

// As negotiated: a packet of `payload_type` repeats at most `distance` payloads. 0: RED is not negotiated.
struct RedConfig {
  uint8_t payload_type = 0;
  uint32_t distance = 0;  // 0 to VoiceHistory::kDepth
};

class VoiceHistory {
 public:
  static constexpr size_t kDepth = 2;
  static constexpr size_t kMaxBlock = 1023;  // bytes: the length field has 10 bits

  struct Voice {
    uint32_t timestamp = 0;  // the source's
    size_t bytes = 0;        // 0: there is none, or it is too long for a block
    std::array<uint8_t, kMaxBlock> payload;
  };

  void Add(const uint8_t* payload, size_t bytes, uint32_t timestamp);
  // `back` is 0 for the newest.
  const Voice& Last(size_t back) const { return voices_[(count_ - 1 - back) % kDepth]; }
  uint32_t count() const { return count_; }  // added so far

 private:
  std::array<Voice, kDepth> voices_;
  uint32_t count_ = 0;
};

struct Primary {
  const uint8_t* payload;
  size_t bytes;
  uint8_t payload_type;
  bool voice;  // otherwise silence
};

// A received payload. The primary block is the frame that the packet's RTP timestamp belongs to.
struct ReceivedRed {
  static constexpr size_t kMost = 4;  // older blocks are left out

  struct Block {
    const uint8_t* payload;
    size_t bytes;  // 0: the sender had nothing to repeat
    uint8_t payload_type;
    uint32_t offset;  // of its timestamp, before the packet's
  };
  Primary primary;
  std::array<Block, kMost> blocks;  // redundant ones, newest first
  size_t count = 0;
};

// False for a malformed payload.
bool ReadRed(const uint8_t* payload, size_t bytes, ReceivedRed* red);

class RedEncoder {
 public:
  static constexpr size_t kMaxPayload = 1200;     // bytes of a payload with redundancy: fits every path
  static constexpr uint32_t kMaxOffset = 0x3fff;  // in units of the RTP timestamp: the field has 14 bits

  explicit RedEncoder(const RedConfig& config) : config_(config) {}

  const RedConfig& config() const { return config_; }
  // Payloads that each packet repeats from now on. Any thread; at most config().distance.
  void SetDistance(uint32_t distance) { distance_.store(distance); }

  // The clock. Writes the payload of the next packet, and its payload type. With redundancy the payload has
  // at most kMaxPayload bytes. `history` ends before this packet. `timestamp` is the source's.
  size_t Write(const VoiceHistory& history, const Primary& primary, uint32_t timestamp, uint8_t* out,
               uint8_t* payload_type);

 private:
  struct Block {
    const VoiceHistory::Voice* voice;
    uint32_t offset;
  };
  using Blocks = std::array<Block, VoiceHistory::kDepth>;  // newest first

  size_t Choose(const VoiceHistory& history, size_t primary_bytes, uint32_t timestamp, Blocks* blocks) const;
  void Note(const VoiceHistory& history, bool voice);

  static constexpr uint8_t kLongAgo = UINT8_MAX;

  const RedConfig config_;
  std::atomic<uint32_t> distance_{0};

  // The clock's.
  const VoiceHistory* history_ = nullptr;                               // the last packet's
  uint32_t seen_ = 0;                                                   // voices in it then
  std::array<uint8_t, VoiceHistory::kDepth> ages_{kLongAgo, kLongAgo};  // packets since, newest voice first
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RED_H_
