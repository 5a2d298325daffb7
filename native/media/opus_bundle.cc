#include "media/opus_bundle.h"

#include <algorithm>

namespace parley {
namespace {

constexpr uint8_t kCodeMask = 3;  // of the TOC byte: the number of frames
constexpr uint8_t kOneFrame = 0, kAnyFrames = 3;
constexpr uint8_t kDifferentLengths = 0x80;  // of the count byte
constexpr size_t kTwoByteLength = 252;       // lengths from here on take two bytes

uint8_t* PutLength(uint8_t* to, size_t length) {
  if (length < kTwoByteLength) {
    *to++ = static_cast<uint8_t>(length);
    return to;
  }
  const size_t low = kTwoByteLength + (length & 3);
  *to++ = static_cast<uint8_t>(low);
  *to++ = static_cast<uint8_t>((length - low) >> 2);
  return to;
}

}  // namespace

bool OpusBundle::Joins(const uint8_t* packet, size_t bytes) {
  return bytes > 0 && bytes - 1 + kMaxOverhead <= kMaxBytes && (packet[0] & kCodeMask) == kOneFrame;
}

bool OpusBundle::Continues(const uint8_t* packet, size_t bytes, uint32_t timestamp, bool voice) const {
  return count_ < kMaxFrames && packet[0] == toc_ && timestamp == next_timestamp_ && voice == head_.voice &&
         bytes_ + bytes - 1 + kMaxOverhead <= kMaxBytes;
}

void OpusBundle::Add(const uint8_t* packet, size_t bytes, const Head& head, uint32_t ticks) {
  if (count_ == 0) {
    head_ = head;
    toc_ = packet[0];
    bytes_ = 0;
  }
  std::copy_n(packet + 1, bytes - 1, data_.data() + bytes_);
  bytes_ += bytes - 1;
  lengths_[count_++] = static_cast<uint16_t>(bytes - 1);
  next_timestamp_ = head.timestamp + ticks;
}

size_t OpusBundle::Take(uint8_t* out) {
  uint8_t* to = out;
  *to++ = count_ == 1 ? toc_ : static_cast<uint8_t>(toc_ | kAnyFrames);
  if (count_ > 1) {
    *to++ = static_cast<uint8_t>(kDifferentLengths | count_);
    for (size_t n = 0; n + 1 < count_; n++) to = PutLength(to, lengths_[n]);
  }
  to = std::copy_n(data_.data(), bytes_, to);
  count_ = 0;
  return static_cast<size_t>(to - out);
}

}  // namespace parley
