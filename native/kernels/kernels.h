// What the model asks of a backend. The CPU backend defines the answers; another
// must match it within a stated tolerance.
//
//   kernels  <-  model  <-  runtime  <-  binding
//
// Signals are time-major, [rows, channels] without gaps, float32; a row is a
// position, a frame or a stream. Pointers are the backend's own memory (Allocate).
// Calls of one backend are made by one thread at a time and take effect in
// order; results are there after Wait(). Outputs may not overlap inputs except
// where "in place" is said. Wrong shapes throw std::invalid_argument.
//
// The result for a row never depends on how many rows are computed with it.
#ifndef PARLEY_KERNELS_KERNELS_H_
#define PARLEY_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/convolution.h"
#include "kernels/matrix.h"
#include "kernels/sampling.h"

namespace parley {

enum class Activation : uint8_t {
  kSilu,
  kGelu,  // exact: x/2 (1 + erf(x / sqrt 2))
  kElu,   // alpha 1
  kRelu,
  kTanh,
  kSigmoid,
};

enum class Padding : uint8_t { kZero, kReplicate, kReflect };

// Keys (after rotation) and values of one layer of one stream: two arrays
// [capacity, heads, head_dim] of kF32, kF16 or kBf16; position p lies in row
// p % capacity. Not owned.
struct KvCache {
  Format format = Format::kF32;
  void* keys = nullptr;
  void* values = nullptr;
  size_t capacity = 0;
  size_t heads = 0;
  size_t head_dim = 0;

  size_t Bytes() const { return 2 * capacity * heads * head_dim * BytesOf(format); }
};

// `count` neighbouring positions of one stream, the first being `position`.
// The query at i sees the keys j <= i, and with a window only j > i - window.
// The keys and values up to the last of these positions are stored already:
// capacity >= window + count - 1, or every position.
struct Attention {
  KvCache cache;
  const float* queries = nullptr;  // [count, query_heads, head_dim], after rotation
  float* output = nullptr;         // as the queries
  size_t count = 0;
  size_t query_heads = 0;  // a multiple of cache.heads: head h uses kv head h * heads / query_heads
  uint64_t position = 0;
  size_t window = 0;  // 0: all that came before
  float scale = 0;    // of the scores: 1 / sqrt(head_dim)
};

// The next `count` positions of one stream that a causal convolution passes: x [count, channels], with
// room for its history before them, which is filled from `tail` [history, channels]; then
// tail is what the next stretch needs. A stream starts with a tail of zeros.
struct Stretch {
  float* x = nullptr;
  size_t count = 0;
  float* tail = nullptr;
};

class Kernels {
 public:
  virtual ~Kernels() = default;

  // What log and reports call it: "cpu avx2, 2 threads".
  virtual const char* Name() const = 0;
  // Whether weights may lie in the host's memory, for example in a mapped file.
  virtual bool ReadsHostMemory() const = 0;

  // --- memory: zeroed, aligned to 64 bytes. Throws std::bad_alloc.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  virtual void Upload(void* to, const void* from_host, size_t bytes) = 0;
  virtual void Download(void* to_host, const void* from, size_t bytes) = 0;
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;  // may overlap
  virtual void Wait() = 0;  // until all that was asked is done

  // --- products: y [x.count, w.rows] = w x
  virtual void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) = 0;
  // y = silu(gate x) * (up x): the first half of a SwiGLU block.
  virtual void MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) = 0;

  // --- rows of a table (embeddings, codebooks), ids: [count] on the host
  // y[i] = table[ids[i]], or y[i] += it.
  virtual void Gather(const Matrix& table, const int32_t* ids, size_t count, bool add, float* y) = 0;
  // The row of table (kF32) nearest to each x[i], the first of equals, to ids on the host;
  // then x[i] -= that row. One step of residual quantization.
  virtual void TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) = 0;

  // --- norms, rows of `width`; y may be x
  // w x / sqrt(mean(x^2) + eps)
  virtual void RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) = 0;
  // w (x - mean) / sqrt(variance + eps) + b
  virtual void LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width, float eps,
                         float* y) = 0;

  // --- rotary positions, half-split
  // angles [count, head_dim]: cosines of positions[i] * theta^(-2j / head_dim), then the sines; j < head_dim / 2.
  virtual void Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta, float* angles) = 0;
  // x [rows, heads, head_dim] in place, angles [rows, head_dim]:
  // lo' = lo cos - hi sin, hi' = hi cos + lo sin.
  virtual void Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) = 0;

  // --- attention
  // keys, values: [count, heads, head_dim], of the positions from `position` on.
  virtual void Store(const KvCache& cache, uint64_t position, const float* keys, const float* values,
                     size_t count) = 0;
  // Streams are independent of each other.
  virtual void Attend(const Attention* streams, size_t count) = 0;

  // --- convolutions, stride 1; streams are independent of each other
  // y [sum of counts, weights.rows], stream by stream. The history is History() positions.
  virtual void ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count, float* y) = 0;
  // The same for groups = channels: weights [taps, channels] (PackDepthwise), history taps - 1.
  virtual void ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                                 const Stretch* streams, size_t count, float* y) = 0;
  // y [left + rows + right, channels]; then a convolution is Multiply(weights, WindowsOf(...)).
  // kReflect needs rows > left and rows > right; kReplicate at least one row.
  virtual void Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right, Padding padding,
                   float* y) = 0;

  // --- element by element, in place
  virtual void Activate(Activation activation, float* x, size_t count) = 0;
  // x + sin(x a)^2 b per channel, a = e^alpha, b = 1 / (e^beta + 1e-9): SnakeBeta.
  // y may be x.
  virtual void Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels, float* y) = 0;
  virtual void Add(float* y, const float* x, size_t count) = 0;
  virtual void Clamp(float* x, size_t count, float lowest, float highest) = 0;

  // --- over time, for the speaker encoder: x [rows, channels], a row every `stride` floats, so that a few channels
  // of many can be asked for; weights as x or none (all the same)
  // mean = sum w x;  deviation = sqrt(max(sum w (x - mean)^2, floor)), unless deviation is null.
  virtual void Statistics(const float* x, const float* weights, size_t rows, size_t channels, size_t stride,
                          float floor, float* mean, float* deviation) = 0;
  // In place, each channel over its rows.
  virtual void SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) = 0;
  // y += x * gain[channel]: the gate of squeeze and excitation.
  virtual void AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) = 0;
  // y[i] [to_width] at column `to` = x[i] [from_width] at column `from`, `width` of them: split and concatenation.
  virtual void CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width, size_t to,
                           size_t width, size_t rows) = 0;

  // --- sampling: a row of logits per choice, which it changes; the chosen ids to the host
  virtual void Choose(const Choice* choices, size_t count, int32_t* ids) = 0;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_KERNELS_H_
