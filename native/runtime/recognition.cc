#include "runtime/recognition.h"

#include <exception>
#include <utility>

#include "model/text/unicode.h"
#include "runtime/frame_model.h"

namespace parley::runtime {
size_t RecognitionSetup::BytesOf(double seconds) const {
  constexpr double kTokens = 2.0 * model::kChunkTokens;
  const auto bands = static_cast<size_t>(model->config().encoder.mel_bands);
  const size_t second = model::kChunkFrames * bands + SoundReader::kRate;
  return model->CacheBytes(static_cast<size_t>(kTokens * seconds), cache_format) +
         static_cast<size_t>(seconds * static_cast<double>(second * sizeof(float)));
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

std::string Recognition::WithoutEcho(std::string text, const std::string& last,
                                     model::RecognisedSound sound) {
  const auto echo = model::FindEcho(text, request_.context, last, sound);
  if (!echo) return text;
  RanAway(std::string(model::RunawayName(echo->kind)) + " was cut out of the text of " +
          std::to_string(sound.seconds) + " s of sound");
  text.resize(echo->keep);
  return std::string(model::Stripped(text));
}

}  // namespace parley::runtime
