#include "runtime/pocket_voice_work.h"

#include <algorithm>
#include <utility>

namespace parley::runtime {
namespace {

// Rows that the backbone reads at a time: with the published sizes they take about as long as a piece of the
// encoder.
constexpr size_t kRowsAtATime = 12;

// Samples of the recording that are used, at its own rate.
size_t UsedSamples(const Recording& recording) {
  const size_t all = recording.samples.size();
  if (recording.rate == 0) return all;  // it will be refused
  return std::min(all, model::PocketVoiceEncoder::kMaxSeconds * recording.rate);
}

}  // namespace

PocketVoiceWork::PocketVoiceWork(model::PocketVoiceEncoder& encoder, model::PocketModel& speech,
                                 std::shared_ptr<const Recording> recording)
    : encoder_(encoder),
      speech_(speech),
      recording_(std::move(recording)),
      bytes_(BytesFor(encoder, speech, *recording_)) {
  const std::vector<float>& all = recording_->samples;
  const size_t used = UsedSamples(*recording_);
  if (used < all.size()) beginning_.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(used));
  preparation_.emplace(encoder.Rules(), used < all.size() ? beginning_ : all, recording_->rate);
}

size_t PocketVoiceWork::BytesFor(const model::PocketVoiceEncoder& encoder, const model::PocketModel& speech,
                                 const Recording& recording) {
  if (recording.rate == 0) return 0;
  const uint32_t rate = encoder.Rules().sample_rate;
  // The filter rounds up, which gives one sample more at most.
  const size_t samples = model::ResampledCount(UsedSamples(recording), recording.rate, rate) + 1;
  return encoder.WorkBytes(samples) + speech.StreamBytes(encoder.PositionsOf(samples));
}

Result<std::shared_ptr<Voice>> PocketVoiceWork::Advance() {
  if (preparation_) {
    const Result<> prepared = Prepare();
    if (!prepared) return prepared.reason();
  } else if (run_) {
    Encode();
  } else {
    ReadRows();
  }
  if (state_ == nullptr || state_->position() < state_->capacity()) return nullptr;
  auto voice = std::make_shared<PocketVoiceState>();
  voice->bytes = speech_.StreamBytes(state_->capacity());
  voice->state = std::move(state_);
  return voice;
}

Result<> PocketVoiceWork::Prepare() {
  if (preparation_->Advance()) return Done{};
  if (!preparation_->problem().empty()) return Problem{preparation_->problem()};
  run_.emplace(encoder_, preparation_->TakeSamples());
  preparation_.reset();
  return Done{};
}

void PocketVoiceWork::Encode() {
  if (run_->Advance()) return;
  rows_ = run_->rows();
  run_.reset();
  state_ = speech_.NewVoice(rows_.size() / speech_.backbone().width());
}

void PocketVoiceWork::ReadRows() {
  const auto done = static_cast<size_t>(state_->position());
  const size_t some = std::min(kRowsAtATime, state_->capacity() - done);
  speech_.AppendVoice(state_.get(), rows_.data() + done * speech_.backbone().width(), some);
}

}  // namespace parley::runtime
