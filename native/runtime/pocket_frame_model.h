// Implements FrameModel with Pocket TTS: checkpoint, voices, backbone and flow net, codec decoder.
#ifndef PARLEY_RUNTIME_POCKET_FRAME_MODEL_H_
#define PARLEY_RUNTIME_POCKET_FRAME_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/pocket/pocket_model.h"
#include "model/pocket/pocket_voice_encoder.h"
#include "runtime/frame_model.h"
#include "runtime/pocket_generation.h"
#include "runtime/voice_store.h"
#include "runtime/warm_up.h"

namespace parley::runtime {

// The facts without device, times and sizes. The voices are those of the folder that fit the model.
EngineFacts FactsOf(const model::PocketCheckpoint& checkpoint, const std::string& directory);

class PocketFrameModel final : public FrameModel {
 public:
  struct Parts {
    std::optional<Format> backbone;  // of the matrices; without one as the file has them
    std::optional<Format> codec;     // of the codec's transformer
    Format cache = Format::kF32;     // keys and values
    size_t max_voices = 0;           // in memory; at least one is
  };

  // A problem: the folder cannot be used. Throws std::bad_alloc. `memory`: bytes available for weights,
  // streams and voices. The kernels outlive it.
  static Result<std::unique_ptr<FrameModel>> Make(std::unique_ptr<const model::PocketCheckpoint> checkpoint,
                                                  const std::string& directory, const Parts& parts,
                                                  size_t memory, SpeechKernels& kernels);

  const EngineFacts& facts() const override { return facts_; }
  size_t FrameSamples() const override { return codec_.frame_samples(); }
  size_t MostPositions() const override { return SIZE_MAX; }  // the backbone's are not limited
  size_t MostDraws() const override { return SIZE_MAX; }
  size_t FreeBytes() const override;
  StageTimes Times() const override { return times_; }
  ChunkFigures Chunks() const override { return chunks_; }
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
  bool ForgetVoice() override { return voices_.MakeRoom(1) > 0; }

  Result<std::unique_ptr<Generation>, Refusal> Read(const SpeechRequest& request,
                                                    std::shared_ptr<Voice> voice) override;
  size_t BytesOf(const Generation& generation, size_t draws) const override;
  void Begin(Generation& generation, size_t draws) override;
  void Prefill(Generation* const* generations, size_t count, size_t rows) override;
  void Step(Generation* const* generations, size_t count, FrameResult* results) override;
  void Decode(const DecodeJob* jobs, size_t count) override;

 private:
  PocketFrameModel(SpeechKernels& kernels, std::unique_ptr<const model::PocketCheckpoint> checkpoint,
                   const std::string& directory, const Parts& parts, size_t memory);
  Result<std::shared_ptr<Voice>, Refusal> VoiceNamed(const std::string& name);
  // Throws BackendLost if the file of weights that are used in place was changed.
  void CheckFiles() const;

  SpeechKernels& kernels_;
  const std::unique_ptr<const model::PocketCheckpoint> checkpoint_;
  const std::string directory_;
  const size_t memory_;
  model::PocketModel speech_;
  model::LatentDecoder codec_;
  std::unique_ptr<model::PocketVoiceEncoder> encoder_;  // where the checkpoint has it
  VoiceStore voices_;                                   // published and made ones
  EngineFacts facts_;
  StageTimes times_;
  ChunkFigures chunks_;
  // These are of one call.
  std::vector<model::PocketStream*> streams_;
  std::vector<model::LatentResult> made_;
  std::vector<float> latents_;
  std::vector<model::LatentDecoder::Job> decoded_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_POCKET_FRAME_MODEL_H_
