// Causal convolutions with state, as implicit GEMM: the past is put before each stream's new positions, and
// the convolution is then a product with overlapping windows.
#ifndef PARLEY_KERNELS_CUDA_CONVOLUTIONS_CUH_
#define PARLEY_KERNELS_CUDA_CONVOLUTIONS_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cuda/codec/few_rows.cuh"
#include "kernels/cuda/codec/joined_input.cuh"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/products/laid_vectors.cuh"
#include "kernels/cuda/products/products.cuh"

namespace parley::cuda {

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

// Whether the terms that a product reads can be prepared where its input is joined.
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

// Only where JoinsInput.
inline void EnqueueConvolveSpread(Queue& queue, Room& room, const InputSignal& from,
                                  const Convolution& convolution, const Stretch* streams, size_t count,
                                  float* y) {
  const JoinedInputArgs input = InputOf(queue, from, convolution, streams, count);
  const LaidVectors windows =
      LayStretches(queue, streams, count, convolution.History(), WindowsOf(convolution, nullptr, 0));
  EnqueueMultiplyJoined(queue, room, convolution.weights, input, windows, {convolution.bias, nullptr, false},
                        y);
}

// The same within bounds. False, and nothing is done, where that takes a grid of its own.
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

// Only where JoinsInput. x becomes what snake makes of it, or stays.
inline void EnqueueMultiplySnaked(Queue& queue, Room& room, const Matrix& w, const InputSignal& from,
                                  size_t rows, const Finish& finish, float* y) {
  JoinedInputArgs input{};
  input.from = from;
  EnqueueMultiplyJoined(queue, room, w, input, LayVectors(queue, Rows(from.x, rows, w.columns)), finish, y);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CONVOLUTIONS_CUH_
