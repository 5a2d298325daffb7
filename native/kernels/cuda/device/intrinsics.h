// Device intrinsics for the kernels: CUDA's own, or those of the emulator. The emulator runs the same kernels
// on the host, with a fiber for every thread of a block. Arithmetic and indexes can thus be tested without a
// GPU, and under a sanitizer.
//
// Kernels use CUDA C++ as it is (threadIdx, blockIdx, blockDim, gridDim, __shared__ arrays of constant size,
// __syncthreads, __syncwarp, __shfl_sync, __shfl_xor_sync, __shfl_down_sync, __ballot_sync, __any_sync,
// atomicAdd, __threadfence, __ldg, rsqrtf, __expf, fmaf, uint4, float4, float2), and in addition:
//
//   - SharedBytes(): the block's dynamic shared memory, of the size that its launch gives, aligned to 128
//     bytes
//   - Mma(d, a, b): mma.sync m16n8k16, bf16 by bf16 to f32: d += a b
//   - GridDependencyWait(): griddepcontrol.wait: before any access to memory that an earlier grid writes,
//     and before any write to memory that one reads. Weights may be read earlier.
//   - LaunchDependents(): griddepcontrol.launch_dependents: the next grid may begin its work that needs no
//     input
//   - CopyAsync16(to, from, valid), CommitCopies(), AwaitCopies<left>(): cp.async of 16 bytes to shared
//     memory, zeros if not valid
//   - ThisThread(), ThisBlock(): threadIdx.x and blockIdx.x, read anew, so that values derived from them hold
//     no registers through a long loop
//   - NamedBarrier<threads, barrier>(): __syncthreads for the first `threads` threads of a block; barriers
//     are 1 to 15
//   - StoreSame(to, value): *to = value by several threads at once, all of which store the same; words of
//     four bytes
//   - const LoadsAhead ahead;: in its scope, the thread's loads are used only if no thread writes there
//     before the next barrier
//   - LanesHaveLoaded(): by all lanes of a warp: their loads went into shuffles, and their stores from here
//     on depend on the results
//   - FetchLine(at): prefetches 128 bytes of device memory into the L2 cache
//   - FloatOf(v), Bf16Of(f), F16Of(f): from float, int8_t, Fp8, Bf16, F16; to nearest, ties to even (NaN
//     stays NaN)
//   - PackBf16(low, high), UnpackBf16(pair), PackF16, UnpackF16: two floats (float2) in one word
//   - FmaBf16(a, b, c): a b + c of two bf16 in one word, subnormal ones too
//   - MaskedOr(a, mask, bits): (a & mask) | bits, in one instruction
//   - TakeBytes(word, places): bytes of the word: the i-th four bits of places, 0 to 3, select byte i
//
// __shfl_up_sync, __all_sync, __reduce_{add,max,min,or}_sync, __syncthreads_{count,or,and}, integer atomics,
// __ldcg, __ldcs, __stcg, __stcs, __popc, __clz, __ffs, __brev, __float_as_uint and the like exist too
// (test/emulator/intrinsics.h).
//
// The device's compiler gets -fmad=false, the host's -ffp-contract=off. Both forms compute the same numbers:
// f32 operations round once each; only explicit fmaf is fused.
#ifndef PARLEY_KERNELS_CUDA_WORDS_H_
#define PARLEY_KERNELS_CUDA_WORDS_H_

#ifdef __CUDACC__
#include "kernels/cuda/device/gpu_intrinsics.h"
#else
#include "test/emulator/intrinsics.h"
#endif

#endif  // PARLEY_KERNELS_CUDA_WORDS_H_
