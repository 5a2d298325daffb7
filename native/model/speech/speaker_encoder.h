// Speaker encoder: turns a recording into the speaker embedding in the talker's prompt. An ECAPA-TDNN over
// the log-mel spectrogram of the whole recording.
#ifndef PARLEY_MODEL_SPEAKER_ENCODER_H_
#define PARLEY_MODEL_SPEAKER_ENCODER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/log_mel.h"
#include "kernels/speech_kernels.h"
#include "model/shared/encoder_convolutions.h"
#include "model/shared/staged_work.h"
#include "model/shared/workspace.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

// Attentive statistics pooling: mean and deviation over time, where each channel
// weighs the moments by an attention of its own.
class AttentiveStatistics {
 public:
  // tensors: "asp".
  AttentiveStatistics(Weights& weights, const NamedTensors& tensors, size_t channels);

  size_t WorkFloats(size_t rows) const;

  // To be done: statistics [2 * channels], the means, then the deviations. work: WorkFloats(rows).
  void Plan(SpeechKernels& kernels, const float* x, size_t rows, float* work, float* statistics,
            StagedWork* stages) const;

 private:
  struct Work {
    SpeechKernels* kernels;
    const float* x;
    size_t rows;
    float *bias, *inner, *attention, *statistics;
  };
  void Attend(const Work& work, size_t first, size_t count) const;
  void Weigh(const Work& work, size_t first, size_t count) const;
  void TakeStatistics(const Work& work, const float* weights, size_t first, size_t count) const;

  const size_t channels_;
  // The attention sees [x, mean, deviation], the same mean and deviation at all times: their share
  // of the product is computed once, as a bias.
  Matrix of_x_, of_statistics_;
  const float* bias_;
  const SameConvolution scores_;
};

// A block of the speaker encoder: parts of the channels, each convolved together with
// what came of the one before, then a gate per channel, from the mean over time.
class Res2NetBlock {
 public:
  // tensors: "blocks.N"; `parts` divides `channels`.
  Res2NetBlock(Weights& weights, const NamedTensors& tensors, size_t channels, size_t parts, size_t dilation);

  size_t MinRows() const { return convolutions_.front().MinRows(); }
  size_t WorkFloats(size_t rows) const;

  // To be done: x [rows, channels] += the gated block of it. work: WorkFloats(rows).
  void Plan(SpeechKernels& kernels, float* x, size_t rows, float* work, StagedWork* stages) const;

 private:
  struct Work {
    SpeechKernels* kernels;
    size_t rows;
    float *hidden, *joined, *part, *result, *padded, *mean, *gate, *squeezed;
  };
  Work Laid(SpeechKernels& kernels, float* work, size_t rows) const;
  void PlanParts(const Work& work, StagedWork* stages) const;
  void PlanGate(const Work& work, StagedWork* stages) const;
  void Widen(const Work& work, const float* x, size_t first, size_t count) const;
  void Gather(const Work& work, size_t n, size_t first, size_t count) const;
  void Convolve(const Work& work, size_t n, size_t first, size_t count) const;
  void Gate(const Work& work) const;

  const size_t channels_, part_;  // part_: channels of a part
  const SameConvolution first_;
  std::vector<SameConvolution> convolutions_;  // for every part but the first
  const SameConvolution last_, squeeze_, excite_;
};

class SpeakerEncoder {
 public:
  // Cost of a spectrogram's frame for each sample of its window, in units of StagedWork: a transform in
  // double.
  static constexpr size_t kSpectrumCost = 660;

  // `weights` owns the weights. Pieces of other costs give the same bits.
  SpeakerEncoder(SpeechKernels& kernels, Weights& weights, const SpeechCheckpoint& checkpoint,
                 size_t piece_cost = kPieceCost);

  // "blocks.0", "blocks.1", ..., "mfa", "asp".
  void SetTap(Tap tap) { tap_ = std::move(tap); }

  size_t sample_rate() const { return shape_.sample_rate; }
  // Fewer give fewer moments than the widest convolution reflects.
  size_t min_samples() const;
  // Bytes for a Run over `samples` samples.
  size_t WorkBytes(size_t samples) const { return WorkFloats(mel_.FramesOf(samples)) * sizeof(float); }

  // One recording on its way. The encoder and the samples outlive it.
  class Run {
   public:
    // samples: mono at sample_rate(), at least min_samples(). Throws std::bad_alloc.
    Run(SpeakerEncoder& encoder, const std::vector<float>& samples);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // One piece. False: all were done before.
    bool Advance() { return stages_.Advance(encoder_.piece_cost_); }
    const std::vector<float>& vector() const { return vector_; }  // once all are done

   private:
    friend class SpeakerEncoder;
    SpeakerEncoder& encoder_;
    const std::vector<float>& samples_;
    const size_t moments_;
    Workspace work_;
    std::vector<float> mel_;  // a piece's, on the host
    std::vector<float> vector_;
    StagedWork stages_;
  };

 private:
  // Memory layout of a run over `moments` frames, in floats. Signals that are no longer needed are
  // overwritten.
  struct Places {
    size_t x, block;        // a block's input and result; what it works with
    size_t mel, padded;     // before the first block, where `block` is later
    size_t joined;          // the blocks' results side by side
    size_t features, pool;  // pooling's input, where x was; its scratch memory, where `joined` was
    size_t joined_padded, statistics, vector;
    size_t total;
  };
  Places PlacesOf(size_t moments) const;
  size_t WorkFloats(size_t moments) const { return PlacesOf(moments).total; }

  // The stages of a run, which work in its memory.
  void Plan(Run* run);
  void PlanMel(Run* run, float* mel);
  void PlanTdnn(const SameConvolution& tdnn, const float* x, float* padded, float* y, Run* run);
  void PlanBlock(size_t n, const Places& at, float* work, Run* run);
  void PlanProjection(const float* statistics, float* projected, Run* run);
  void PlanToShow(const std::string& stage, const float* values, size_t rows, size_t channels, Run* run);

  SpeechKernels& kernels_;
  const size_t piece_cost_;
  const LogMelShape shape_;
  const LogMel mel_;
  const size_t channels_, joined_;  // channels of a block, and of all blocks together
  const SameConvolution first_;
  std::vector<Res2NetBlock> blocks_;
  const SameConvolution join_;
  const AttentiveStatistics pool_;
  const SameConvolution project_;
  Tap tap_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SPEAKER_ENCODER_H_
