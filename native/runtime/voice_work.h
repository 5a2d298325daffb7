// Encodes a recording into a voice, in bounded parts between the frames of live streams.
#ifndef PARLEY_RUNTIME_VOICE_WORK_H_
#define PARLEY_RUNTIME_VOICE_WORK_H_

#include <memory>
#include <string>
#include <vector>

#include "model/speech/codec_decoder.h"
#include "model/speech/voice_encoder.h"
#include "runtime/frame_model.h"
#include "runtime/voice_store.h"

namespace parley::runtime {

class VoiceWork {
 public:
  // Encoder and decoder outlive it.
  VoiceWork(model::VoiceEncoder& encoder, model::CodecDecoder& decoder,
            std::shared_ptr<const Recording> recording);

  // Upper bound of the model's memory in bytes, during the encoding and for the voice.
  static size_t BytesFor(const model::VoiceEncoder& encoder, const model::CodecDecoder& decoder,
                         const Recording& recording);

  const std::string& hash() const { return recording_->hash; }
  size_t bytes() const { return bytes_; }

  // Does the next part. kReady: voice() returns the voice. kRefused: `problem` says why the recording cannot
  // be used.
  VoiceResult Advance(std::string* problem);
  const std::shared_ptr<Voice>& voice() const { return voice_; }

 private:
  bool Prepare(std::string* problem);
  void Encode();
  void TakeCodes();
  void DecodeSome();

  model::VoiceEncoder& encoder_;
  model::CodecDecoder& decoder_;
  const std::shared_ptr<const Recording> recording_;
  const size_t bytes_;
  // The encoding begins after the preparation has ended.
  std::unique_ptr<model::Preparation> preparation_;
  std::unique_ptr<model::VoiceEncoding> encoding_;
  model::VoicePrompt prompt_;
  std::unique_ptr<model::CodecState> codec_;
  size_t frames_ = 0, decoded_ = 0;
  bool encoded_ = false;
  std::shared_ptr<Voice> voice_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_VOICE_WORK_H_
