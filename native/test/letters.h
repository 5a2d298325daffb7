// Frames of µ-law that tests tell apart by letters, and streams that send them.
#ifndef PARLEY_TEST_LETTERS_H_
#define PARLEY_TEST_LETTERS_H_

#include <cctype>
#include <optional>
#include <vector>

#include "media/plane.h"

namespace parley::test {

constexpr uint32_t kTicks = 80;
constexpr int64_t kFrame = 10 * kNsPerMs;
constexpr uint8_t kQuietest = 0x7f;  // of µ-law, without its sign

inline StreamConfig Config(std::optional<VoiceCodec> codec, uint32_t ssrc = 1) {
  StreamConfig config;
  config.ssrc = ssrc;
  config.ticks_per_frame = kTicks;
  config.period_ns = kFrame;
  config.cname = "fade-test";
  config.codec = codec;
  return config;
}

// A loud constant sound stands for each letter.
inline std::vector<uint8_t> FrameOf(char letter) {
  return std::vector<uint8_t>(kTicks, static_cast<uint8_t>(letter - 'a'));
}

// The letter of a frame; a capital if it fades out, '?' for other sounds.
inline char LetterOf(const uint8_t* payload, size_t bytes) {
  if (bytes != kTicks || payload[0] > 'z' - 'a') return '?';
  const auto letter = static_cast<char>('a' + payload[0]);
  if (payload[bytes - 1] == payload[0]) return letter;
  for (size_t n = 1; n < bytes; n++) {
    if ((payload[n] & kQuietest) < (payload[n - 1] & kQuietest)) return '?';  // louder
  }
  const bool fades = (payload[bytes - 1] & kQuietest) == kQuietest;
  return fades ? static_cast<char>(std::toupper(letter)) : '?';
}

inline char LetterOf(const CapturedPacket& packet) {
  return LetterOf(packet.data.data() + 12, packet.data.size() - 12);
}

inline bool Faded(FadeResult result) { return result == FadeResult::kFaded; }

}  // namespace parley::test

#endif  // PARLEY_TEST_LETTERS_H_
