// The interface between the model and a backend. The CPU backend defines the results; another must match them
// within a stated tolerance.
//
//   kernels  <-  model  <-  runtime  <-  binding
//
// Signals are time-major, [rows, channels] without gaps, float32; a row is a position, a frame or a stream.
// Pointers refer to the backend's own memory (Allocate) unless stated otherwise. Host memory (positions,
// stretches, uploads) is read before a call returns. Results for the host are there after Wait(). Calls to
// one backend come from one thread at a time and take effect in order. Outputs may not overlap inputs except
// where "in place" is stated. Wrong shapes throw std::invalid_argument.
//
// The result for a row never depends on how many rows are computed with it.
#ifndef PARLEY_KERNELS_KERNELS_H_
#define PARLEY_KERNELS_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernels/matrix.h"
#include "kernels/sampling.h"

namespace parley {

// Convolutions over time-major signals [time, channels] are products: output t
// is the weights, one row per output channel, times the window of inputs that
// ends at t. Weights are repacked once, when they are loaded, so that a row lies
// as the window lies.
//
//   causal, k taps, dilation d:   row o = [tap 0 | tap 1 | ... | tap k-1], each [in],
//     tap j meets input t - (k-1-j) d. History: (k-1) d inputs.
//   transposed, kernel m s, stride s:  the last (m-1) s outputs are dropped, so outputs
//     t s .. t s + s-1 depend on inputs t-m+1 .. t alone: a causal convolution of m taps with
//     s * out rows, whose result [time, s * out] read as [time * s, out] is the answer.
//     Row j * out + o = [W[:, o, j + (m-1) s] | ... | W[:, o, j]]. History: m - 1 inputs.
//
// weights: [rows, taps * channels], packed as above.
struct Convolution {
  Matrix weights;
  const float* bias = nullptr;  // [rows] or none
  size_t channels = 0;          // input channels
  size_t taps = 1;
  size_t dilation = 1;
  size_t stride = 1;  // inputs from one output to the next

  // Inputs before the first that a causal convolution looks back on.
  size_t History() const { return (taps - 1) * dilation; }
};

// The windows of `count` outputs; `first` is the earliest input of the first
// window: x - History() * channels for a causal convolution of x.
//
// Without dilation the taps touch, and are one segment: the order of summation
// follows from the shape of the convolution, never from `count`.
inline Vectors WindowsOf(const Convolution& convolution, const float* first, size_t count) {
  const size_t step = convolution.stride * convolution.channels;
  if (convolution.dilation == 1) {
    return {first, count, step, convolution.taps * convolution.channels, 1, 0};
  }
  return {first,
          count,
          step,
          convolution.channels,
          convolution.taps,
          convolution.dilation * convolution.channels};
}

// weights: [out, in, taps] -> [out, taps * in].
std::vector<float> PackConvolution(const float* weights, size_t out, size_t in, size_t taps);

// weights: [in, out, kernel], kernel a multiple of stride -> [stride * out, kernel / stride * in].
// Throws std::invalid_argument for another kernel.
std::vector<float> PackTransposed(const float* weights, size_t in, size_t out, size_t kernel, size_t stride);

// weights: [channels, taps] -> [taps, channels], as Kernels::Depthwise reads them.
std::vector<float> PackDepthwise(const float* weights, size_t channels, size_t taps);

// The bias of a transposed convolution, once for each of its `stride` phases.
std::vector<float> RepeatBias(const float* bias, size_t out, size_t stride);

enum class Activation : uint8_t {
  kSilu,
  kGelu,  // exact: x/2 (1 + erf(x / sqrt 2))
  kElu,   // alpha 1
  kRelu,
  kTanh,
  kSigmoid,
};

enum class Padding : uint8_t { kZero, kReplicate, kReflect };

// The arrays of keys and values that a transformer keeps of one stream: of every layer the keys (after
// rotation), then the values, each [capacity, heads, head_dim] of kF32, kF16 or kBf16 and filled up to a
// multiple of 64 bytes. Position p lies in row p % capacity.
struct KvLayout {
  Format format = Format::kF32;
  size_t heads = 0;
  size_t head_dim = 0;

  size_t ArrayBytes(size_t capacity) const {
    return (capacity * heads * head_dim * BytesOf(format) + 63) / 64 * 64;
  }
  size_t LayerBytes(size_t capacity) const { return 2 * ArrayBytes(capacity); }
};

// `count` neighbouring positions of one stream, the first being `position`. The query at i sees the keys j <=
// i, and with a window only j > i - window: capacity >= window + count - 1, or every position.
struct AttentionStream {
  void* cache = nullptr;  // as KvLayout says
  uint64_t capacity = 0;
  uint64_t position = 0;
  uint32_t count = 0;
  uint32_t row = 0;  // its first row in the batch
};

// Streams that attend together, stream by stream, and what their transformer's layers have in common.
struct AttentionBatch {
  const AttentionStream* streams = nullptr;  // [count] in the backend's memory
  size_t count = 0;
  size_t rows = 0;      // total over all streams
  size_t longest = 0;   // positions of the stream that has most
  size_t furthest = 0;  // the most positions of a stream, up to the end of these
  KvLayout layout;
  size_t query_heads = 0;  // a multiple of layout.heads: head h uses kv head h * heads / query_heads
  size_t window = 0;       // 0: all that came before
  float scale = 0;         // for scores: 1 / sqrt(head_dim)
};

// One layer's signals, after rotation.
struct AttentionRows {
  float* queries = nullptr;  // [rows, query_heads, head_dim]
  float* keys = nullptr;     // [rows, heads, head_dim]
  float* values = nullptr;   // as the keys
  float* output = nullptr;   // as the queries
};

// The next `count` positions of one stream that a causal convolution passes: x [count, channels], with
// room for its history before them, which is filled from `tail` [history, channels]; then
// tail is what the next stretch needs. A stream starts with a tail of zeros.
struct Stretch {
  float* x = nullptr;
  size_t count = 0;
  float* tail = nullptr;
};

// Ids in the backend's memory: the i-th is values[i * stride]. One below 0 is none: the row of
// zeros.
struct Ids {
  const int32_t* values = nullptr;
  size_t stride = 1;
};

// RMSNorm, or LayerNorm where there is a bias.
struct Norm {
  const float* weight = nullptr;
  const float* bias = nullptr;
  float eps = 0;
};

// Projections of a signal's rows to queries, keys and values.
struct HeadProjections {
  Norm norm;
  Matrix q, k, v;                 // number of rows: heads times head_dim
  const float* q_norm = nullptr;  // [head_dim], RMSNorm of every head with norm.eps, or none
  const float* k_norm = nullptr;
};

// Rows of a transformer's layer, and room for their norm.
struct LayerRows {
  const float* x = nullptr;  // [rows, width]
  size_t rows = 0;
  float* normed = nullptr;  // as x
};

// A transformer's layer. Norms of the model's files are without their eps until a transformer has them.
struct LayerWeights {
  HeadProjections heads;
  Matrix o;
  const float* attention_scale = nullptr;  // LayerScale [hidden], or none
  Norm mlp_norm;
  Matrix gate;  // without values: down(gelu(up x)) instead of down(silu(gate x) * (up x))
  Matrix up, down;
  const float* mlp_scale = nullptr;
};

// Snake of so many channels, as Kernels::Snake takes it.
struct SnakeOf {
  const float* a = nullptr;
  const float* b = nullptr;
};

// pointwise(snake(dilated(snake(x)))) of a signal of as many channels as it gives.
struct ResidualUnit {
  SnakeOf first;
  Convolution dilated;
  SnakeOf second;
  Matrix pointwise;
  const float* pointwise_bias = nullptr;
};

// One pass of a code predictor, after its layers: the product of a head, and one code for each stream, chosen
// from its logits.
struct CodePass {
  const float* angles = nullptr;  // [rows, head_dim], as Angles gives them
  Matrix head;                    // [vocabulary, hidden]
  Matrix table;  // [at least vocabulary, hidden]: a code's row is the next pass's input; empty in the
                 // last pass
};

// Passes one after the other, the first of the streams' positions that a batch has, the next of one row each,
// at the position after these.
struct CodePasses {
  const LayerWeights* layers = nullptr;
  size_t layer_count = 0;
  Norm norm;  // after the layers
  const CodePass* passes = nullptr;
  size_t count = 0;
  const Choice* choices = nullptr;  // [streams] in the backend's memory
  uint64_t sequence = 0;            // the first pass's draws; the next pass has the next one
  int32_t* codes =
      nullptr;  // the first pass's: the i-th stream's at codes[i * stride], that of the next pass
                // beside it
  size_t stride = 0;
};

// Scratch memory for a layer's intermediate rows; its contents are undefined afterwards.
struct LayerRoom {
  float* normed = nullptr;  // [rows, hidden]
  AttentionRows signals;
  float* inner = nullptr;  // [rows, up.rows]
};

// The backend's device is lost, with everything in its memory. Every later call throws this again.
class BackendLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Figures of a backend with its own device. Memory is in bytes; counts start with the backend.
struct BackendFigures {
  size_t memory_in_use = 0, memory_total = 0;  // the device's
  size_t memory_free = 0;                      // left for Allocate
  // Lists of what is computed: run piece by piece, made into something that runs as a whole, and run so.
  uint64_t eager = 0, captures = 0, launches = 0;
  size_t list_bytes = 0;  // host memory of remembered lists
};

class Kernels {
 public:
  virtual ~Kernels() = default;

  // The name in logs and reports: "cpu avx2, 2 threads".
  virtual const char* Name() const = 0;
  // True if weights may lie in the host's memory, for example in a mapped file.
  virtual bool ReadsHostMemory() const = 0;
  // True for synchronous backends (CPU): results can be read between kernels without stalling a queue.
  virtual bool AnswersAtOnce() const = 0;
  // All zeros for a backend on the host's memory.
  virtual BackendFigures Figures() const { return {}; }
  // While it is so, what is asked for will be asked for again: a backend that remembers what it was asked
  // does so the first time, not the second. False: there is nothing to remember.
  virtual bool Rehearse(bool) { return false; }
  // --- memory: zeroed, aligned to 64 bytes. Throws std::bad_alloc.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  virtual void Upload(void* to, const void* from_host, size_t bytes) = 0;
  virtual void Download(void* to_host, const void* from, size_t bytes) = 0;
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;  // may overlap
  virtual void Wait() = 0;                                          // until all that was asked is done

  // --- products: y [x.count, w.rows] = w x
  virtual void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) = 0;
  // y = silu(gate x) * (up x): the first half of a SwiGLU block.
  virtual void MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) = 0;
  // y [rows, w.rows] = w times the RMSNorm of each `every`-th row of x [.., w.columns], from the first on,
  // plus bias, where there is one. Loses x, which a backend need not write.
  virtual void MultiplyNormed(const Matrix& w, const Norm& norm, float* x, size_t rows, size_t every,
                              const float* bias, float* y);
  // y [rows, w.rows] = w times what Snake makes of the rows of x [rows, w.columns], bit for bit as these two
  // one after the other. Loses x, which a backend need not write.
  virtual void MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows,
                              const Finish& finish, float* y);

  // --- rows of a table (embeddings, codebooks)
  // y[i] = table[ids[i]], or y[i] += it.
  virtual void Gather(const Matrix& table, const Ids& ids, size_t count, bool add, float* y) = 0;
  // A table's rows after another's, the t-th of `table_count` by the ids that lie t further on: bit for bit
  // as these would be gathered one after the other, all but the first added. A backend may do it in one step.
  // tables: on the host.
  virtual void GatherSum(const Matrix* tables, size_t table_count, const Ids& ids, size_t count, bool add,
                         float* y);
  // The row of table (kF32) nearest to each x[i], the first of equals, to ids on the host;
  // then x[i] -= that row. One step of residual quantization.
  virtual void TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) = 0;

  // --- norms, rows of `width`; y may be x
  // w x / sqrt(mean(x^2) + eps)
  virtual void RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) = 0;
  // w (x - mean) / sqrt(variance + eps) + b
  virtual void LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width, float eps,
                         float* y) = 0;

  // x.normed = what the norm makes of x.x.
  void NormRows(const Norm& norm, const LayerRows& x, size_t width);

  // --- rotary positions, half-split positions [count] on the host; angles [count, head_dim]: cosines of
  // positions[i] * theta^(-2j / head_dim), then the sines; j < head_dim / 2.
  virtual void Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta,
                      float* angles) = 0;
  // x [rows, heads, head_dim] in place, angles [rows, head_dim]:
  // lo' = lo cos - hi sin, hi' = hi cos + lo sin.
  virtual void Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) = 0;

  // --- attention, of one layer; streams are independent of each other
  // Keys and values to the caches.
  virtual void Store(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) = 0;
  // Attention of the queries; keys and values up to the last of the positions are stored before.
  virtual void Attend(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) = 0;

  // --- halves of a transformer's layer, which a backend may do in fewer steps than these
  // The rows' norm, its heads, stored and attended to. angles: [rows, head_dim], as Angles gives them.
  virtual void AttendRows(const HeadProjections& heads, const LayerRows& x, const float* angles,
                          const AttentionBatch& batch, size_t layer, const AttentionRows& rows);
  // y [rows, gate.rows] = silu(gate norm(x)) * (up norm(x)).
  virtual void ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x,
                          float* y);

  // y [rows, w.rows] = gelu(w norm(x) + bias).
  void ExpandActivated(const Norm& norm, const Matrix& w, const float* bias, const LayerRows& x, float* y);

  // x [batch.rows, hidden] += scale * o(AttendRows(x)), of the cache's layer n.
  virtual void AddAttention(const LayerWeights& layer, size_t n, const float* angles,
                            const AttentionBatch& batch, const LayerRoom& room, float* x);
  // x [rows, hidden] += scale * down(ExpandRows(x)), or what the layer has instead of that.
  virtual void AddMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, float* x);

  // --- whole transformers x [batch.rows, hidden] through `count` layers, from the cache's layer 0 on, as
  // AddAttention and AddMlp give it one after the other. False, and nothing is done, where a backend has no
  // shorter way for such layers and rows.
  virtual bool RunLayers(const LayerWeights* layers, size_t count, const float* angles,
                         const AttentionBatch& batch, float* x) {
    (void)layers, (void)count, (void)angles, (void)batch, (void)x;
    return false;
  }

  // x [batch.rows, hidden] through all passes of a code predictor, as these give it one after the other:
  // RunLayers, RmsNorm, of each stream's last row Multiply, Choose, and Gather of what the next pass begins
  // with. x is lost. False, and nothing is done, as of RunLayers.
  virtual bool RunPasses(const CodePasses& passes, const AttentionBatch& batch, float* x) {
    (void)passes, (void)batch, (void)x;
    return false;
  }

  // --- convolutions, stride 1; streams are independent of each other
  // y [sum of counts, weights.rows], stream by stream. The history is History() positions.
  virtual void ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count,
                              float* y) = 0;
  // As above, for groups = channels: weights [taps, channels] (PackDepthwise), history taps - 1.
  virtual void ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                                 const Stretch* streams, size_t count, float* y) = 0;
  // x, all streams' rows one after the other, to where a convolution reads them: as it is, or where there are
  // a and b as Snake gives it.
  virtual void Spread(const float* x, const float* a, const float* b, size_t channels, const Stretch* streams,
                      size_t count);
  // Spread and ConvolveCausal, bit for bit as these two one after the other. Afterwards the memory at the
  // streams' x and before it is undefined, since a backend need not write it.
  virtual void ConvolveSpread(const float* x, const float* a, const float* b, const Convolution& convolution,
                              const Stretch* streams, size_t count, float* y);
  // As above, then Clamp of y.
  virtual void ConvolveClamped(const float* x, const float* a, const float* b, const Convolution& convolution,
                               const Stretch* streams, size_t count, float lowest, float highest, float* y);
  // ConvolveSpread for ConvolveDepthwise, with x as it is.
  virtual void ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias,
                                       size_t channels, size_t taps, const Stretch* streams, size_t count,
                                       float* y);
  // x [rows, channels], all streams' new positions one after the other, plus what the unit makes of it: bit
  // for bit as ConvolveSpread to y and MultiplySnaked to x. Loses y, as large as x, which a backend need not
  // write; as what lies at the streams' x.
  virtual void AddResidual(const ResidualUnit& unit, const Stretch* streams, size_t count, size_t rows,
                           float* x, float* y);
  // y [left + rows + right, channels]; then a convolution is Multiply(weights, WindowsOf(...)).
  // kReflect needs rows > left and rows > right; kReplicate at least one row.
  virtual void Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right, Padding padding,
                   float* y) = 0;

  // --- element by element, in place
  virtual void Activate(Activation activation, float* x, size_t count) = 0;
  // x + sin(x a)^2 b per channel, a = e^alpha, b = 1 / (e^beta + 1e-9): SnakeBeta.
  // y may be x.
  virtual void Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels,
                     float* y) = 0;
  virtual void Add(float* y, const float* x, size_t count) = 0;
  // A value that is not finite becomes or stays NaN.
  virtual void Clamp(float* x, size_t count, float lowest, float highest) = 0;

  // --- over time, for the speaker encoder: x [rows, channels], a row every `stride` floats, so that a few
  // channels of many can be asked for; weights as x or none (all the same) mean = sum w x; deviation =
  // sqrt(max(sum w (x - mean)^2, floor)), unless deviation is null.
  virtual void Statistics(const float* x, const float* weights, size_t rows, size_t channels, size_t stride,
                          float floor, float* mean, float* deviation) = 0;
  // In place, each channel over its rows.
  virtual void SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) = 0;
  // y += x * gain[channel]: the gate of squeeze and excitation.
  virtual void AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) = 0;
  // y[i] [to_width] at column `to` = x[i] [from_width] at column `from`, `width` of them: split and
  // concatenation.
  virtual void CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width,
                           size_t to, size_t width, size_t rows) = 0;

  // Chooses one id for each row of logits [count, vocabulary] and modifies the logits. Writes it to ids[i *
  // stride]; -1 where a logit is NaN or no id can be chosen. choices: [count] in the backend's memory;
  // `sequence`: Draw::stream of their draws.
  virtual void Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary,
                      uint64_t sequence, int32_t* ids, size_t stride) = 0;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_KERNELS_H_
