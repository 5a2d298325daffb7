// A recording on its way to a voice: in bounded parts, between frames of those
// who speak already.
#ifndef PARLEY_RUNTIME_VOICE_WORK_H_
#define PARLEY_RUNTIME_VOICE_WORK_H_

#include <memory>
#include <string>
#include <vector>

#include "model/codec_decoder.h"
#include "model/voice_encoder.h"
#include "runtime/frame_model.h"
#include "runtime/voice_store.h"

namespace parley::runtime {

class VoiceWork {
 public:
  // Encoder and decoder outlive it.
  VoiceWork(model::VoiceEncoder& encoder, model::CodecDecoder& decoder, std::shared_ptr<const Recording> recording);

  const std::string& hash() const { return recording_->hash; }
  // The next part. kReady: Finished() is the voice. kRefused with `problem` set: the recording cannot be used.
  VoiceResult Advance(std::string* problem);
  std::shared_ptr<Voice> Finished() { return std::move(voice_); }

 private:
  enum class Part : uint8_t { kRate, kSpeaker, kCodes, kCodecState };

  VoiceResult DecodeSome();

  model::VoiceEncoder& encoder_;
  model::CodecDecoder& decoder_;
  const std::shared_ptr<const Recording> recording_;
  Part part_ = Part::kRate;
  std::vector<float> samples_;  // at the encoder's rate
  model::VoicePrompt prompt_;
  std::unique_ptr<model::CodecState> codec_;
  size_t decoded_ = 0;  // frames
  std::shared_ptr<Voice> voice_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_VOICE_WORK_H_
