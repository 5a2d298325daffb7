#include "runtime/alignment_recognition.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/recognition/quiet_splits.h"

namespace parley::runtime {
namespace {

constexpr size_t kAlignmentLook = SoundReader::kRate * 4;  // samples
constexpr size_t kWindow = model::Alignment::kMostSamples;
constexpr int64_t kWindowMs = int64_t{kWindow} * 1000 / SoundReader::kRate;
// Words of a window that other words follow are certain up to some seconds before its end; it ends at the
// longest gap of its last part before that.
constexpr int64_t kUncertainMs = 20'000, kLastPartMs = 120'000;
constexpr size_t kMostWordsASecond = 8;
constexpr size_t kSpareIds = 16;

}  // namespace

AlignmentRecognition::AlignmentRecognition(StreamId id, RecognitionRequest request,
                                           std::vector<std::string> words,
                                           std::shared_ptr<SoundReader> reader,
                                           std::shared_ptr<TextSink> sink, const RecognitionSetup& setup,
                                           Clock::time_point now)
    : Recognition(id, std::move(request), std::move(reader), std::move(sink), now),
      setup_(setup),
      began_(now),
      words_(std::move(words)) {
  for (const std::string& word : words_) {
    std::vector<int32_t> ids;
    std::string problem;
    if (!setup.model->checkpoint().tokenizer().Encode(word, model::Literals::kText, &ids, &problem))
      EndWith(Outcome::kBadRequest, "the words: " + problem);
    ids_.push_back(ids.size() + 2);
  }
}

size_t AlignmentRecognition::Bytes() const {
  const size_t bytes = samples_.capacity() * sizeof(float);
  if (window_ == nullptr) return bytes;
  if (!is_begun_) return bytes + setup_.BytesOf(SecondsOf(std::min(samples_.size(), kWindow)));
  return bytes + const_cast<model::Alignment&>(*window_).stream()->Bytes();
}

std::shared_ptr<TextSink> AlignmentRecognition::Leave(Clock::time_point now, RecognitionEnd* end) {
  window_.reset();
  is_begun_ = false;
  return Recognition::Leave(now, end);
}

bool AlignmentRecognition::Look(Clock::time_point, const Room& room) {
  if (ending() || is_begun_) return false;
  if (window_ != nullptr) return BeginWindow();
  if (!room.is_next && room.bytes < setup_.BytesOf(SecondsOf(samples_.size() + kAlignmentLook))) return false;
  std::string problem;
  const size_t before = samples_.size();
  // One sample more than a window says that the sound goes on.
  if (!finished_ && samples_.size() <= kWindow) {
    if (!reader().Read(std::min(kAlignmentLook, kWindow + 1 - samples_.size()), &samples_, &problem)) {
      EndWith(Outcome::kBadRequest, std::move(problem));
      return true;
    }
    finished_ = reader().ended();
    if (finished_ && reader().samples() < model::MelFeatures::kLeastSamples) {
      EndWith(Outcome::kBadRequest, reader().samples() == 0
                                        ? "the sound is empty"
                                        : "the sound is shorter than 13 ms, too short for speech");
      return true;
    }
  }
  if (!finished_ && samples_.size() <= kWindow) return samples_.size() > before;
  return MakeWindow();
}

// As many words as the window can hold.
size_t AlignmentRecognition::WordsOfWindow() const {
  const size_t samples = std::min(samples_.size(), kWindow);
  const auto positions = static_cast<size_t>(setup_.model->config().positions);
  const size_t taken = model::AudioTokensOf(samples / 160) + kSpareIds;
  size_t ids = 0, count = 0;
  const size_t most = is_last_ ? words_.size() : kMostWordsASecond * samples / SoundReader::kRate + 1;
  for (size_t n = next_word_; n < words_.size() && count < most; n++, count++) {
    ids += ids_[n];
    if (taken + ids > positions) break;
  }
  return count;
}

bool AlignmentRecognition::MakeWindow() {
  is_last_ = finished_ && samples_.size() <= kWindow;
  std::vector<float> sound(samples_.begin(),
                           samples_.begin() + static_cast<ptrdiff_t>(std::min(samples_.size(), kWindow)));
  model::Level(&sound);
  const size_t count = WordsOfWindow();
  if (is_last_ && next_word_ + count < words_.size()) {
    EndWith(Outcome::kTooLarge, "the sound is too short for so many words: " + std::to_string(words_.size()));
    return true;
  }
  const auto first = words_.begin() + static_cast<ptrdiff_t>(next_word_);
  std::vector<std::string> words(first, first + static_cast<ptrdiff_t>(count));
  try {
    window_ = std::make_unique<model::Alignment>(*setup_.model, std::move(words), sound, setup_.cache_format);
  } catch (const std::invalid_argument& error) {
    EndWith(Outcome::kBadRequest, error.what());
  }
  return true;
}

bool AlignmentRecognition::BeginWindow() {
  try {
    is_begun_ = window_->Begin(kFramesALook);
  } catch (const std::length_error& error) {
    EndWith(Outcome::kTooLarge, error.what());
  }
  if (is_begun_ && !window_->begun()) TakeTimes(window_->Times());
  return true;
}

void AlignmentRecognition::AddWanted(std::vector<WantedPass>* wanted) {
  if (!is_begun_ || ending()) return;
  wanted->push_back({window_->stream(), this, Rank::kFiles, false, began_});
}

void AlignmentRecognition::Advanced(model::RecognitionStream* stream, Clock::time_point) {
  if (!is_begun_ || stream->turn() != model::RecognitionStream::Turn::kDone) return;
  if (!PassIsGood(*stream, 0)) return;
  TakeTimes(window_->Times());
}

size_t AlignmentRecognition::Certain(const std::vector<model::TimedWord>& words, int64_t* next_ms) const {
  const int64_t last = kWindowMs - kUncertainMs;
  size_t count = 0;
  int64_t widest = -1;
  for (size_t n = 0; n + 1 < words.size() && words[n].end_ms <= last; n++) {
    const int64_t gap = words[n + 1].start_ms - words[n].end_ms;
    const bool is_late = words[n].end_ms >= last - kLastPartMs;
    if (widest >= 0 && (!is_late || gap < widest)) continue;
    if (is_late) widest = gap;
    count = n + 1;
    *next_ms = std::min(words[n].end_ms + std::max<int64_t>(gap, 0) / 2, last);
  }
  if (count == 0 || *next_ms == 0) *next_ms = kWindowMs / 2;  // nobody speaks in the first half
  return count;
}

void AlignmentRecognition::TakeTimes(const std::vector<model::TimedWord>& words) {
  int64_t next_ms = 0;
  const size_t count = is_last_ ? words.size() : Certain(words, &next_ms);
  const double offset = static_cast<double>(first_) / SoundReader::kRate;
  std::vector<AlignedWord> aligned;
  for (size_t n = 0; n < count; n++) {
    aligned.push_back({words[n].word, offset + static_cast<double>(words[n].start_ms) / 1000,
                       offset + static_cast<double>(words[n].end_ms) / 1000});
  }
  window_.reset();
  is_begun_ = false;
  counts_.sound_seconds += static_cast<double>(is_last_ ? samples_.size() : kWindow) / SoundReader::kRate;
  next_word_ += count;
  if (!aligned.empty()) Report(aligned);
  if (is_last_ || next_word_ == words_.size()) return EndWith(Outcome::kDone, "");
  const auto passed = static_cast<size_t>(next_ms) * SoundReader::kRate / 1000;
  samples_.erase(samples_.begin(),
                 samples_.begin() + static_cast<ptrdiff_t>(std::min(passed, samples_.size())));
  first_ += passed;
}

}  // namespace parley::runtime
