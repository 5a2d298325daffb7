// Causal convolutions with state, as implicit GEMM: the past is put before each stream's new positions, and
// the convolution is then a product with overlapping windows. A direct kernel computes convolutions to few
// rows.
#ifndef PARLEY_KERNELS_CUDA_CONVOLUTIONS_CUH_
#define PARLEY_KERNELS_CUDA_CONVOLUTIONS_CUH_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cuda/codec/joined_input.cuh"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/products/laid_vectors.cuh"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/products.cuh"
#include "kernels/number_formats.h"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

// Causal convolutions to a few channels (the codec's last, to one). A block loads adjacent positions of a
// stream, and those that they look back on, into shared memory once, with snake applied on the way. Sums are
// those of the plain product.
constexpr uint32_t kFewRows = 8;
constexpr uint32_t kPositionsOfBlock =
    64;  // no shorter than the past: else more than the first block would read the tail
constexpr uint32_t kPositionsOfWarp = 4;  // at a time
constexpr uint32_t kLoadsAtOnce = 4;      // positions per thread

// Bounds to which the output is clamped.
struct Bounds {
  float lowest = -INFINITY, highest = INFINITY;

  // v - v is 0, or NaN where v is infinite.
  __device__ __forceinline__ float Within(float v) const {
    return v < lowest ? lowest + (v - v) : v > highest ? highest + (v - v) : v;
  }
};

struct FewRowsArgs {
  JoinedInputArgs input;
  Bounds bounds;
  ProductArgs product;  // its first matrix alone; nothing is added to
};

template <class Value>
__device__ __forceinline__ void WidenWeights(const void* values, uint32_t count, float* to) {
  const auto* const from = static_cast<const Value*>(values);
  for (uint32_t i = threadIdx.x; i < count; i += kInputThreads) to[i] = FloatOf(from[i]);
}

__device__ __forceinline__ void WidenWeights(const ProductArgs& args, float* to) {
  const MatrixView& matrix = args.matrices[0];
  const uint32_t count = matrix.rows * args.columns;
  switch (args.formats[0]) {
    case Format::kF32:
      return WidenWeights<float>(matrix.values, count, to);
    case Format::kF16:
      return WidenWeights<F16>(matrix.values, count, to);
    case Format::kBf16:
      return WidenWeights<Bf16>(matrix.values, count, to);
    case Format::kInt8:
      return WidenWeights<int8_t>(matrix.values, count, to);
    case Format::kFp8:
      return WidenWeights<Fp8>(matrix.values, count, to);
  }
}

// The block's positions and those before them to shared memory; the first block keeps what the next positions
// need.
__device__ __forceinline__ void LoadPositions(const JoinedInputArgs& args, const Windows& stream, float* tail,
                                              uint32_t count, float* signal) {
  const uint32_t channels = args.from.channels, eights = channels / kEight, together = kInputThreads / eights;
  const uint32_t its = threadIdx.x / eights, first = blockIdx.x * kPositionsOfBlock;
  const uint32_t end = min(args.past + kPositionsOfBlock, args.past + count - first);
  const InputEight<0> own(args, stream, threadIdx.x % eights * kEight);
  const auto kept = [&](uint32_t position) {
    return tail + static_cast<uint64_t>(position) * channels + own.channel;
  };
  const auto place = [&](uint32_t position) { return signal + position * channels + own.channel; };
  for (uint32_t begin = its; its < together && begin < end; begin += kLoadsAtOnce * together) {
    EightFloats x[kLoadsAtOnce];
#pragma unroll
    for (uint32_t n = 0; n < kLoadsAtOnce; n++) {
      const uint32_t i = begin + n * together;
      if (i < end) x[n] = first + i < args.past ? LoadEight(kept(i)) : own.Load(first + i - args.past);
    }
#pragma unroll
    for (uint32_t n = 0; n < kLoadsAtOnce; n++) {
      const uint32_t i = begin + n * together;
      if (i < end) StoreEight(place(i), first + i < args.past ? x[n] : own.Passed(x[n]));
    }
  }
  __syncthreads();
  if (blockIdx.x > 0 || its >= together) return;
  for (uint32_t i = its; i < args.past; i += together) {
    const uint32_t from = i + count;
    StoreEight(kept(i), from < end ? LoadEight(place(from)) : own.Passed(own.Load(from - args.past)));
  }
}

// The lanes' sums of neighbouring windows: that of the window n to lane n.
__device__ __forceinline__ float JoinedSums(float (&sums)[kPositionsOfWarp]) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
#pragma unroll
    for (uint32_t n = 0; n < kPositionsOfWarp; n++) sums[n] += __shfl_xor_sync(0xffffffffu, sums[n], apart);
  }
  float own = sums[0];
#pragma unroll
  for (uint32_t n = 1; n < kPositionsOfWarp; n++) own = threadIdx.x % 32 == n ? sums[n] : own;
  return own;
}

// Sums of one row and adjacent windows, each in the order of SumOfRow; lane n gets the sum of window n.
__device__ __forceinline__ float SumsOfRow(const VectorsView& x, uint32_t columns, const float* row,
                                           const float* window) {
  float sums[kPositionsOfWarp] = {};
  for (uint32_t done = 0; done < columns; done += x.length, row += x.length, window += x.segment_stride) {
    for (uint32_t k = threadIdx.x % 32; k < x.length; k += 32) {
      const float weight = row[k];
#pragma unroll
      for (uint32_t n = 0; n < kPositionsOfWarp; n++)
        sums[n] = fmaf(weight, window[n * x.stride + k], sums[n]);
    }
  }
  return JoinedSums(sums);
}

// The codec's last convolution, without dilation: all of a row's weights are in registers, and windows
// overlap: of each position a lane reads its channels once, in the same order.
constexpr uint32_t kNearTaps = 7, kNearGroups = 3;

struct NearRow {
  float weights[kNearTaps][kNearGroups];

  __device__ __forceinline__ static bool Suits(const VectorsView& x, uint32_t columns) {
    return x.stride == kNearGroups * 32 && x.length == columns && columns == kNearTaps * kNearGroups * 32;
  }
  __device__ __forceinline__ explicit NearRow(const float* row) {
#pragma unroll
    for (uint32_t k = 0; k < kNearTaps * kNearGroups; k++)
      weights[k / kNearGroups][k % kNearGroups] = row[k * 32 + threadIdx.x % 32];
  }
  // Sums in the order of SumsOfRow.
  __device__ __forceinline__ float Sums(const float* window) const {
    float sums[kPositionsOfWarp] = {};
#pragma unroll
    for (uint32_t position = 0; position < kPositionsOfWarp + kNearTaps - 1; position++) {
#pragma unroll
      for (uint32_t group = 0; group < kNearGroups; group++) {
        const float x = window[(position * kNearGroups + group) * 32 + threadIdx.x % 32];
#pragma unroll
        for (uint32_t n = 0; n < kPositionsOfWarp; n++) {
          if (n <= position && position - n < kNearTaps)
            sums[n] = fmaf(weights[position - n][group], x, sums[n]);
        }
      }
    }
    return JoinedSums(sums);
  }
};

// A block has kPositionsOfBlock positions of the stream blockIdx.y.
static __global__ void __launch_bounds__(kInputThreads) ConvolveToFewRows(const FewRowsArgs args) {
  LaunchDependents();
  const ProductArgs& product = args.product;
  const VectorCounts counts = *product.x.counts;
  const Windows stream = product.x.windows[blockIdx.y];  // there is room for streams beyond the count
  float* const tail = args.input.tails[blockIdx.y];
  const uint32_t first = blockIdx.x * kPositionsOfBlock, channels = args.input.from.channels;
  const uint32_t count = blockIdx.y < counts.streams ? stream.columns / channels - args.input.past : 0;
  auto* const weights = reinterpret_cast<float*>(SharedBytes());
  float* const signal = weights + product.matrices[0].rows * product.columns;
  if (first < count) WidenWeights(product, weights);
  GridDependencyWait();
  if (first >= count) return;
  LoadPositions(args.input, stream, tail, count, signal);
  const uint32_t lane = threadIdx.x % 32, positions = min(kPositionsOfBlock, count - first),
                 warp = threadIdx.x / 32 * kPositionsOfWarp;
  constexpr uint32_t kStep = kInputThreads / 32 * kPositionsOfWarp;
  for (uint32_t row = 0; row < product.matrices[0].rows; row++) {
    const float* const its = weights + row * product.columns;
    const auto finish = [&](uint32_t i, float sum) {
      if (lane >= kPositionsOfWarp || i + lane >= positions) return;
      const uint64_t vector = stream.begin + first + i + lane;
      product.matrices[0].y[vector * product.matrices[0].rows + row] =
          args.bounds.Within(FinishedValue(product, product.matrices[0], row, sum));
    };
    if (NearRow::Suits(product.x, product.columns)) {
      const NearRow near(its);
      for (uint32_t i = warp; i < positions; i += kStep) finish(i, near.Sums(signal + i * channels));
    } else {
      for (uint32_t i = warp; i < positions; i += kStep)
        finish(i, SumsOfRow(product.x, product.columns, its, signal + i * channels));
    }
  }
}

inline size_t SharedOfFewRows(const Matrix& w, size_t channels, size_t past) {
  // The first matrix's rows end at a multiple of 32 bytes, since their columns are taps of whole eights.
  return (w.rows * w.columns + (past + kPositionsOfBlock) * channels) * sizeof(float);
}

inline bool SuitsFewRows(const Matrix& w, const JoinedInputArgs& input, const LaidVectors& laid) {
  return w.rows <= kFewRows && laid.view.windows != nullptr && input.past <= kPositionsOfBlock &&
         SharedOfFewRows(w, input.from.channels, input.past) <= kMostShared;
}

inline void EnqueueFewRows(Queue& queue, const FewRowsArgs& args, const Matrix& w, const LaidVectors& laid) {
  const size_t channels = args.input.from.channels, longest = laid.longest / channels - args.input.past;
  Grid grid;
  grid.threads = kInputThreads;
  grid.x = static_cast<uint32_t>(BlocksOf(longest, kPositionsOfBlock));
  grid.y = static_cast<uint32_t>(laid.streams);
  grid.shared = static_cast<uint32_t>(SharedOfFewRows(w, channels, args.input.past));
  queue.Launch<&ConvolveToFewRows>(grid, args);
}

// A stream's new positions and what it kept of those before.
struct Joint {
  float* x;
  float* tail;
  uint64_t count;  // positions
};

struct JoinArgs {
  const Joint* joints;
  const VectorCounts* counts;
  uint64_t past;  // values: history times channels
  uint32_t channels;
};

// Copies each tail (the past) to the front of x, and the end of both back to the tail, in place. A new value
// of the tail comes from `count * channels` further on, in the tail or in x. A thread handles all values at
// such distances and goes upwards, so that no thread reads what another wrote.
template <class Value>
__global__ void __launch_bounds__(256) JoinTails(JoinArgs args) {
  constexpr uint64_t kWidth = sizeof(Value) / sizeof(float);
  LaunchDependents();
  GridDependencyWait();
  if (blockIdx.y >= args.counts->streams) return;
  const Joint joint = args.joints[blockIdx.y];
  const uint64_t past = args.past / kWidth, shift = joint.count * args.channels / kWidth;
  const uint64_t first = static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (first >= shift || first >= past) return;
  Value* const tail = reinterpret_cast<Value*>(joint.tail);
  Value* const x = reinterpret_cast<Value*>(joint.x);
  Value kept = tail[first];
  for (uint64_t i = first; i < past; i += shift) {
    x[static_cast<int64_t>(i) - static_cast<int64_t>(past)] = kept;
    kept = i + shift < past ? tail[i + shift] : x[i + shift - past];
    tail[i] = kept;
  }
}

inline void EnqueueJoin(Queue& queue, const Stretch* streams, size_t count, size_t history, size_t channels) {
  if (count == 0 || history == 0 || channels == 0) return;
  const auto joints = queue.DataRoom<Joint>(BucketOf(count));
  bool fours = channels % 4 == 0;
  size_t some = 0;
  for (size_t s = 0; s < count; s++) {
    if (streams[s].count == 0) continue;
    joints.host[some++] = {streams[s].x, streams[s].tail, streams[s].count};
    fours = fours && LiesAtFours(streams[s].x) && LiesAtFours(streams[s].tail);
  }
  if (some == 0) return;
  const VectorCounts counts{0, static_cast<uint32_t>(some), 0};
  const JoinArgs args{joints.device, queue.Data(counts), history * channels, static_cast<uint32_t>(channels)};
  Grid grid;
  grid.x = static_cast<uint32_t>(BlocksOf(args.past, fours ? 1024 : 256));
  grid.y = static_cast<uint32_t>(BucketOf(some));
  grid.threads = 256;
  fours ? queue.Launch<JoinTails<float4>>(grid, args) : queue.Launch<JoinTails<float>>(grid, args);
}

inline LaidVectors LayStretches(Queue& queue, const Stretch* streams, size_t count, size_t history,
                                const Vectors& shape) {
  return LayStreams(queue, count, shape, [&](size_t s) {
    return std::pair<const float*, size_t>(streams[s].x - history * shape.stride, streams[s].count);
  });
}

inline void EnqueueConvolveCausal(Queue& queue, Room& room, const Convolution& convolution,
                                  const Stretch* streams, size_t count, float* y) {
  EnqueueJoin(queue, streams, count, convolution.History(), convolution.channels);
  const LaidVectors windows =
      LayStretches(queue, streams, count, convolution.History(), WindowsOf(convolution, nullptr, 0));
  EnqueueMultiply(queue, room, convolution.weights, windows, {convolution.bias, nullptr, false}, y);
}

// True if the terms that a product reads can be prepared where its input is joined.
inline bool TakesJoinedTerms(const Matrix& w, const Plan& plan, const LaidVectors& laid) {
  return FitsTensorCores(w) && !ReadsFloats(plan) && (laid.as_signals || laid.view.stride == w.columns);
}

// w x of vectors that are laid, whose values `input` joins on the way.
inline void EnqueueMultiplyJoined(Queue& queue, Room& room, const Matrix& w, JoinedInputArgs input,
                                  const LaidVectors& laid, const Finish& finish, float* y) {
  if (laid.bucket == 0) return;
  ProductArgs args = ArgsFor(w, y, laid.view, finish);
  input.to.x = laid.view;
  if (SuitsFewRows(w, input, laid) && !finish.add) return EnqueueFewRows(queue, {input, {}, args}, w, laid);
  const Plan plan = PlanFor(room, false, args, laid);
  if (!TakesJoinedTerms(w, plan, laid)) {
    EnqueueInput(queue, input, laid, 0);
    return EnqueueMultiply(queue, room, w, laid, finish, y);
  }
  const int terms = VectorTermsOf(w.format, room.rules.full_vectors);
  const size_t columns = laid.as_signals ? laid.columns : laid.bucket * w.columns;
  input.to.term_bytes = args.term_bytes = BlocksOf(columns * 2, 256) * 256;
  args.terms = input.to.terms = static_cast<unsigned char*>(room.AtLeast(args.term_bytes * terms));
  input.to.in_fragments = !ReadsTiles(plan.cut);
  EnqueueInput(queue, input, laid, terms);
  EnqueuePlanned(queue, room, plan, false, args, laid);
}

// To where the streams lie, which is still to be said.
inline JoinedInputArgs InputOf(Queue& queue, const InputSignal& from, const Convolution& convolution,
                               const Stretch* streams, size_t count) {
  const auto tails = queue.DataRoom<float*>(BucketOf(count));
  size_t some = 0;
  for (size_t s = 0; s < count; s++) {
    if (streams[s].count > 0) tails.host[some++] = streams[s].tail;
  }
  JoinedInputArgs input{};
  input.from = from;
  input.tails = tails.device;
  input.past = static_cast<uint32_t>(convolution.History());
  return input;
}

// Requires JoinsInput.
inline void EnqueueConvolveSpread(Queue& queue, Room& room, const InputSignal& from,
                                  const Convolution& convolution, const Stretch* streams, size_t count,
                                  float* y) {
  const JoinedInputArgs input = InputOf(queue, from, convolution, streams, count);
  const LaidVectors windows =
      LayStretches(queue, streams, count, convolution.History(), WindowsOf(convolution, nullptr, 0));
  EnqueueMultiplyJoined(queue, room, convolution.weights, input, windows, {convolution.bias, nullptr, false},
                        y);
}

// As above, with results clamped. Returns false, and does nothing, where clamping takes a grid of its own.
inline bool EnqueueConvolveClamped(Queue& queue, const InputSignal& from, const Convolution& convolution,
                                   const Stretch* streams, size_t count, const Bounds& bounds, float* y) {
  const LaidVectors windows =
      LayStretches(queue, streams, count, convolution.History(), WindowsOf(convolution, nullptr, 0));
  JoinedInputArgs input = InputOf(queue, from, convolution, streams, count);
  input.to.x = windows.view;
  if (windows.bucket == 0 || !SuitsFewRows(convolution.weights, input, windows)) return false;
  const Finish finish{convolution.bias, nullptr, false};
  EnqueueFewRows(queue, {input, bounds, ArgsFor(convolution.weights, y, windows.view, finish)},
                 convolution.weights, windows);
  return true;
}

// Requires JoinsInput. x becomes what snake makes of it, or stays.
inline void EnqueueMultiplySnaked(Queue& queue, Room& room, const Matrix& w, const InputSignal& from,
                                  size_t rows, const Finish& finish, float* y) {
  JoinedInputArgs input{};
  input.from = from;
  EnqueueMultiplyJoined(queue, room, w, input, LayVectors(queue, Rows(from.x, rows, w.columns)), finish, y);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CONVOLUTIONS_CUH_
