// Prepares a product's input in one pass: each stream's new positions follow its saved past, with snake
// applied if given. The output is floats, or the bf16 terms that the product would otherwise prepare. The
// pass also saves the past that each stream's next positions need.
#ifndef PARLEY_KERNELS_CUDA_JOINED_INPUT_CUH_
#define PARLEY_KERNELS_CUDA_JOINED_INPUT_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/lane_math.cuh"
#include "kernels/cuda/products/laid_vectors.cuh"
#include "kernels/cuda/products/prepare.cuh"
#include "kernels/cuda/products/product_plan.h"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

constexpr uint32_t kInputThreads = 256;

// A signal [positions, channels], stream by stream, and what becomes of it on the way.
struct InputSignal {
  const float* x;
  const float* a;  // snake's, [channels], or null
  const float* b;
  uint32_t channels;
};

struct JoinedInputArgs {
  InputSignal from;
  float* const* tails;   // one per stream
  PrepareArgs to;        // its windows are the streams'; or none: plain vectors, which have no past
  uint32_t past;         // positions
  uint32_t past_blocks;  // grid blocks in x for the past; those of new positions follow
};

__device__ __forceinline__ EightFloats SnakedEight(const EightFloats& x, const EightFloats& a,
                                                   const EightFloats& b) {
  return {{Snaked(x.first.x, a.first.x, b.first.x), Snaked(x.first.y, a.first.y, b.first.y),
           Snaked(x.first.z, a.first.z, b.first.z), Snaked(x.first.w, a.first.w, b.first.w)},
          {Snaked(x.second.x, a.second.x, b.second.x), Snaked(x.second.y, a.second.y, b.second.y),
           Snaked(x.second.z, a.second.z, b.second.z), Snaked(x.second.w, a.second.w, b.second.w)}};
}

__device__ __forceinline__ void StoreEight(float* to, const EightFloats& x) {
  *reinterpret_cast<float4*>(to) = x.first;
  *reinterpret_cast<float4*>(to + 4) = x.second;
}

// One thread's eight channels of a stream.
template <int kTerms>
struct InputEight {
  const JoinedInputArgs& args;
  const Windows& stream;
  uint32_t channel;
  const float* x;  // its first new position
  EightFloats a, b;

  __device__ __forceinline__ InputEight(const JoinedInputArgs& all, const Windows& its, uint32_t first)
      : args(all), stream(its), channel(first) {
    x = args.from.x + static_cast<uint64_t>(stream.begin) * args.from.channels + channel;
    if (args.from.a == nullptr) return;
    a = LoadEight(args.from.a + channel);
    b = LoadEight(args.from.b + channel);
  }
  __device__ __forceinline__ EightFloats Load(uint32_t position) const {
    return LoadEight(x + static_cast<uint64_t>(position) * args.from.channels);
  }
  __device__ __forceinline__ EightFloats Passed(const EightFloats& v) const {
    return args.from.a == nullptr ? v : SnakedEight(v, a, b);
  }
  // To where the position lies that has so many before it, of the past too.
  __device__ __forceinline__ void Put(uint32_t before, const EightFloats& v) const {
    const uint64_t column = static_cast<uint64_t>(before) * args.from.channels + channel;
    if constexpr (kTerms == 0) StoreEight(const_cast<float*>(stream.first) + column, v);
    else WriteTerms<kTerms>(args.to, stream.prepared + column, v);
  }

  // A position of the past and every `count`-th after it, upwards: what one of the tail becomes lies `count`
  // further on, in the tail or among the new ones, and so no thread reads what another writes.
  __device__ __forceinline__ void PassPast(float* tail, uint32_t position, uint32_t count) const {
    const auto at = [&](uint32_t of) {
      return tail + static_cast<uint64_t>(of) * args.from.channels + channel;
    };
    EightFloats kept = LoadEight(at(position));
    for (; position < args.past; position += count) {
      const uint32_t next = position + count;
      const EightFloats following = next < args.past ? LoadEight(at(next)) : Passed(Load(next - args.past));
      Put(position, kept);
      StoreEight(at(position), following);
      kept = following;
    }
  }
};

// kTerms 0: floats. A thread has the same eight channels of kSteps positions, all of which it asks for at
// first.
template <int kTerms, uint32_t kSteps>
__global__ void __launch_bounds__(kInputThreads) JoinInput(const JoinedInputArgs args) {
  LaunchDependents();
  const VectorCounts counts = *args.to.x.counts;
  // There is room for streams beyond the count.
  const bool is_plain = args.to.x.windows == nullptr;
  const Windows stream = is_plain ? Windows{args.to.x.values, 0, 0, 0} : args.to.x.windows[blockIdx.y];
  float* const tail = args.past_blocks > 0 ? args.tails[blockIdx.y] : nullptr;
  const uint32_t eights = args.from.channels / kEight, together = blockDim.x / eights,
                 its = threadIdx.x / eights;
  const uint32_t count = is_plain ? counts.vectors : stream.columns / args.from.channels - args.past;
  GridDependencyWait();
  if (blockIdx.y >= counts.streams || its >= together) return;
  const bool is_past = blockIdx.x < args.past_blocks;
  const uint32_t first = (is_past ? blockIdx.x : (blockIdx.x - args.past_blocks) * kSteps) * together + its;
  if (first >= (is_past ? min(args.past, count) : count)) return;
  const InputEight<kTerms> own(args, stream, threadIdx.x % eights * kEight);
  if (is_past) return own.PassPast(tail, first, count);
  EightFloats x[kSteps];
#pragma unroll
  for (uint32_t n = 0; n < kSteps; n++) {
    if (first + n * together < count) x[n] = own.Load(first + n * together);
  }
#pragma unroll
  for (uint32_t n = 0; n < kSteps; n++) {
    if (first + n * together < count) own.Put(args.past + first + n * together, own.Passed(x[n]));
  }
}

// Eights of channels that fit a block, at multiples of 16 bytes.
inline bool JoinsInput(const InputSignal& from, const Stretch* streams, size_t count) {
  if (from.channels == 0 || from.channels % kEight != 0 || from.channels / kEight > kInputThreads)
    return false;
  bool fit = LiesAtFours(from.x) && LiesAtFours(from.a) && LiesAtFours(from.b);
  for (size_t s = 0; s < count; s++) fit = fit && LiesAtFours(streams[s].x) && LiesAtFours(streams[s].tail);
  return fit;
}

// `longest`: positions of a stream, at most.
template <int kTerms>
void LaunchInput(Queue& queue, JoinedInputArgs args, size_t streams, size_t longest) {
  const uint32_t eights = args.from.channels / kEight, together = kInputThreads / eights;
  args.past_blocks = static_cast<uint32_t>(BlocksOf(args.past, together));
  Grid grid;
  grid.threads = static_cast<uint32_t>(BlocksOf(together * eights, 32) * 32);
  grid.y = static_cast<uint32_t>(streams);
  constexpr size_t kMany = 4096;  // blocks, of which a GPU has no more than a half at once
  const size_t blocks = BlocksOf(longest, together);
  if (blocks * streams < kMany) {
    grid.x = static_cast<uint32_t>(args.past_blocks + blocks);
    queue.Launch<&JoinInput<kTerms, 1>>(grid, args);
  } else {
    grid.x = static_cast<uint32_t>(args.past_blocks + BlocksOf(blocks, 4));
    queue.Launch<&JoinInput<kTerms, 4>>(grid, args);
  }
}

// In `terms` terms, or as floats where there are none: to where `laid` lies.
inline void EnqueueInput(Queue& queue, const JoinedInputArgs& args, const LaidVectors& laid, int terms) {
  const bool is_plain = laid.view.windows == nullptr;
  const size_t streams = is_plain ? 1 : laid.streams;
  const size_t longest = is_plain ? laid.bucket : laid.longest / args.from.channels - args.past;
  switch (terms) {
    case 0:
      return LaunchInput<0>(queue, args, streams, longest);
    case 1:
      return LaunchInput<1>(queue, args, streams, longest);
    default:
      return LaunchInput<2>(queue, args, streams, longest);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_JOINED_INPUT_CUH_
