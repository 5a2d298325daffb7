#include "runtime/live_recognition.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/recognition/quiet_splits.h"

namespace parley::runtime {
namespace {

constexpr size_t kSearch = model::QuietSplits::kSearch;
constexpr size_t kHop = 160;  // samples of a frame

}  // namespace

LiveRecognition::LiveRecognition(StreamId id, RecognitionRequest request, std::string language,
                                 model::RecognitionPrompt prompt, std::shared_ptr<SoundReader> reader,
                                 std::shared_ptr<TextSink> sink, const RecognitionSetup& setup,
                                 Clock::time_point now)
    : Recognition(id, std::move(request), std::move(reader), std::move(sink), now),
      setup_(setup),
      language_(std::move(language)),
      prompt_(std::move(prompt)),
      input_(this->request()) {
  if (!this->request().gated) BeginTurn(0);
}

size_t LiveRecognition::Bytes() const {
  size_t bytes = input_.Bytes() + kept_.capacity() * sizeof(float);
  for (const auto& one : segments_) bytes += one->stream->Bytes() + one->last.capacity() * sizeof(float);
  return bytes;
}

std::shared_ptr<TextSink> LiveRecognition::Leave(Clock::time_point now, RecognitionEnd* end) {
  segments_.clear();
  return Recognition::Leave(now, end);
}

// --- sound

bool LiveRecognition::Look(Clock::time_point now, const Room&) {
  if (ending()) return false;
  std::string problem;
  if (!input_.Read(reader(), &problem)) {
    EndWith(Outcome::kBadRequest, std::move(problem));
    return true;
  }
  bool busy = input_.HandOver(
      reader(), [this] { return !ending() && state_ != State::kEnding; },
      [this](const std::vector<float>& samples) { TakeSound(samples); },
      [this, now](TurnOrder order) { Obey(order, now); });
  if (!ending() && state_ != State::kEnding && !sound_ended_ && input_.Finished(reader())) {
    sound_ended_ = true;
    Obey(TurnOrder::kEnd, now);
    if (state_ == State::kWaiting) EndWith(Outcome::kDone, "");
    busy = true;
  }
  return BeginDuePass(now) || busy;
}

void LiveRecognition::TakeSound(const std::vector<float>& samples) {
  taken_ += samples.size();
  if (state_ == State::kSpeaking) return AddToSegment(samples.data(), samples.size());
  kept_.insert(kept_.end(), samples.begin(), samples.end());
  // So long a pause is none: somebody forgot to end the turn.
  if (state_ == State::kPaused && kept_.size() >= kLongest) return GoOn();
  if (state_ == State::kPaused || kept_.size() <= kPreRoll) return;
  kept_.erase(kept_.begin(), kept_.end() - static_cast<ptrdiff_t>(kPreRoll));
}

void LiveRecognition::OpenSegment(uint64_t first) {
  auto stream = std::make_unique<model::RecognitionStream>(*setup_.model, prompt_.head, setup_.cache_format);
  model::LiveTranscript transcript(setup_.model->checkpoint().tokenizer(), language_);
  segments_.push_back(
      std::make_unique<Segment>(Segment{std::move(stream), std::move(transcript), first, {}}));
}

void LiveRecognition::AddToSegment(const float* samples, size_t count) {
  Segment& segment = *segments_.back();
  segment.is_settled = false;
  segment.stream->Push(samples, count);
  energy_.Push(samples, count);
  segment.last.insert(segment.last.end(), samples, samples + count);
  if (segment.last.size() > 2 * kSearch)
    segment.last.erase(segment.last.begin(), segment.last.end() - static_cast<ptrdiff_t>(kSearch));
  if (segment.stream->samples() >= kLongest) CutLongSegment();
}

// The next segment begins at the cut. The features of both segments see across it.
void LiveRecognition::CutLongSegment() {
  Segment& segment = *segments_.back();
  const size_t searched = std::min(segment.last.size(), kSearch), all = segment.stream->samples();
  const float* const from = segment.last.data() + segment.last.size() - searched;
  const size_t place = model::QuietestPlace(from, searched), cut = all - searched + place;
  const std::vector<float> rest(from + place, from + searched);
  segment.is_closed = true;
  segment.most_frames = cut / kHop;
  segment.last = {};
  if (segments_.size() == 1 && pass_ != PassKind::kNone) DropPass();
  OpenSegment(segment.first + cut);
  AddToSegment(rest.data(), rest.size());
}

// --- turns

void LiveRecognition::BeginTurn(uint64_t first) {
  state_ = State::kSpeaking;
  turn_first_ = first;
  energy_ = {};
  OpenSegment(first);
  const std::vector<float> kept = std::exchange(kept_, {});
  AddToSegment(kept.data(), kept.size());
}

void LiveRecognition::Obey(TurnOrder order, Clock::time_point now) {
  const bool begins = order == TurnOrder::kBegin || order == TurnOrder::kResume;
  if (state_ == State::kWaiting) {
    if (order == TurnOrder::kBegin) BeginTurn(taken_ - kept_.size());
  } else if (state_ == State::kPaused && begins) {
    GoOn();
  } else if (state_ == State::kSpeaking && order == TurnOrder::kPause) {
    state_ = State::kPaused;
    final_due_ = now;
    if (pass_ == PassKind::kPartial) DropPass();
  } else if (order == TurnOrder::kEnd) {
    if (state_ == State::kSpeaking) final_due_ = now;
    if (pass_ == PassKind::kPartial) DropPass();
    state_ = State::kEnding;
    ReportIfOver(now);
  }
}

// The pause was none of the turn's end. If its text is there and long enough, it stays.
void LiveRecognition::GoOn() {
  state_ = State::kSpeaking;
  Segment& segment = *segments_.back();
  if (pass_ == PassKind::kFinal && segments_.size() == 1) DropPass();
  if (segment.is_settled && segment.stream->samples() >= kPauseEnds) {
    CloseSegment();
    OpenSegment(taken_ - kept_.size());
  }
  const std::vector<float> kept = std::exchange(kept_, {});
  AddToSegment(kept.data(), kept.size());
}

// The first segment's text is fixed.
void LiveRecognition::CloseSegment() {
  const std::unique_ptr<Segment> segment = std::move(segments_.front());
  segments_.erase(segments_.begin());
  texts_.push_back(segment->transcript.text());
  languages_.push_back(segment->transcript.language());
}

void LiveRecognition::ReportIfOver(Clock::time_point now) {
  if (state_ != State::kEnding || segments_.size() != 1 || !segments_.back()->is_settled) return;
  const uint64_t end = segments_.back()->first + segments_.back()->stream->samples();
  const bool has_sound = end > turn_first_ || turn_ == 0;
  CloseSegment();
  RecognisedText text;
  text.part = turn_;
  text.final = true;
  text.language = model::JoinLanguages(languages_);
  text.begin_seconds = SecondsOf(turn_first_);
  text.end_seconds = SecondsOf(end);
  text.text = WithoutEcho(model::JoinTexts(texts_), last_text_,
                          {text.end_seconds - text.begin_seconds, energy_.HasSpeech()});
  text.stable = text.text.size();
  counts_.sound_seconds += text.end_seconds - text.begin_seconds;
  if (has_sound) Report(text), turn_++;
  last_text_ = text.text;
  texts_.clear();
  languages_.clear();
  reported_.clear();
  state_ = State::kWaiting;
  next_partial_ = now;
  if (sound_ended_) return EndWith(Outcome::kDone, "");
  if (!request().gated) BeginTurn(taken_ - kept_.size());
}

// --- passes

bool LiveRecognition::BeginDuePass(Clock::time_point now) {
  if (pass_ != PassKind::kNone || segments_.empty()) return false;
  const Segment& segment = *segments_.front();
  const bool ends = segment.is_closed || state_ == State::kPaused || state_ == State::kEnding;
  if (ends && !segment.is_settled) return BeginPass(PassKind::kFinal, now);
  const auto least = static_cast<size_t>(setup_.least_interval / std::chrono::nanoseconds(1)) / 1000 *
                     SoundReader::kRate / 1'000'000;
  const bool has_news = segment.stream->samples() >= segment.recognised + least;
  if (state_ != State::kSpeaking || !request().partials || now < next_partial_ || !has_news) return false;
  return BeginPass(PassKind::kPartial, now);
}

bool LiveRecognition::BeginPass(PassKind kind, Clock::time_point now) {
  Segment& segment = *segments_.front();
  model::Pass pass;
  pass.last = model::LastFrame::kFilled;
  pass.most_frames = segment.most_frames;
  pass.tail = prompt_.tail;
  const std::vector<int32_t> fixed = segment.transcript.Fixed();
  pass.tail.insert(pass.tail.end(), fixed.begin(), fixed.end());
  pass.draft = segment.transcript.Draft();
  pass.max_new_tokens = MostIdsOf(segment.stream->samples());
  pass.cuts_loops = true;
  offered_ = pass.draft.size();
  segment.recognised = segment.stream->samples();
  pass_began_ = now;
  try {
    if (segment.stream->BeginPass(std::move(pass))) {
      pass_ = kind;
      return true;
    }
  } catch (const std::length_error& error) {
    EndWith(Outcome::kTooLarge, error.what());
    return true;
  }
  // Too little sound for a text.
  if (kind == PassKind::kFinal) Settle(now);
  return true;
}

void LiveRecognition::DropPass() {
  pass_ = PassKind::kNone;
  counts_.dropped++;
  segments_.front()->recognised = 0;
}

void LiveRecognition::AddWanted(std::vector<WantedPass>* wanted) {
  if (pass_ == PassKind::kNone || ending()) return;
  const bool is_final = pass_ == PassKind::kFinal;
  wanted->push_back({segments_.front()->stream.get(), this, Rank::kLiveText, is_final,
                     is_final ? final_due_ : pass_began_});
}

void LiveRecognition::Advanced(model::RecognitionStream* stream, Clock::time_point now) {
  if (pass_ == PassKind::kNone || stream->turn() != model::RecognitionStream::Turn::kDone) return;
  Segment& segment = *segments_.front();
  const PassKind kind = std::exchange(pass_, PassKind::kNone);
  if (!PassIsGood(*stream, offered_)) return;
  segment.transcript.Take(stream->generated(), segment.recognised);
  // At most half of the time goes into texts that are not final.
  if (kind == PassKind::kPartial) next_partial_ = now + (now - pass_began_);
  if (kind == PassKind::kFinal) Settle(now);
  ReportPartial();
}

// All of the first segment was recognised as final.
void LiveRecognition::Settle(Clock::time_point now) {
  segments_.front()->is_settled = true;
  if (segments_.front()->is_closed) CloseSegment();
  ReportIfOver(now);
  ReportPause();
}

void LiveRecognition::ReportPartial() {
  if (!request().partials || ending() || segments_.empty() || state_ == State::kWaiting) return;
  const RecognisedText text = TextSoFar();
  const std::string shown = text.text + '\0' + std::to_string(text.stable);
  if (text.text.empty() || shown == reported_) return;
  reported_ = shown;
  Report(text);
}

// The text of a pause is told also if it is empty, or is the last partial text.
void LiveRecognition::ReportPause() {
  const bool is_whole = segments_.size() == 1 && segments_.back()->is_settled;
  if (!request().pauses || ending() || state_ != State::kPaused || !is_whole) return;
  RecognisedText text = TextSoFar();
  text.pause = true;
  Report(text);
}

RecognisedText LiveRecognition::TextSoFar() const {
  const Segment& segment = *segments_.front();
  std::vector<std::string> texts = texts_, stable = texts_;
  texts.push_back(segment.transcript.text());
  stable.push_back(segment.transcript.stable());
  RecognisedText text;
  text.part = turn_;
  text.text = model::JoinTexts(texts);
  text.stable = model::JoinTexts(stable).size();
  std::vector<std::string> languages = languages_;
  languages.push_back(segment.transcript.language());
  text.language = model::JoinLanguages(languages);
  text.begin_seconds = SecondsOf(turn_first_);
  text.end_seconds = SecondsOf(segment.first + segment.recognised);
  return text;
}

}  // namespace parley::runtime
