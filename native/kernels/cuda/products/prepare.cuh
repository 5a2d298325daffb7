// Converts a product's vectors to bf16 terms, for kernels that read each vector more than once.
#ifndef PARLEY_KERNELS_CUDA_PREPARE_CUH_
#define PARLEY_KERNELS_CUDA_PREPARE_CUH_

#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/product_args.cuh"

namespace parley::cuda {

struct PrepareArgs {
  VectorsView x;
  const float* norm;  // its weight, where the vectors are to be normed; else null
  unsigned char* terms;
  uint64_t term_bytes;
  uint32_t columns;  // per vector
  float eps;
  uint32_t in_fragments;  // columns of a chunk as threads of Mma hold them, not as they lie
  uint32_t activates;     // PrepareVectors: their GELU
};

// Eight columns from `column` on. In the order of fragments the four f of the sixteen s of a chunk is at 8 t
// + 4 s, where FourOf(t) = f.
template <int kTerms>
__device__ __forceinline__ void WriteTerms(const PrepareArgs& args, uint64_t column, const EightFloats& x) {
  const Eight<kTerms> terms = TermsOf<kTerms>(x);
#pragma unroll
  for (int i = 0; i < kTerms; i++) {
    const uint32_t (&p)[4] = terms.pairs[i];
    unsigned char* const to = args.terms + i * args.term_bytes;
    if (args.in_fragments == 0) {
      *reinterpret_cast<uint4*>(to + column * 2) = make_uint4(p[0], p[1], p[2], p[3]);
      continue;
    }
    const uint64_t eight = column % kChunk / kEight,
                   first = column - eight * kEight + eight % 2 * kEight + eight / 2 * kFour;
    *reinterpret_cast<uint2*>(to + first * 2) = make_uint2(p[0], p[1]);
    *reinterpret_cast<uint2*>(to + (first + 2 * kEight) * 2) = make_uint2(p[2], p[3]);
  }
}

// The signals of streams, y by stream: windows overlap, and each value is prepared once.
template <int kTerms>
__global__ void __launch_bounds__(256) PrepareSignals(PrepareArgs args) {
  LaunchDependents();
  GridDependencyWait();
  if (blockIdx.y >= args.x.counts->streams) return;
  const Windows windows = args.x.windows[blockIdx.y];
  const uint64_t column = (static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x) * kEight;
  if (column >= windows.columns) return;
  WriteTerms<kTerms>(args, windows.prepared + column, LoadEight(windows.first + column));
}

// Plain vectors as their norm has them, a block a vector: each warp has the factor, and every eighth of what
// is left to do. The first eight of a thread, which are all that most have, are on their way with what the
// factor is made of; their weights before.
template <int kTerms>
__global__ void __launch_bounds__(256) PrepareNormed(PrepareArgs args) {
  LaunchDependents();
  const uint32_t vector = blockIdx.x, first = threadIdx.x * kEight;
  const bool is_there = vector < args.x.counts->vectors, has_first = is_there && first < args.columns;
  EightFloats own{}, weights{};
  if (has_first) weights = LoadEight(args.norm + first);
  GridDependencyWait();
  if (!is_there) return;
  const float* const x = args.x.values + vector * args.x.stride;
  const uint64_t begin = static_cast<uint64_t>(vector) * args.columns;
  if (has_first) own = LoadEight(x + first);
  const float factor = RmsFactor(x, args.columns, args.eps);
  if (has_first) WriteTerms<kTerms>(args, begin + first, NormedEight(own, factor, weights));
  for (uint32_t k = first + 256 * kEight; k < args.columns; k += 256 * kEight) {
    WriteTerms<kTerms>(args, begin + k, NormedEight(LoadEight(x + k), factor, LoadEight(args.norm + k)));
  }
}

__device__ __forceinline__ float4 ActivatedFour(const float4& x) {
  constexpr Activation kGelu = Activation::kGelu;
  return make_float4(Activated<kGelu>(x.x), Activated<kGelu>(x.y), Activated<kGelu>(x.z),
                     Activated<kGelu>(x.w));
}

// Vector by vector without gaps, of any length, stride and alignment.
template <int kTerms>
__global__ void __launch_bounds__(256) PrepareVectors(PrepareArgs args) {
  LaunchDependents();
  GridDependencyWait();
  const VectorCounts counts = *args.x.counts;
  const uint32_t eights = args.columns / kEight;
  const uint64_t eight = static_cast<uint64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (eight >= static_cast<uint64_t>(counts.vectors) * eights) return;
  const uint32_t vector = static_cast<uint32_t>(eight / eights),
                 first = (eight - static_cast<uint64_t>(vector) * eights) * kEight;
  const float* const from = VectorAt(args.x, counts, vector);
  const auto at = [&](uint32_t i) {
    const uint32_t segment = (first + i) / args.x.length;
    return from + segment * args.x.segment_stride + (first + i - segment * args.x.length);
  };
  EightFloats x;
  if (args.x.length % kEight == 0 && IsAligned16(at(0))) {
    x = LoadEight(at(0));
  } else {
    x = {{*at(0), *at(1), *at(2), *at(3)}, {*at(4), *at(5), *at(6), *at(7)}};
  }
  if (args.activates != 0) x = {ActivatedFour(x.first), ActivatedFour(x.second)};
  WriteTerms<kTerms>(args, eight * kEight, x);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PREPARE_CUH_
