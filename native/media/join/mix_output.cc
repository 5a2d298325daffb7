#include "media/join/mix_output.h"

#include <algorithm>
#include <cstring>

namespace parley {

void MixOutput::Append(float* quantum) {
  constexpr size_t kCount = JoinedSound::kQuantum;
  std::memmove(history_.data(), history_.data() + kCount, (kMostSamples - kCount) * sizeof(float));
  float* const to = history_.data() + kMostSamples - kCount;
  if (!quantum) {
    limiter_.Reset();
    std::fill_n(to, kCount, 0.0F);
    silent_ = std::min(kMostSamples + kTail, silent_ + kCount);
    return;
  }
  limiter_.Process(quantum, kCount);
  std::copy_n(quantum, kCount, to);
  silent_ = 0;
}

void MixOutput::CopyFrom(const MixOutput& other) {
  history_ = other.history_;
  silent_ = other.silent_;
  limiter_ = other.limiter_;
}

size_t MixOutput::Encode(int64_t quantum, JoinedSound& sound) {
  if (encoded_ == quantum) return bytes_;
  encoded_ = quantum;
  const bool is_silent = IsSilent(sound.samples());
  if (is_silent) sound.encoder().Pause();
  bytes_ = is_silent ? 0 : EncodeThese(Last(sound.samples()), sound);
  return bytes_;
}

size_t MixOutput::EncodeThese(const float* samples, JoinedSound& sound) {
  VoiceEncoder& encoder = sound.encoder();
  if (begins_anew_) encoder.BeginAnew();
  begins_anew_ = false;
  return encoder.Encode(samples, sound.samples(), payload_.data(), payload_.size());
}

}  // namespace parley
