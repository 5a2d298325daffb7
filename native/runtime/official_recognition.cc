#include "runtime/official_recognition.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace parley::runtime {
namespace {

constexpr size_t kOfficialPreRoll = SoundReader::kRate / 2;
constexpr size_t kMostIds = 512;  // of a step

}  // namespace

OfficialRecognition::OfficialRecognition(StreamId id, RecognitionRequest request, std::string language,
                                         std::shared_ptr<SoundReader> reader, std::shared_ptr<TextSink> sink,
                                         const RecognitionSetup& setup, Clock::time_point now)
    : Recognition(id, std::move(request), std::move(reader), std::move(sink), now),
      setup_(setup),
      language_(std::move(language)),
      input_(this->request()) {
  if (!this->request().gated) BeginTurn();
}

size_t OfficialRecognition::Bytes() const {
  return input_.Bytes() + kept_.capacity() * sizeof(float) +
         (turn_ == nullptr ? 0 : turn_->stream()->Bytes());
}

std::shared_ptr<TextSink> OfficialRecognition::Leave(Clock::time_point now, RecognitionEnd* end) {
  turn_.reset();
  return Recognition::Leave(now, end);
}

void OfficialRecognition::BeginTurn() {
  model::OfficialStreamingRules rules;
  rules.max_new_tokens = kMostIds;
  turn_ = std::make_unique<model::OfficialStreaming>(*setup_.model, request().context, language_, rules,
                                                     setup_.cache_format);
  first_ = taken_ - kept_.size();
  turn_->Push(kept_.data(), kept_.size());
  kept_.clear();
  ends_ = false;
}

bool OfficialRecognition::Look(Clock::time_point now, const Room&) {
  if (ending()) return false;
  std::string problem;
  if (!input_.Read(reader(), &problem)) {
    EndWith(Outcome::kBadRequest, std::move(problem));
    return true;
  }
  bool busy = input_.HandOver(
      reader(), [this] { return !IsEnding(); },
      [this](const std::vector<float>& samples) { TakeSound(samples); },
      [this](TurnOrder order) { Obey(order); });
  if (!IsEnding() && !sound_ended_ && input_.Finished(reader())) {
    sound_ended_ = true;
    Obey(TurnOrder::kEnd);
    if (turn_ == nullptr) EndWith(Outcome::kDone, "");
    busy = true;
  }
  return BeginStep(now) || busy;
}

void OfficialRecognition::TakeSound(const std::vector<float>& samples) {
  taken_ += samples.size();
  if (turn_ != nullptr) return turn_->Push(samples.data(), samples.size());
  kept_.insert(kept_.end(), samples.begin(), samples.end());
  if (kept_.size() > kOfficialPreRoll)
    kept_.erase(kept_.begin(), kept_.end() - static_cast<ptrdiff_t>(kOfficialPreRoll));
}

void OfficialRecognition::Obey(TurnOrder order) {
  if (order == TurnOrder::kBegin && turn_ == nullptr) BeginTurn();
  if (order != TurnOrder::kEnd || turn_ == nullptr || ends_) return;
  ends_ = true;
  turn_->Finish();
}

// True: a step began, or the turn is over.
bool OfficialRecognition::BeginStep(Clock::time_point now) {
  if (turn_ == nullptr || steps_) return false;
  try {
    steps_ = turn_->BeginStep();
  } catch (const std::length_error& error) {
    EndWith(Outcome::kTooLarge, error.what());
    return true;
  }
  step_began_ = now;
  if (steps_ || !ends_) return steps_;
  Tell(true);
  turn_.reset();
  number_++;
  if (sound_ended_) EndWith(Outcome::kDone, "");
  else if (!request().gated) BeginTurn();
  return true;
}

void OfficialRecognition::AddWanted(std::vector<WantedPass>* wanted) {
  if (!steps_ || ending()) return;
  wanted->push_back({turn_->stream(), this, Rank::kLiveText, ends_, step_began_});
}

void OfficialRecognition::Advanced(model::RecognitionStream* stream, Clock::time_point) {
  if (!steps_ || stream->turn() != model::RecognitionStream::Turn::kDone) return;
  steps_ = false;
  if (!PassIsGood(*stream, 0)) return;
  turn_->EndStep();
  if (request().partials) Tell(false);
}

// Nothing of a text that is not final is certain.
void OfficialRecognition::Tell(bool final) {
  const model::Transcript& transcript = turn_->transcript();
  RecognisedText text;
  text.part = number_;
  text.final = final;
  text.text = transcript.text;
  text.stable = final ? text.text.size() : 0;
  text.language = transcript.language;
  text.begin_seconds = SecondsOf(first_);
  text.end_seconds = SecondsOf(first_ + turn_->stream()->samples());
  if (final) counts_.sound_seconds += text.end_seconds - text.begin_seconds;
  if (final && number_ > 0 && turn_->stream()->samples() == 0) return;  // a turn that never began
  Report(text);
}

}  // namespace parley::runtime
