#include "runtime/recognition.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "model/recognition/runaway.h"
#include "model/text/unicode.h"
#include "runtime/frame_model.h"

namespace parley::runtime {
namespace {

constexpr size_t kBlockSamples = 4096;

}  // namespace

SoundReader::SoundReader(std::shared_ptr<SoundSource> source,
                         std::shared_ptr<const model::ResamplingTaps> taps)
    : source_(std::move(source)) {
  if (taps != nullptr) resampling_.emplace(std::move(taps));
}

bool SoundReader::Read(size_t most, std::vector<float>* samples, std::string* problem) {
  const size_t before = samples->size();
  while (!ended_ && samples->size() - before < most) {
    piece_.resize(kBlockSamples);
    const size_t count = source_->Read(piece_.data(), kBlockSamples);
    for (size_t n = 0; n < count; n++) {
      if (std::isfinite(piece_[n])) continue;
      *problem = "the sound's sample " + std::to_string(read_ + n) + " is no finite number";
      return false;
    }
    read_ += count;
    if (resampling_) resampling_->Push(piece_.data(), count, samples);
    else samples->insert(samples->end(), piece_.begin(), piece_.begin() + static_cast<ptrdiff_t>(count));
    if (count > 0) continue;
    ended_ = source_->Ended(problem);
    if (!problem->empty()) return false;
    if (ended_ && resampling_) resampling_->Finish(samples);
    break;
  }
  samples_ += samples->size() - before;
  return true;
}

Recognition::Recognition(StreamId id, RecognitionRequest request, std::shared_ptr<SoundReader> reader,
                         std::shared_ptr<TextSink> sink, Clock::time_point now)
    : id_(id),
      request_(std::move(request)),
      reader_(std::move(reader)),
      sink_(std::move(sink)),
      started_(now) {}

void Recognition::EndWith(Outcome outcome, std::string problem) {
  if (ending_) return;
  ending_ = RecognitionEnd{outcome, std::move(problem), 0, 0};
}

std::shared_ptr<TextSink> Recognition::Leave(Clock::time_point now, RecognitionEnd* end) {
  *end = ending_.value_or(RecognitionEnd{});
  end->sound_seconds = static_cast<double>(reader_->samples()) / SoundReader::kRate;
  end->total_ms = std::chrono::duration<double, std::milli>(now - started_).count();
  return std::exchange(sink_, nullptr);
}

void Recognition::Report(const RecognisedText& text) {
  try {
    sink_->Recognised(text);
  } catch (const std::exception& error) {
    EndWith(Outcome::kFailed, std::string("the sink threw: ") + error.what());
  }
}

void Recognition::Report(const std::vector<AlignedWord>& words) {
  try {
    sink_->Aligned(words);
  } catch (const std::exception& error) {
    EndWith(Outcome::kFailed, std::string("the sink threw: ") + error.what());
  }
}

void Recognition::RanAway(const std::string& what) {
  counts_.runaways++;
  try {
    sink_->RanAway(what);
  } catch (const std::exception& error) {
    EndWith(Outcome::kFailed, std::string("the sink threw: ") + error.what());
  }
}

bool Recognition::PassIsGood(const model::RecognitionStream& stream, size_t offered) {
  using End = model::RecognitionStream::End;
  counts_.passes++;
  counts_.ids += stream.generated().size();
  counts_.offered += offered;
  counts_.taken += stream.draft_taken();
  if (stream.end() == End::kBroken) return EndWith(Outcome::kFailed, kLogitsNotFinite), false;
  if (stream.end() == End::kLoop) RanAway("a loop was cut out of the text");
  if (stream.end() == End::kBudget) {
    RanAway("no end after " + std::to_string(stream.generated().size()) + " ids of " +
            std::to_string(stream.samples() / SoundReader::kRate) + " s of sound");
  }
  return true;
}

std::string Recognition::WithoutEcho(std::string text, const std::string& last, double seconds) {
  const auto echo = model::FindEcho(text, request_.context, last, {seconds, true});
  if (!echo) return text;
  RanAway(std::string(model::RunawayName(echo->kind)) + " was cut out of the text of " +
          std::to_string(seconds) + " s of sound");
  text.resize(echo->keep);
  return std::string(model::Stripped(text));
}

}  // namespace parley::runtime
