#include "media/join/mix_input.h"

#include <algorithm>
#include <utility>

namespace parley {
namespace {

constexpr float kLoudnessAttack = 0.1F,
                kLoudnessRelease = 0.0165F;  // shares of the way in 5 ms: 50 and 300 ms
constexpr double kLeastJoinedMs = 10, kMostJoinedMs = 200;

}  // namespace

void MixInput::Measure() {
  power = 0;
  if (sounds) {
    for (const float sample : samples) power += sample * sample;
    power /= static_cast<float>(samples.size());
  }
  loudness += (power - loudness) * (power > loudness ? kLoudnessAttack : kLoudnessRelease);
  quiet_quanta = power > kQuiet ? 0 : quiet_quanta + 1;
}

bool SpeakingDetector::Take(float power) {
  const bool loud = power > kSpeech;
  heard_ = std::clamp(heard_ + (loud ? 1 : -1), 0, kOnQuanta);
  silent_ = loud ? 0 : silent_ + 1;
  const bool before = speaking_;
  speaking_ = before ? silent_ < kOffQuanta : heard_ == kOnQuanta;
  if (before && !speaking_) heard_ = 0;
  return before != speaking_;
}

LegInput::LegInput(uint32_t id, std::shared_ptr<JoinedLeg> leg)
    : MixInput(id), leg_(std::move(leg)), sound_({kLeastJoinedMs, kMostJoinedMs, JoinedSound::kQuantum}) {}

// Packets that came later stay in the inbox: a late thread mixes what a punctual one would have mixed.
void LegInput::Hear(int64_t at_ns, size_t quanta) {
  HeardPacket packet;
  uint32_t source = 0;
  Inbox& inbox = leg_->inbox();
  while (inbox.Front(&packet, &source) && packet.arrival_ns <= at_ns) {
    if (has_source_ && source != source_) sound_.Restart();
    source_ = source;
    has_source_ = true;
    sound_.Put(packet);
    inbox.Pop();
  }
  sound_.SetQuantum(quanta * JoinedSound::kQuantum, quanta > 1);
  heard_sounds_ = sound_.Pull(at_ns, heard_.data());
  next_ = 0;
}

void LegInput::Next() {
  sounded_before = sounds;
  std::copy_n(heard_.data() + next_, samples.size(), samples.data());
  next_ += samples.size();
  sounds = heard_sounds_ && std::any_of(samples.begin(), samples.end(), [](float one) { return one != 0; });
  Measure();
}

bool RingInput::Read() {
  sounded_before = sounds;
  auto* const to = reinterpret_cast<uint8_t*>(samples.data());
  const int64_t bytes = ring_->Read(to, sizeof(samples), sizeof(float));
  const size_t count = bytes > 0 ? static_cast<size_t>(bytes) / sizeof(float) : 0;
  std::fill(samples.begin() + static_cast<ptrdiff_t>(count), samples.end(), 0.0F);
  sounds = std::any_of(samples.begin(), samples.end(), [](float sample) { return sample != 0; });
  Measure();
  begun_ = begun_ || count > 0;
  if (count == samples.size()) return true;
  if (bytes < 0) return false;
  const ByteRing::Status status = ring_->GetStatus();
  if (status.aborted || (status.ended && status.readable < sizeof(float))) return count > 0;
  if (begun_) missing_ += samples.size() - count;
  return true;
}

bool RingInput::IsFor(uint32_t member) const {
  return only_.empty() || std::find(only_.begin(), only_.end(), member) != only_.end();
}

}  // namespace parley
