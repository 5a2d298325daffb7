// Qwen3-TTS as the scheduler sees it: checkpoint, talker and predictor, codec
// and, for Base, the encoders of recordings.
#ifndef PARLEY_RUNTIME_QWEN_FRAME_MODEL_H_
#define PARLEY_RUNTIME_QWEN_FRAME_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/files/checkpoint.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"
#include "model/speech/voice_encoder.h"
#include "runtime/frame_model.h"
#include "runtime/voice_store.h"
#include "runtime/voice_work.h"

namespace parley::runtime {

class QwenGeneration;

class QwenFrameModel final : public FrameModel {
 public:
  struct Parts {
    model::PieceRule pieces = model::PieceRule::kNative;
    model::Quantize quantize = model::Quantize::kNone;
    Format codec = Format::kF32;
    Format cache = Format::kF32;  // of keys and values
    size_t max_voices = 0;
  };

  // Null with `problem` set: the checkpoint cannot be used. Throws std::bad_alloc.
  // `memory`: bytes that there are for weights and all else.
  static std::unique_ptr<QwenFrameModel> Open(const std::string& directory, const Parts& parts, size_t memory,
                                              std::unique_ptr<Kernels> kernels, std::string* problem);
  ~QwenFrameModel() override;

  const EngineFacts& facts() const override { return facts_; }
  void TellNoCuda(const std::string& why) { facts_.no_cuda = why; }
  size_t FrameSamples() const override { return codec_->frame_samples(); }
  size_t MostPositions() const override { return static_cast<size_t>(checkpoint_->config().talker.positions); }
  size_t MostDraws() const override { return static_cast<size_t>(checkpoint_->generation().max_new_tokens); }
  size_t FreeBytes() const override;
  StageTimes Times() const override { return times_; }
  BackendFigures Figures() const override { return kernels_->Figures(); }
  bool Rehearse(bool on) override { return kernels_->Rehearse(on); }
  std::vector<size_t> WarmBatches(size_t most) const override;

  VoiceResult FindVoice(const std::shared_ptr<const Recording>& recording, bool work, std::shared_ptr<Voice>* voice,
                        std::string* problem) override;
  void DropWork() override { work_.reset(); }
  size_t WorkBytesOf(const Recording& recording) const override;
  size_t Voices() const override { return voices_.size(); }
  size_t VoiceBytes() const override { return voices_.Bytes() + (work_ ? work_->bytes() : 0); }
  bool ForgetVoice() override;

  std::unique_ptr<Generation> Read(const SpeechRequest& request, std::shared_ptr<Voice> voice,
                                   Refusal* refusal) override;
  size_t BytesOf(const Generation& generation, size_t draws) const override;
  void Begin(Generation& generation, size_t draws) override;
  void Prefill(Generation* const* generations, size_t count, size_t rows) override;
  void Step(Generation* const* generations, size_t count, FrameResult* results) override;
  void Decode(const DecodeJob* jobs, size_t count) override;

 private:
  QwenFrameModel(std::unique_ptr<Kernels> kernels, std::unique_ptr<const model::Checkpoint> checkpoint,
                 const Parts& parts, size_t memory);
  void FillFacts();
  // Throws BackendLost where weights that are used in place were changed in their file.
  void CheckFiles() const;
  bool KeepsPrefix(const QwenGeneration& generation) const;
  void KeepPrefix(const QwenGeneration& generation);
  bool RulesOf(const SpeechRequest& request, model::DrawRules* rules, std::string* problem) const;

  const std::unique_ptr<Kernels> kernels_;
  const std::unique_ptr<const model::Checkpoint> checkpoint_;
  const size_t memory_;
  std::unique_ptr<model::SpeechModel> speech_;
  std::unique_ptr<model::CodecDecoder> codec_;
  std::unique_ptr<model::VoiceEncoder> encoder_;  // of Base
  VoiceStore voices_;
  std::optional<VoiceWork> work_;
  EngineFacts facts_;
  StageTimes times_;
  std::vector<int32_t> codes_;  // of a step
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_QWEN_FRAME_MODEL_H_
