#include "media/hear/sent_sound.h"

#include <algorithm>
#include <cstdlib>

namespace parley {

bool SentSound::Read(int64_t now_ns, int64_t delay_ns, float* out) {
  Decode(now_ns);
  const int64_t wanted_ns = std::max(delay_ns, kQuantumNs);
  const int64_t off_ns = std::abs(wanted_ns - delay_ns_);
  if (delay_ns_ < 0 || off_ns > kMostOffNs) delay_ns_ = wanted_ns;
  if (origin_ns_ < 0) {
    std::fill_n(out, CallerSound::kQuantum, 0.0F);
    return false;
  }
  const bool sounds = Copy(IndexOf(now_ns - delay_ns_), out);
  if (sounds || off_ns == 0) return sounds;
  delay_ns_ = wanted_ns;
  return Copy(IndexOf(now_ns - delay_ns_), out);
}

// Frames that are due later stay in the tap: a late reader reads as a punctual one would have.
void SentSound::Decode(int64_t now_ns) {
  SentVoice voice;
  const uint8_t* payload = nullptr;
  while (tap_->Front(&voice, &payload) && voice.due_ns <= now_ns) {
    DecodeOne(voice, payload);
    tap_->Pop();
  }
}

void SentSound::DecodeOne(const SentVoice& voice, const uint8_t* payload) {
  if (codec_ != voice.codec) {
    decoder_ = VoiceDecoder::Make(voice.codec, CallerSound::kRate);
    codec_ = voice.codec;
  }
  if (origin_ns_ < 0) origin_ns_ = voice.due_ns;
  const size_t count = decoder_ ? decoder_->Decode(payload, voice.bytes, frame_.data()) : 0;
  Write(IndexOf(voice.due_ns), count);
}

// A frame may lie over the one before, where one stream follows another.
void SentSound::Write(int64_t at, size_t count) {
  if (at < std::max<int64_t>(0, end_ - kKept)) return;
  for (int64_t n = std::max(end_, at - kKept); n < at; n++) samples_[static_cast<size_t>(n % kKept)] = 0;
  for (size_t n = 0; n < count; n++) {
    samples_[static_cast<size_t>((at + static_cast<int64_t>(n)) % kKept)] = frame_[n];
  }
  end_ = std::max(end_, at + static_cast<int64_t>(count));
}

bool SentSound::Copy(int64_t at, float* out) const {
  const int64_t first = std::max<int64_t>(0, end_ - kKept);
  bool sounds = false;
  for (size_t n = 0; n < CallerSound::kQuantum; n++) {
    const int64_t index = at + static_cast<int64_t>(n);
    out[n] = index < first || index >= end_ ? 0.0F : samples_[static_cast<size_t>(index % kKept)];
    sounds = sounds || out[n] != 0;
  }
  return sounds;
}

int64_t SentSound::IndexOf(int64_t ns) const {
  constexpr int64_t kNsPerSample = kNsPerSecond / CallerSound::kRate;  // 62,500
  const int64_t since_ns = ns - origin_ns_;
  return (since_ns >= 0 ? since_ns + kNsPerSample / 2 : since_ns - kNsPerSample / 2) / kNsPerSample;
}

}  // namespace parley
