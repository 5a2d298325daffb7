#include "runtime/voice_work.h"

#include <algorithm>
#include <utility>

#include "model/resampling.h"

namespace parley::runtime {
namespace {

constexpr size_t kFramesAtATime = 12;  // through the decoder, whose state is kept: as in a stream
constexpr uint32_t kLowestRate = 4000, kHighestRate = 384'000;  // Hz

}  // namespace

VoiceWork::VoiceWork(model::VoiceEncoder& encoder, model::CodecDecoder& decoder,
                     std::shared_ptr<const Recording> recording)
    : encoder_(encoder), decoder_(decoder), recording_(std::move(recording)) {}

VoiceResult VoiceWork::Advance(std::string* problem) {
  switch (part_) {
    case Part::kRate:
      if (recording_->rate < kLowestRate || recording_->rate > kHighestRate) {
        *problem = "the recording has " + std::to_string(recording_->rate) + " samples a second; " +
                   std::to_string(kLowestRate) + " to " + std::to_string(kHighestRate) + " can be read";
        return VoiceResult::kRefused;
      }
      if (recording_->samples.size() / recording_->rate >= model::VoiceEncoder::kMaxSeconds + 1) {
        *problem = "the recording is longer than " + std::to_string(model::VoiceEncoder::kMaxSeconds) + " s";
        return VoiceResult::kRefused;
      }
      samples_ = model::Resampled(recording_->samples, recording_->rate, static_cast<uint32_t>(encoder_.sample_rate()));
      part_ = Part::kSpeaker;
      return VoiceResult::kWorking;
    case Part::kSpeaker:
      if (!encoder_.Speaker(samples_, &prompt_.speaker, problem)) return VoiceResult::kRefused;
      part_ = recording_->text.empty() ? Part::kCodecState : Part::kCodes;
      return VoiceResult::kWorking;
    case Part::kCodes:
      if (!encoder_.Codes(samples_, &prompt_.codes, problem)) return VoiceResult::kRefused;
      prompt_.text = recording_->text;
      codec_ = decoder_.NewState();
      part_ = Part::kCodecState;
      return VoiceResult::kWorking;
    case Part::kCodecState: break;
  }
  return DecodeSome();
}

VoiceResult VoiceWork::DecodeSome() {
  const size_t groups = decoder_.code_groups();
  const size_t frames = prompt_.codes.size() / groups;
  if (decoded_ < frames) {
    const size_t some = std::min(kFramesAtATime, frames - decoded_);
    const model::CodecDecoder::Job job = {codec_.get(), prompt_.codes.data() + decoded_ * groups, some, nullptr};
    decoder_.Decode(&job, 1);
    decoded_ += some;
    if (decoded_ < frames) return VoiceResult::kWorking;
  }
  voice_ = std::make_shared<Voice>();
  voice_->bytes = prompt_.speaker.size() * sizeof(float) + prompt_.codes.size() * sizeof(int32_t) +
                  (codec_ != nullptr ? decoder_.StateBytes() : 0);
  voice_->prompt = std::make_shared<const model::VoicePrompt>(std::move(prompt_));
  voice_->codec = std::move(codec_);
  return VoiceResult::kReady;
}

}  // namespace parley::runtime
