#include "media/join/relay_numbers.h"

namespace parley {

bool RelayNumbers::Map(const RelayedPacket& packet, const StreamPlace& next, Place* place, bool* repeated) {
  *repeated = false;
  const auto expected = static_cast<uint16_t>(next_ + sequence_offset_);
  const bool begins = !begun_ || packet.source != source_ || next.sequence != expected;
  const bool left_out = packet.kind == RelayedPacket::kLeftOut;
  if (begins) {
    if (left_out) return false;
    Begin(packet, next);
  }
  const bool late = packet.sequence < next_;
  if (late && (left_out || packet.sequence < first_ || !relayed_.IsNew(packet.sequence))) {
    *repeated = !left_out;
    return false;
  }
  relayed_.Add(packet.sequence);
  if (!late) next_ = packet.sequence + 1;
  if (left_out) {
    sequence_offset_--;
    first_ = packet.sequence + 1;
    return false;
  }
  *place = {static_cast<uint16_t>(packet.sequence + sequence_offset_), packet.timestamp + timestamp_offset_,
            begins, late};
  return true;
}

void RelayNumbers::Begin(const RelayedPacket& packet, const StreamPlace& next) {
  begun_ = true;
  source_ = packet.source;
  first_ = packet.sequence;
  next_ = packet.sequence;
  sequence_offset_ = static_cast<uint16_t>(next.sequence - packet.sequence);
  timestamp_offset_ = next.timestamp - packet.timestamp;
  relayed_ = ReplayWindow();
}

namespace {

// RFC 6716, 3.1 and 3.2.
uint32_t OpusTicks(const uint8_t* payload, size_t bytes) {
  constexpr uint32_t kTicksPerMs = 48;
  constexpr uint32_t kSilkMs[] = {10, 20, 40, 60};
  const uint32_t configuration = payload[0] >> 3, code = payload[0] & 3;
  uint32_t frame = 0;
  if (configuration < 12) frame = kSilkMs[configuration & 3] * kTicksPerMs;
  else if (configuration < 16) frame = kSilkMs[configuration & 1] * kTicksPerMs;
  else frame = (kTicksPerMs * 5 / 2) << (configuration & 3);
  const uint32_t frames = code == 0 ? 1 : code < 3 ? 2 : bytes > 1 ? payload[1] & 0x3f : 0;
  return frame * frames;
}

}  // namespace

uint32_t TicksIn(VoiceCodec codec, const uint8_t* payload, size_t bytes) {
  switch (codec) {
    case VoiceCodec::kPcmu:
    case VoiceCodec::kPcma:
    case VoiceCodec::kG722:
      return static_cast<uint32_t>(bytes);
    case VoiceCodec::kL16:
      return static_cast<uint32_t>(bytes / 2);
    case VoiceCodec::kOpus:
      return bytes == 0 ? 0 : OpusTicks(payload, bytes);
  }
  return 0;
}

}  // namespace parley
