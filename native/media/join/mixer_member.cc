#include "media/join/mixer_member.h"

#include <algorithm>

#include "media/stream.h"

namespace parley {
namespace {

// From the quantum's moment to the tick: time to mix and to encode.
constexpr int64_t kLeadNs = 1'500'000;

}  // namespace

void MixerMember::Hears(uint32_t other, bool is_heard) {
  const auto found = std::find_if(exceptions_.begin(), exceptions_.end(),
                                  [other](const Exception& one) { return one.id == other; });
  if (found != exceptions_.end()) {
    found->gain.Set(is_heard ? 1 : 0);
  } else if (!is_heard) {
    exceptions_.push_back({other, GainRamp(1)});
    exceptions_.back().gain.Set(0);
  }
}

void MixerMember::Forget(uint32_t other) {
  exceptions_.erase(std::remove_if(exceptions_.begin(), exceptions_.end(),
                                   [other](const Exception& one) { return one.id == other; }),
                    exceptions_.end());
}

const MixerMember::Exception* MixerMember::Find(uint32_t id) const {
  for (const Exception& one : exceptions_) {
    if (one.id == id) return &one;
  }
  return nullptr;
}

void MixerMember::FollowStream() {
  const uint32_t version = input.leg().version();
  if (version == version_) return;
  version_ = version;
  JoinedLeg::Way way = input.leg().way();
  sound = std::move(way.sound);
  held_stream_ = std::move(way.stream);
  stream_ = dynamic_cast<Stream*>(held_stream_.get());
  voice_decoder_.reset();
  phase = -1;
  mask_quanta = -1;
  output.BeginAnew();
}

bool MixerMember::ticks() const { return sound && !held_stream_->closed() && sound->next_tick_ns() != 0; }

int64_t MixerMember::TickFor(int64_t at_ns) const {
  if (!ticks()) return 0;
  const int64_t next_ns = sound->next_tick_ns();
  const int64_t from_ns = at_ns + kLeadNs, period_ns = sound->period_ns();
  const int64_t periods = next_ns < from_ns ? (from_ns - next_ns + period_ns - 1) / period_ns : 0;
  const int64_t tick_ns = next_ns + periods * period_ns;
  return tick_ns < from_ns + JoinedSound::kQuantumNs ? tick_ns : 0;
}

uint64_t MixerMember::MaskOf(const MixPlaces& places, bool* is_alone) {
  *is_alone = listens_step_.from != listens_step_.to || ducks();
  if (listens_step_.silent()) return 0;
  uint64_t heard = 0;
  for (size_t n = 0; n < places.size(); n++) {
    const MixPlaces::Place& place = places[n];
    if (!place.input || !place.sounds || place.input == &input) continue;
    if (place.is_ring && !static_cast<const RingInput*>(place.input)->IsFor(id())) continue;
    const Exception* const exception = exceptions_.empty() ? nullptr : Find(place.input->id);
    if (exception && exception->step.silent()) continue;
    if (exception && !exception->step.unchanged()) *is_alone = true;
    heard |= uint64_t{1} << n;
  }
  return heard;
}

void MixerMember::Mix(const MixPlaces& places, uint64_t heard, float* out) const {
  std::fill_n(out, JoinedSound::kQuantum, 0.0F);
  for (size_t n = 0; n < places.size(); n++) {
    if (!(heard >> n & 1)) continue;
    const Exception* const exception = alone ? Find(places[n].input->id) : nullptr;
    const GainRamp::Step step = exception ? exception->step : GainRamp::Step{1, 1};
    AddScaled(places[n].sound.data(), JoinedSound::kQuantum, step, out);
  }
  if (listens_step_.unchanged()) return;
  float scaled[JoinedSound::kQuantum] = {};
  AddScaled(out, JoinedSound::kQuantum, listens_step_, scaled);
  std::copy_n(scaled, JoinedSound::kQuantum, out);
}

// An exception that is over is forgotten.
void MixerMember::Advance() {
  listens_step_ = listens.Advance();
  bool over = false;
  for (Exception& one : exceptions_) {
    one.step = one.gain.Advance();
    over = over || one.step.unchanged();
  }
  if (!over) return;
  exceptions_.erase(std::remove_if(exceptions_.begin(), exceptions_.end(),
                                   [](const Exception& one) { return one.step.unchanged(); }),
                    exceptions_.end());
}

bool MixerMember::ducks() const {
  if (voice != VoiceMode::kDucked || !stream_) return false;
  return stream_->queue().QueuedFrames() > 0 || duck_.moves() || duck_.target() != 1;
}

// The queue's mutex is held for a copy of one frame.
bool MixerMember::DecodeVoice() {
  if (stream_->faded() || !stream_->queue().LookAtNext(&voice_)) return false;
  if (!voice_decoder_) voice_decoder_ = VoiceDecoder::Make(sound->codec(), JoinedSound::kRate);
  const size_t samples = sound->samples();
  const std::vector<uint8_t>& payload = voice_.payload;
  if (!voice_decoder_ || voice_decoder_->SamplesIn(payload.data(), payload.size()) != samples) return false;
  return voice_decoder_->Decode(payload.data(), payload.size(), voice_sound_.data()) == samples;
}

size_t MixerMember::EncodeDucked(uint64_t* replaces) {
  const size_t samples = sound->samples();
  const bool speaks = DecodeVoice();
  *replaces = speaks ? voice_.number : JoinedSound::kReplacesNothing;
  if (!speaks) std::fill_n(voice_sound_.begin(), samples, 0.0F);
  duck_.Set(speaks ? kDucked : 1);
  const float* const mix = output.Last(samples);
  for (size_t at = 0; at < samples; at += JoinedSound::kQuantum) {
    AddScaled(mix + at, JoinedSound::kQuantum, duck_.Advance(), voice_sound_.data() + at);
  }
  for (size_t n = 0; n < samples; n++)
    voice_sound_[n] = std::clamp(voice_sound_[n], -Limiter::kMost, Limiter::kMost);
  return output.EncodeThese(voice_sound_.data(), *sound);
}

}  // namespace parley
