#include "media/join/joined_sound.h"

#include <new>
#include <utility>

namespace parley {

std::shared_ptr<JoinedSound> JoinedSound::Make(std::optional<VoiceCodec> codec, int64_t period_ns) {
  const bool fits = period_ns > 0 && period_ns % kQuantumNs == 0 && period_ns <= kMostPeriodNs;
  if (!codec || !fits) return nullptr;
  auto encoder = VoiceEncoder::Make(*codec, kRate);
  if (!encoder) return nullptr;
  return std::make_shared<JoinedSound>(*codec, period_ns, std::move(encoder));
}

JoinedSound::JoinedSound(VoiceCodec codec, int64_t period_ns, std::unique_ptr<VoiceEncoder> encoder)
    : codec_(codec), period_ns_(period_ns), encoder_(std::move(encoder)) {}

JoinedSound::Frame JoinedSound::Take(int64_t tick_ns) {
  next_tick_ns_.store(tick_ns + period_ns_, std::memory_order_release);
  if (taken_) ring_.Pop();
  taken_ = false;
  Head head;
  const uint8_t* payload = nullptr;
  while (ring_.Front(&head, &payload) && head.tick_ns < tick_ns) {
    missed_.Add();
    ring_.Pop();
  }
  if (!ring_.Front(&head, &payload) || head.tick_ns != tick_ns) return {};
  taken_ = true;
  return {payload, head.bytes, head.replaces};
}

}  // namespace parley
