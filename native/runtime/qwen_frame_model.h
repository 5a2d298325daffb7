// Implements FrameModel with Qwen3-TTS: checkpoint, talker and predictor, codec and, for Base models, the
// encoders of recordings.
#ifndef PARLEY_RUNTIME_QWEN_FRAME_MODEL_H_
#define PARLEY_RUNTIME_QWEN_FRAME_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/speech_checkpoint.h"
#include "model/speech/speech_model.h"
#include "model/speech/voice_encoder.h"
#include "runtime/frame_model.h"
#include "runtime/qwen_voice.h"
#include "runtime/text_feed.h"
#include "runtime/voice_store.h"
#include "runtime/warm_up.h"

namespace parley::runtime {

// One generation of Qwen3-TTS: its text as ids, its prompt, and from Begin on the streams of talker and codec
// decoder.
class QwenGeneration final : public Generation {
 public:
  // The checkpoint outlives it. `voice` may be null.
  QwenGeneration(const model::SpeechCheckpoint& checkpoint, const SpeechRequest& request,
                 const model::DrawRules& rules, std::shared_ptr<QwenVoice> voice);

  // Reads the request, its text last. Refused if it does not fit the model.
  Result<Done, Refusal> Read(std::string_view text);

  Result<Done, Refusal> AddText(std::string_view text, bool last) override;
  bool Ready() const override { return !prompt_.rows.empty(); }
  bool Starved() const override { return stream_->Starved(); }
  bool TextEnded() const override { return feed_.ended(); }
  size_t TextTokens() const override { return text_tokens_; }
  size_t PromptRows() const override { return prompt_.rows.size(); }
  size_t PromptLeft() const override { return stream_->prompt_left(); }

  const std::shared_ptr<QwenVoice>& voice() const { return voice_; }
  // Rows of the prompt that do not depend on the text, and the key of what they depend on besides the voice.
  size_t shared_rows() const { return shared_rows_; }
  const std::string& prefix_key() const { return language_; }

  // Throws std::bad_alloc.
  void Begin(model::SpeechModel& model, model::CodecDecoder& decoder, size_t draws);
  model::SpeechStream* stream() const { return stream_.get(); }
  model::CodecState* codec() const { return codec_.get(); }
  std::vector<int32_t>& codes() { return codes_; }  // frames that are not decoded yet

 private:
  Result<model::Prompt> BuildPrompt(const std::vector<int32_t>& text_ids) const;
  Result<> CountNeeded();
  size_t ReferenceFrames() const;

  const model::SpeechCheckpoint& checkpoint_;
  const std::string language_, speaker_, instruction_;
  const bool more_text_;
  model::DrawRules rules_;
  const std::shared_ptr<QwenVoice> voice_;
  TextFeed feed_;
  size_t needed_ = 1;  // text ids, before a prompt can be made whose text goes on
  size_t text_tokens_ = 0;
  std::vector<int32_t> ids_;   // that no prompt and no stream has yet
  model::Prompt other_;        // the same request's with another text
  model::Prompt prompt_;       // no rows: not made yet
  bool text_follows_ = false;  // the prompt's
  size_t shared_rows_ = 0;
  std::unique_ptr<model::SpeechStream> stream_;
  std::unique_ptr<model::CodecState> codec_;
  std::vector<int32_t> codes_;
};

// The facts without device, times and sizes.
EngineFacts FactsOf(const model::SpeechCheckpoint& checkpoint);

// Opens a checkpoint for QwenFrameModel::Make. May throw.
Result<std::unique_ptr<const model::SpeechCheckpoint>> OpenCheckpoint(const std::string& directory,
                                                                      model::PieceRule pieces);

class QwenFrameModel final : public FrameModel {
 public:
  struct Parts {
    model::Quantize quantize = model::Quantize::kNone;
    Format codec = Format::kF32;
    Format cache = Format::kF32;  // keys and values
    size_t max_voices = 0;
  };

  // A problem: the checkpoint of this directory cannot be used. Throws std::bad_alloc. `memory`: bytes
  // available for weights, streams and voices. The kernels outlive it.
  static Result<std::unique_ptr<FrameModel>> Make(std::unique_ptr<const model::SpeechCheckpoint> checkpoint,
                                                  const std::string& directory, const Parts& parts,
                                                  size_t memory, SpeechKernels& kernels);
  ~QwenFrameModel() override;

  const EngineFacts& facts() const override { return facts_; }
  size_t FrameSamples() const override { return codec_->frame_samples(); }
  size_t MostPositions() const override {
    return static_cast<size_t>(checkpoint_->config().talker.positions);
  }
  size_t MostDraws() const override { return static_cast<size_t>(checkpoint_->generation().max_new_tokens); }
  size_t FreeBytes() const override;
  StageTimes Times() const override { return times_; }
  BackendFigures Figures() const override { return kernels_.Figures(); }
  bool Rehearse(bool on) override { return kernels_.Rehearse(on); }
  void Pause() override { kernels_.Pause(); }
  std::vector<size_t> WarmBatches(size_t most) const override { return WarmBatchesOf(kernels_, most); }

  Result<std::shared_ptr<Voice>> FindVoice(const std::shared_ptr<const Recording>& recording,
                                           bool work) override;
  void DropWork() override { voices_.DropWork(); }
  size_t WorkBytesOf(const Recording& recording) const override;
  size_t Voices() const override { return voices_.size(); }
  size_t VoiceBytes() const override { return voices_.Bytes(); }
  bool ForgetVoice() override;

  Result<std::unique_ptr<Generation>, Refusal> Read(const SpeechRequest& request,
                                                    std::shared_ptr<Voice> voice) override;
  size_t BytesOf(const Generation& generation, size_t draws) const override;
  void Begin(Generation& generation, size_t draws) override;
  void Prefill(Generation* const* generations, size_t count, size_t rows) override;
  void Step(Generation* const* generations, size_t count, FrameResult* results) override;
  void Decode(const DecodeJob* jobs, size_t count) override;

 private:
  QwenFrameModel(SpeechKernels& kernels, std::unique_ptr<const model::SpeechCheckpoint> checkpoint,
                 const Parts& parts, size_t memory);
  void FillFacts();
  // Throws BackendLost if the file of weights that are used in place was changed.
  void CheckFiles() const;
  bool KeepsPrefix(const QwenGeneration& generation) const;
  void KeepPrefix(const QwenGeneration& generation);
  Result<model::DrawRules> RulesOf(const SpeechRequest& request) const;

  SpeechKernels& kernels_;
  const std::unique_ptr<const model::SpeechCheckpoint> checkpoint_;
  const size_t memory_;
  std::unique_ptr<model::SpeechModel> speech_;
  std::unique_ptr<model::CodecDecoder> codec_;
  std::unique_ptr<model::VoiceEncoder> encoder_;  // Base models
  VoiceStore voices_;
  EngineFacts facts_;
  StageTimes times_;
  std::vector<int32_t> codes_;  // one step's
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_QWEN_FRAME_MODEL_H_
