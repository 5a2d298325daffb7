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
#include <functional>
#include <stdexcept>
#include <utility>

#include "kernels/matrix.h"
#include "kernels/sampling.h"

namespace parley {

enum class Activation : uint8_t {
  kSilu,
  kGelu,      // exact: x/2 (1 + erf(x / sqrt 2))
  kGeluTanh,  // x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  kElu,       // alpha 1
  kRelu,
  kTanh,
  kSigmoid,
};

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

// The keys that the query at position i sees: all j <= i; with a window only those of j > i - window; or with
// `whole` all up to the last position of its stream in the batch. The capacity of a cache is at least window
// + count - 1, or every position.
struct Sight {
  size_t window = 0;  // 0: none
  bool whole = false;
};

// `count` neighbouring positions of one stream, the first being `position`.
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
  Sight sight;
  float scale = 0;  // for scores: 1 / sqrt(head_dim)
};

// One layer's signals, after rotation.
struct AttentionRows {
  float* queries = nullptr;  // [rows, query_heads, head_dim]
  float* keys = nullptr;     // [rows, heads, head_dim]
  float* values = nullptr;   // as the keys
  float* output = nullptr;   // as the queries
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
  const float* q_bias = nullptr;  // [q.rows], or none
  const float* k_bias = nullptr;
  const float* v_bias = nullptr;

  bool HasBias() const { return q_bias != nullptr || k_bias != nullptr || v_bias != nullptr; }
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
  const float* o_bias = nullptr;           // [hidden], or none
  const float* attention_scale = nullptr;  // LayerScale [hidden], or none
  Norm mlp_norm;
  Matrix gate;  // without values: down(activation(up x)) instead of down(silu(gate x) * (up x))
  Matrix up, down;
  const float* up_bias = nullptr;  // [up.rows], or none; only without a gate
  const float* down_bias = nullptr;
  const float* mlp_scale = nullptr;
  Activation activation = Activation::kGelu;  // without a gate

  bool HasBias() const { return heads.HasBias() || o_bias != nullptr || down_bias != nullptr; }
};

// Scratch memory for a layer's intermediate rows; its contents are undefined afterwards.
struct LayerRoom {
  float* normed = nullptr;  // [rows, hidden]
  AttentionRows signals;
  float* inner = nullptr;  // [rows, up.rows]
};

// Planes of one size, one behind the other.
struct Planes {
  size_t count = 0, frames = 0, bands = 0, channels = 0;
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
  virtual bool Rehearses() const { return false; }
  // --- memory: zeroed, aligned to 64 bytes. Throws std::bad_alloc.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Free(void* memory) = 0;
  virtual void Upload(void* to, const void* from_host, size_t bytes) = 0;
  virtual void Download(void* to_host, const void* from, size_t bytes) = 0;
  virtual void Copy(void* to, const void* from, size_t bytes) = 0;  // may overlap
  virtual void Wait() = 0;                                          // until all that was asked is done

  // --- work that takes long is done in parts. Between two of them, where nothing is under way, it calls
  // Pause, and the owner of the backend does other work there.
  void WhilePaused(std::function<void()> work) { other_work_ = std::move(work); }
  void Pause() {
    if (other_work_) other_work_();
  }

  // --- products: y [x.count, w.rows] = w x
  virtual void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) = 0;
  // y = silu(gate x) * (up x): the first half of a SwiGLU block.
  virtual void MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) = 0;

  // --- rows of a table (embeddings, codebooks)
  // y[i] = table[ids[i]], or y[i] += it.
  virtual void Gather(const Matrix& table, const Ids& ids, size_t count, bool add, float* y) = 0;

  // --- norms, rows of `width`; y may be x
  // w x / sqrt(mean(x^2) + eps)
  virtual void RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) = 0;
  // w (x - mean) / sqrt(variance + eps) + b
  virtual void LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width, float eps,
                         float* y) = 0;

  // x.normed = what the norm makes of x.x.
  void NormRows(const Norm& norm, const LayerRows& x, size_t width);

  // --- rotary positions, half-split

  // positions [count] on the host; angles [count, head_dim]: cosines of
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
  // The rows' norm, its heads, stored and attended to. angles: [rows, head_dim], as Angles gives them, or
  // none: the heads are not rotated.
  virtual void AttendRows(const HeadProjections& heads, const LayerRows& x, const float* angles,
                          const AttentionBatch& batch, size_t layer, const AttentionRows& rows);
  // y [rows, gate.rows] = silu(gate norm(x)) * (up norm(x)).
  virtual void ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x,
                          float* y);

  // y [rows, w.rows] = activation(w norm(x) + bias).
  void ExpandActivated(const Norm& norm, const Matrix& w, const float* bias, Activation activation,
                       const LayerRows& x, float* y);

  // x [batch.rows, hidden] += scale * o(AttendRows(x)), of the cache's layer n.
  virtual void AddAttention(const LayerWeights& layer, size_t n, const float* angles,
                            const AttentionBatch& batch, const LayerRoom& room, float* x);
  // x [rows, hidden] += scale * down(ExpandRows(x)), or what the layer has instead of that.
  virtual void AddMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, float* x);

  // --- whole transformers

  // x [batch.rows, hidden] through `count` layers, from the cache's layer 0 on, as AddAttention and AddMlp
  // give it one after the other. False, and nothing is done, where a backend has no shorter way for such
  // layers and rows.
  virtual bool RunLayers(const LayerWeights* layers, size_t count, const float* angles,
                         const AttentionBatch& batch, float* x) {
    (void)layers, (void)count, (void)angles, (void)batch, (void)x;
    return false;
  }

  // --- element by element, in place
  virtual void Activate(Activation activation, float* x, size_t count) = 0;
  virtual void Add(float* y, const float* x, size_t count) = 0;

  // --- convolutions over planes of frames and bands: 3 x 3 taps, stride 2 and a border of zeros in both
  // directions. One is Multiply, with a matrix whose columns lie as those of GatherPlanes.
  static constexpr size_t kPlaneTaps = 3;
  static constexpr size_t HalfOf(size_t count) { return (count + 1) / 2; }
  // Columns for planes of so many channels: a multiple of 32, so that tensor cores can multiply them.
  static constexpr size_t PlaneColumns(size_t channels) {
    return (kPlaneTaps * kPlaneTaps * channels + 31) / 32 * 32;
  }
  // x [count, frames, bands, channels] to y [count, HalfOf(frames), HalfOf(bands), PlaneColumns(channels)]:
  // the window of each output, frames, then bands, then channels; the rest are zeros.
  virtual void GatherPlanes(const float* x, const Planes& planes, float* y) = 0;

  // --- sampling

  // Chooses one id for each row of logits [count, vocabulary] and modifies the logits. Writes it to ids[i *
  // stride]; -1 where a logit is NaN or no id can be chosen. choices: [count] in the backend's memory;
  // `sequence`: Draw::stream of their draws.
  virtual void Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary,
                      uint64_t sequence, int32_t* ids, size_t stride) = 0;

 private:
  std::function<void()> other_work_;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_KERNELS_H_
