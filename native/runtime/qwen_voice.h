// A cloned voice of Qwen3-TTS, and its making. For the engine's thread alone.
#ifndef PARLEY_RUNTIME_QWEN_VOICE_H_
#define PARLEY_RUNTIME_QWEN_VOICE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"
#include "model/speech/voice_encoder.h"
#include "runtime/voice_store.h"

namespace parley::runtime {

// Data computed once for a voice and shared by its streams.
struct QwenVoice final : Voice {
  std::shared_ptr<const model::VoicePrompt> prompt;
  std::shared_ptr<const model::CodecState> codec;  // after the recording's codes; null: there are none
  // The first rows of every prompt that begins alike, by what else they depend on: the language.
  std::map<std::string, std::shared_ptr<const model::PromptPrefix>> prefixes;
};

// Encodes a recording into a voice, in bounded parts between the frames of live streams.
class QwenVoiceWork final : public VoiceWork {
 public:
  // Encoder and decoder outlive it.
  QwenVoiceWork(model::VoiceEncoder& encoder, model::CodecDecoder& decoder,
                std::shared_ptr<const Recording> recording);

  // Upper bound of the model's memory in bytes, during the encoding and for the voice.
  static size_t BytesFor(const model::VoiceEncoder& encoder, const model::CodecDecoder& decoder,
                         const Recording& recording);

  size_t bytes() const override { return bytes_; }
  Result<std::shared_ptr<Voice>> Advance() override;

 private:
  Result<> Prepare();
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
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_QWEN_VOICE_H_
