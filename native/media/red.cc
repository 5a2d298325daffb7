#include "media/red.h"

#include <algorithm>
#include <cstring>

#include "media/rtp.h"

namespace parley {
namespace {

constexpr size_t kBlockHeaderBytes = 4;
constexpr size_t kPrimaryHeaderBytes = 1;
constexpr uint8_t kMoreBlocks = 0x80;

}  // namespace

void VoiceHistory::Add(const uint8_t* payload, size_t bytes, uint32_t timestamp) {
  Voice& voice = voices_[count_++ % kDepth];
  voice.timestamp = timestamp;
  voice.bytes = bytes <= kMaxBlock ? bytes : 0;
  std::memcpy(voice.payload.data(), payload, voice.bytes);
}

size_t RedEncoder::Write(const VoiceHistory& history, const Primary& primary, uint32_t timestamp,
                         uint8_t* out, uint8_t* payload_type) {
  // A stream that missed voices, because it had no target or another source, repeats none of them.
  if (&history != history_ || history.count() != seen_) ages_.fill(kLongAgo);
  Blocks blocks;
  const size_t count = Choose(history, primary.bytes, timestamp, &blocks);
  Note(history, primary.voice);
  *payload_type = count == 0 ? primary.payload_type : config_.payload_type;
  uint8_t* to = out;
  for (size_t n = count; n-- > 0; to += kBlockHeaderBytes) {
    const auto& [voice, offset] = blocks[n];
    PutBig32(to, uint32_t{kMoreBlocks} << 24 | uint32_t{primary.payload_type} << 24 | offset << 10 |
                     static_cast<uint32_t>(voice->bytes));
  }
  if (count > 0) *to++ = primary.payload_type;
  for (size_t n = count; n-- > 0;) {
    to = std::copy_n(blocks[n].voice->payload.data(), blocks[n].voice->bytes, to);
  }
  to = std::copy_n(primary.payload, primary.bytes, to);
  return static_cast<size_t>(to - out);
}

// A voice is repeated in each of the `distance` packets behind its own, so that every frame is in so many
// more packets, whatever these carry.
size_t RedEncoder::Choose(const VoiceHistory& history, size_t primary_bytes, uint32_t timestamp,
                          Blocks* blocks) const {
  const uint32_t distance = std::min(distance_.load(std::memory_order_relaxed), config_.distance);
  size_t count = 0, bytes = kPrimaryHeaderBytes + primary_bytes;
  for (size_t back = 0; back < distance && ages_[back] <= distance; back++) {
    const VoiceHistory::Voice& voice = history.Last(back);
    const uint32_t offset = timestamp - voice.timestamp;
    if (voice.bytes == 0 || offset > kMaxOffset) continue;
    bytes += kBlockHeaderBytes + voice.bytes;
    if (bytes > kMaxPayload) break;
    (*blocks)[count++] = {&voice, offset};
  }
  return count;
}

void RedEncoder::Note(const VoiceHistory& history, bool voice) {
  for (uint8_t& age : ages_) age = age == kLongAgo ? kLongAgo : static_cast<uint8_t>(age + 1);
  history_ = &history;
  seen_ = history.count();
  if (!voice) return;
  ages_ = {1, ages_[0]};
  seen_++;
}

bool ReadRed(const uint8_t* payload, size_t bytes, ReceivedRed* red) {
  size_t at = 0, redundant = 0, blocks = 0;
  std::array<uint32_t, ReceivedRed::kMost> heads;  // of the newest blocks
  for (; at < bytes && (payload[at] & kMoreBlocks) != 0; at += kBlockHeaderBytes) {
    if (bytes - at < kBlockHeaderBytes) return false;
    const uint32_t head = GetBig32(payload + at);
    heads[blocks++ % heads.size()] = head;
    redundant += head & VoiceHistory::kMaxBlock;
  }
  if (at == bytes || redundant > bytes - at - kPrimaryHeaderBytes) return false;
  size_t from = at + kPrimaryHeaderBytes + redundant;
  red->primary = {payload + from, bytes - from, static_cast<uint8_t>(payload[at] & 0x7f), true};
  red->count = std::min(blocks, heads.size());
  for (size_t n = 0; n < red->count; n++) {
    const uint32_t head = heads[(blocks - 1 - n) % heads.size()];
    const size_t length = head & VoiceHistory::kMaxBlock;
    from -= length;
    red->blocks[n] = {payload + from, length, static_cast<uint8_t>(head >> 24 & 0x7f),
                      head >> 10 & RedEncoder::kMaxOffset};
  }
  return true;
}

}  // namespace parley
