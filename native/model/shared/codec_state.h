// State that a codec stream carries from frame to frame, and the causal convolutions that keep their past in
// it.
#ifndef PARLEY_MODEL_SHARED_CODEC_STATE_H_
#define PARLEY_MODEL_SHARED_CODEC_STATE_H_

#include <cstddef>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/layer_weights.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"

namespace parley::model {

// Layout of the layers' past (tails) in a state: each layer reserves its place once, when it is loaded.
class TailPlan {
 public:
  // Reserves a tail of `floats` floats and returns its place.
  size_t Add(size_t floats) {
    const size_t place = floats_;
    floats_ += (floats + kLine - 1) / kLine * kLine;
    return place;
  }
  size_t floats() const { return floats_; }

 private:
  static constexpr size_t kLine = 16;  // a cache line of 64 bytes
  size_t floats_ = 0;
};

// One stream: the tails of its convolutions, and the keys and values that its transformer
// still sees. Begins empty: zeros and no keys. The backend outlives it.
class CodecState {
 public:
  // `format`: of its keys and values.
  CodecState(SpeechKernels& kernels, size_t tail_floats, const TransformerConfig& config, size_t capacity,
             Format format = Format::kF32);
  ~CodecState();
  CodecState(const CodecState&) = delete;
  CodecState& operator=(const CodecState&) = delete;

  // Another one of the same decoder.
  void CopyFrom(const CodecState& other);

  float* tail(size_t place) { return tails_ + place; }
  KvState& keys() { return keys_; }

  static size_t BytesOf(size_t tail_floats, const TransformerConfig& config, size_t capacity,
                        Format format = Format::kF32) {
    return tail_floats * sizeof(float) + KvState::BytesOf(config, format, capacity);
  }

 private:
  SpeechKernels& kernels_;
  const size_t tail_floats_;
  KvState keys_;
  float* tails_ = nullptr;
};

// Streams that advance together. Their rows follow each other in every signal: at `rate` rows
// a frame the first has frames * rate of them, then comes the next stream.
class CodecPass {
 public:
  struct Stream {
    CodecState* state;
    size_t frames;
    float* tails;  // the state's
  };

  void Clear();
  void Add(CodecState* state, size_t frames);

  const std::vector<Stream>& streams() const { return streams_; }
  size_t frames() const { return frames_; }
  size_t Rows(size_t rate) const { return frames_ * rate; }
  // Rows of a signal with room before each stream's rows.
  size_t RowsWithPast(size_t rate, size_t history) const { return Rows(rate) + streams_.size() * history; }

  // The streams in such a signal of `channels`; good until the next call.
  const std::vector<Stretch>& Stretches(size_t rate, size_t history, size_t channels, size_t tail,
                                        float* signal);

 private:
  std::vector<Stream> streams_;
  std::vector<Stretch> stretches_;
  size_t frames_ = 0;
};

// SnakeBeta as the kernels take it; the file has alpha and beta as logarithms.
struct SnakeWeights {
  const float* a = nullptr;
  const float* b = nullptr;

  // "alpha" and "beta" of `tensors`.
  static SnakeWeights Load(Weights& weights, const NamedTensors& tensors);
};

class CausalLayer {
 public:
  // "weight" [out, in, taps] and "bias" of `tensors`.
  static CausalLayer Load(Weights& weights, const NamedTensors& tensors, size_t dilation, Format format,
                          TailPlan* plan);
  // "weight" [in, out, kernel]; the kernel is a multiple of `stride`.
  static CausalLayer LoadTransposed(Weights& weights, const NamedTensors& tensors, size_t stride,
                                    Format format, TailPlan* plan);

  // Computes y from snake(x): x is [rows, channels] at `rate` rows a frame, y has all output rows, stream by
  // stream. `spare` has room for InputFloats().
  void Run(SpeechKernels& kernels, CodecPass& pass, size_t rate, const SnakeWeights& snake, const float* x,
           float* spare, float* y) const;
  // As above, without snake.
  void Run(SpeechKernels& kernels, CodecPass& pass, size_t rate, const float* x, float* spare,
           float* y) const {
    Run(kernels, pass, rate, {}, x, spare, y);
  }

  // As the first overload, with y clamped to -1 and 1.
  void RunClamped(SpeechKernels& kernels, CodecPass& pass, size_t rate, const SnakeWeights& snake,
                  const float* x, float* spare, float* y) const;

  // The streams of such an input, which lie in `spare`; good until the pass is asked again.
  const std::vector<Stretch>& StreamsOf(CodecPass& pass, size_t rate, float* spare) const {
    return pass.Stretches(rate, History(), convolution_.channels, tail_, spare);
  }

  const Convolution& convolution() const { return convolution_; }
  size_t History() const { return convolution_.History(); }
  size_t channels() const { return convolution_.channels; }
  size_t InputFloats(const CodecPass& pass, size_t rate) const {
    return pass.RowsWithPast(rate, History()) * convolution_.channels;
  }

 private:
  CausalLayer(const Convolution& convolution, TailPlan* plan)
      : convolution_(convolution), tail_(plan->Add(convolution.History() * convolution.channels)) {}

  Convolution convolution_;
  size_t tail_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SHARED_CODEC_STATE_H_
