// Latents to samples: the decoder of Pocket TTS's codec, Mimi without codebooks. Causal, with state: any
// split of the frames gives the same samples. Paper: "Moshi" (arXiv 2410.00037), section 3.3.
#ifndef PARLEY_MODEL_POCKET_LATENT_DECODER_H_
#define PARLEY_MODEL_POCKET_LATENT_DECODER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/shared/codec_state.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

class LatentDecoder {
 public:
  // `activation` of the transformer, as the backbone's; `format` of its matrices, without one as the file has
  // them; `cache`: of its keys and values. Convolutions are as the file has them. kernels and checkpoint
  // outlive it, and it its states.
  LatentDecoder(SpeechKernels& kernels, const PocketCheckpoint& checkpoint, Activation activation,
                std::optional<Format> format = std::nullopt, Format cache = Format::kF32);

  // Empty: zeros and no keys.
  std::unique_ptr<CodecState> NewState() const;
  size_t StateBytes() const;
  size_t WeightBytes() const { return weights_.OwnBytes() + weights_.MappedBytes(); }
  size_t frame_samples() const { return frame_samples_; }

  struct Job {
    CodecState* state;     // of no other job of the call
    const float* latents;  // [frames, latent] on the host, as the flow net gives them
    size_t frames;
    float* samples;  // [frames * frame_samples] on the host; not limited to -1 and 1
  };
  // The result of a job does not depend on the others, nor on how its frames are cut into jobs, bit for bit.
  // Once it has seen as many streams and frames, it allocates nothing.
  void Decode(const Job* jobs, size_t count);

 private:
  // x + second(elu(first(elu(x))))
  struct Residual {
    CausalLayer first;
    Matrix second;
    const float* second_bias;
  };
  // elu, a transposed convolution to half of the channels, and residual units.
  struct Stage {
    size_t ratio;
    CausalLayer expansion;
    std::vector<Residual> residuals;
  };

  void LoadUpsample(const PocketCheckpoint& checkpoint);
  void LoadStages(const NamedTensors& decoder, const PocketCodecConfig& codec);
  bool Gather(const Job* jobs, size_t count);
  size_t Floats() const;
  void Run();
  void AddResidual(const Residual& residual, size_t rate, float* x, float* activated, float* inner,
                   float* spare);

  SpeechKernels& kernels_;
  const TransformerConfig config_;
  const size_t latent_, channels_, stride_, window_, frame_samples_;
  const Format cache_;
  Weights weights_;
  TailPlan plan_;
  // A latent's row, once for each position of its frame; then the two taps that a position sees.
  Matrix rows_;
  const float *rows_bias_ = nullptr, *taps_ = nullptr, *no_bias_ = nullptr;
  size_t upsample_tail_ = 0;
  Transformer transformer_;
  std::optional<CausalLayer> first_, last_;
  std::vector<Stage> stages_;

  Workspace workspace_, latents_;
  std::vector<float> next_;    // latents of the pass
  float* gathered_ = nullptr;  // the same in the backend's memory
  CodecPass pass_;
  std::vector<Transformer::Stream> streams_;
  std::vector<size_t> done_;     // frames of each job
  std::vector<float*> samples_;  // of each stream of the pass
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_LATENT_DECODER_H_
