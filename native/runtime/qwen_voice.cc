#include "runtime/qwen_voice.h"

#include <algorithm>
#include <utility>

#include "model/shared/preparation.h"

namespace parley::runtime {
namespace {

// Frames passed through the decoder at a time. With the published sizes one takes 75 to 95 ms of one
// processor. Twelve at a time would save a fifth, but block all streams for a second.
constexpr size_t kFramesAtATime = 1;

}  // namespace

QwenVoiceWork::QwenVoiceWork(model::VoiceEncoder& encoder, model::CodecDecoder& decoder,
                             std::shared_ptr<const Recording> recording)
    : encoder_(encoder),
      decoder_(decoder),
      recording_(std::move(recording)),
      bytes_(BytesFor(encoder, decoder, *recording_)) {}

size_t QwenVoiceWork::BytesFor(const model::VoiceEncoder& encoder, const model::CodecDecoder& decoder,
                               const Recording& recording) {
  const size_t most = encoder.max_samples();
  const auto rate = static_cast<uint32_t>(encoder.sample_rate());
  const size_t samples =
      recording.rate > 0 ? model::ResampledCount(recording.samples.size(), recording.rate, rate) : 0;
  return encoder.WorkBytes(std::min(samples, most)) + decoder.StateBytes();
}

Result<std::shared_ptr<Voice>> QwenVoiceWork::Advance() {
  if (encoding_ == nullptr && !encoded_) {
    const Result<> prepared = Prepare();
    if (!prepared) return prepared.reason();
  } else if (!encoded_) {
    Encode();
  } else if (decoded_ < frames_) {
    DecodeSome();
  }
  if (!encoded_ || decoded_ < frames_) return nullptr;
  auto voice = std::make_shared<QwenVoice>();
  voice->bytes = prompt_.speaker.size() * sizeof(float) + prompt_.codes.size() * sizeof(int32_t);
  if (codec_ != nullptr) voice->bytes += decoder_.StateBytes();
  voice->prompt = std::make_shared<const model::VoicePrompt>(std::move(prompt_));
  voice->codec = std::move(codec_);
  return voice;
}

Result<> QwenVoiceWork::Prepare() {
  if (preparation_ == nullptr) preparation_ = encoder_.Prepare(recording_->samples, recording_->rate);
  if (preparation_->Advance()) return Done{};
  if (!preparation_->problem().empty()) return Problem{preparation_->problem()};
  std::string problem;
  encoding_ = encoder_.Begin(preparation_->TakeSamples(), !recording_->text.empty(), &problem);
  preparation_.reset();
  if (encoding_ == nullptr) return Problem{problem};
  return Done{};
}

void QwenVoiceWork::Encode() {
  if (!encoding_->Advance()) TakeCodes();
}

void QwenVoiceWork::TakeCodes() {
  prompt_.speaker = encoding_->speaker();
  prompt_.codes = encoding_->codes();
  prompt_.text = recording_->text;
  encoding_.reset();
  encoded_ = true;
  frames_ = prompt_.codes.size() / encoder_.code_groups();
  if (frames_ > 0) codec_ = decoder_.NewState();
}

void QwenVoiceWork::DecodeSome() {
  const size_t some = std::min(kFramesAtATime, frames_ - decoded_);
  const int32_t* const codes = prompt_.codes.data() + decoded_ * encoder_.code_groups();
  const model::CodecDecoder::Job job = {codec_.get(), codes, some, nullptr};
  decoder_.Decode(&job, 1);
  decoded_ += some;
}

}  // namespace parley::runtime
