// Who speaks: a recording to the vector that stands in the talker's prompt. An
// ECAPA-TDNN over the logarithmic mel spectrum of the whole recording.
#ifndef PARLEY_MODEL_SPEAKER_ENCODER_H_
#define PARLEY_MODEL_SPEAKER_ENCODER_H_

#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/log_mel.h"
#include "model/attentive_statistics.h"
#include "model/checkpoint.h"
#include "model/encoder_convolutions.h"
#include "model/res2net_block.h"
#include "model/tap.h"
#include "model/workspace.h"

namespace parley::model {

class SpeakerEncoder {
 public:
  // `weights` owns the weights.
  SpeakerEncoder(Kernels& kernels, Weights& weights, const Checkpoint& checkpoint);

  // "blocks.0", "blocks.1", ..., "mfa", "asp".
  void Tell(Tap tap) { tap_ = std::move(tap); }

  size_t sample_rate() const { return shape_.sample_rate; }
  // Fewer give fewer moments than the widest convolution reflects.
  size_t min_samples() const;
  // Of a Run over so many samples.
  size_t WorkBytes(size_t samples) const { return WorkFloats(mel_.FramesOf(samples)) * sizeof(float); }

  // One recording on its way. The encoder and the samples outlive it.
  class Run {
   public:
    // samples: mono at sample_rate(), at least min_samples().
    Run(SpeakerEncoder& encoder, const std::vector<float>& samples);

    // One stage, of which each block is one. False: all were done before.
    bool Advance();
    const std::vector<float>& vector() const { return vector_; }  // once all are done

   private:
    SpeakerEncoder& encoder_;
    const std::vector<float>& samples_;
    const size_t moments_;
    size_t stage_ = 0;
    Workspace work_;
    std::vector<float> vector_;
  };

 private:
  // Where a run of so many moments keeps what, in floats: what is no longer needed is overwritten.
  struct Places {
    size_t x, block;         // a block's input and result; what it works with
    size_t mel, padded;      // before the first block, where `block` is later
    size_t joined;           // the blocks' results side by side
    size_t features, pool;   // what is pooled, where x was; what the pooling works with, where `joined` was
    size_t joined_padded, statistics, vector;
    size_t total;
  };
  Places PlacesOf(size_t moments) const;
  size_t WorkFloats(size_t moments) const { return PlacesOf(moments).total; }

  void Listen(const std::vector<float>& samples, size_t moments, float* work);
  void ApplyBlock(size_t n, size_t moments, float* work);
  void Join(size_t moments, float* work);
  void Pool(size_t moments, float* work, std::vector<float>* vector);

  Kernels& kernels_;
  const LogMelShape shape_;
  const LogMel mel_;
  const size_t channels_, joined_;  // of a block, of all of them
  const SameConvolution first_;
  std::vector<Res2NetBlock> blocks_;
  const SameConvolution join_;
  const AttentiveStatistics pool_;
  const SameConvolution project_;
  Tap tap_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SPEAKER_ENCODER_H_
