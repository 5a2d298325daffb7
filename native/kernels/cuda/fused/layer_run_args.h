// Arguments of the persistent grid that runs all layers of a transformer, or all passes of a code predictor.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_

#include <cstdint>

#include "kernels/cuda/attention/heads.cuh"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/sampling.h"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

// Values that blocks of one grid publish while it runs, each with the number of the step that it
// belongs to, in one word of eight bytes, so that a reader sees at once whether it has arrived. No barrier
// is between them: a value's way is one write to the L2 cache and one read.
//
// All blocks have to run at the same time. A wait ends in a trap when it takes some seconds.
struct alignas(8) TaggedWord {
  uint32_t bits;
  uint32_t step;
};

// Two that are neighbours: from a multiple of 16 bytes.
struct TaggedPair {
  TaggedWord first, second;
};

#ifdef __CUDACC__
__device__ __forceinline__ void Publish(TaggedWord* to, uint32_t bits, uint32_t step) {
  const uint64_t word = static_cast<uint64_t>(step) << 32 | bits;
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

__device__ __forceinline__ TaggedPair Poll(const TaggedWord* from) {
  uint64_t a, b;
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(from) : "memory");
  return {{static_cast<uint32_t>(a), static_cast<uint32_t>(a >> 32)},
          {static_cast<uint32_t>(b), static_cast<uint32_t>(b >> 32)}};
}

__device__ __forceinline__ void GiveUp() { __trap(); }
#else
// One word each, read while it is written: no race.
inline void Publish(TaggedWord* to, uint32_t bits, uint32_t step) {
  const emulator::races::Unseen unseen;
  *to = {bits, step};
}
inline TaggedPair Poll(const TaggedWord* from) {
  const emulator::races::Unseen unseen;
  return {from[0], from[1]};
}
[[noreturn]] inline void GiveUp() { emulator::Refuse("waits for a word that no block publishes"); }
#endif

// Calls poll() until it returns 0: all awaited words have arrived. Whole warps call it.
template <class Polling>
__device__ __forceinline__ void AwaitAll(const Polling& poll) {
  constexpr uint32_t kMost = 1u << 23;  // polls of about 0.5 us each
#pragma unroll 1
  for (uint32_t tries = 0;; tries++) {
    if (__any_sync(0xffffffffu, poll() != 0 ? 1 : 0) == 0) return;
    if (tries == kMost) GiveUp();
  }
}

// Polls kCount pairs, place(n) words from `from`, until all of them are of `step`.
template <int kCount, class Place>
__device__ __forceinline__ void AwaitTagged(const TaggedWord* from, const Place& place, uint32_t step,
                                            TaggedPair (&tagged)[kCount]) {
  AwaitAll([&] {
    uint32_t off = 0;
#pragma unroll
    for (int n = 0; n < kCount; n++) tagged[n] = Poll(from + place(n));
#pragma unroll
    for (int n = 0; n < kCount; n++) off |= (tagged[n].first.step ^ step) | (tagged[n].second.step ^ step);
    return off;
  });
}

// Matrices of bf16, [rows, columns].
struct RunLayer {
  const unsigned char *q, *k, *v, *o, *gate, *up, *down;
  const float *norm, *q_norm, *k_norm, *mlp_norm;
};

constexpr uint32_t kMostRunRows =
    3;  // with four or more, exchanging words between blocks costs more than separate
        // grids
constexpr uint32_t kMostRunLayers = 40;  // a kernel's arguments are no more than 4 KB

constexpr uint32_t kMostRunPasses = 16;

// A pass of a code predictor: all layers, a norm and the product of a head. A code is chosen from the logits,
// and its table row is the next pass's input.
struct RunPass {
  const float* angles;        // [rows, head_dim]
  const unsigned char* head;  // bf16 [vocabulary, hidden]
  const void* table;          // f32 or bf16 [at least vocabulary, hidden]; null in the last pass
};

struct RunPasses {
  const float* norm;
  const Choice* choices;  // [streams]
  // [streams], `stride` apart: receives the codes of the first pass. The codes of each further pass lie next
  // to them.
  int32_t* codes;
  uint64_t stride;
  float* logits;                             // [streams, vocabulary], for choices that are not the usual
  TaggedWord *tagged_logits, *tagged_codes;  // [streams, vocabulary]; of a stream the first of two
  uint64_t sequence;                         // the first pass's
  uint32_t count, vocabulary;
  uint32_t narrow_tables;  // bf16
  uint32_t unused = 0;
  RunPass pass[kMostRunPasses];
};

struct LayerRunArgs {
  static constexpr uint32_t kCluster = kAllBlocks;  // they wait for each other

  HeadsArgs heads;  // the first layer's, without its norms
  float* x;         // [rows, hidden]
  TaggedWord *rows, *raw, *attended,
      *inner;       // [rows] of hidden, of all heads, and, in pairs of bf16, of attended heads and of inner
  uint32_t* steps;  // per block: the steps that it has made so far
  const RunPasses* passes;  // or none: the layers alone
  uint32_t layers;
  uint32_t most_rows;  // bucket
  uint32_t places;     // in the ring
  uint32_t unused = 0;
  RunLayer layer[kMostRunLayers];
};
static_assert(sizeof(LayerRunArgs) <= 4096);

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_ARGS_H_
