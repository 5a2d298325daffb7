// The words that kernels are written in: CUDA's own, or those of the emulator, which runs the
// same kernels on the host, every thread of a block a fiber, so that their arithmetic and their indexes can be tested
// without a GPU, under a sanitizer too.
//
// Beyond CUDA C++ as it is (threadIdx, blockIdx, blockDim, gridDim, __shared__ arrays of constant size, __syncthreads,
// __syncwarp, __shfl_sync, __shfl_xor_sync, __shfl_down_sync, __ballot_sync, __any_sync, atomicAdd, __threadfence,
// __ldg, rsqrtf, __expf, fmaf, uint4, float4, float2) kernels use:
//
//   SharedBytes()            the block's shared memory whose size its launch says, aligned to 128 bytes
//   Mma(d, a, b)             mma.sync m16n8k16, bf16 by bf16 to f32: d += a b
//   AwaitInputs()            first of all, before anything is read that an earlier grid wrote, or written that
//                            one reads (griddepcontrol.wait). Weights may be read before.
//   LetNextBegin()           from here on the next grid may begin what needs no input (griddepcontrol.launch_dependents)
//   CopyAsync16(to, from, valid), CommitCopies(), AwaitCopies<left>()      cp.async of 16 bytes to shared memory, zeros where not valid
//   ThisThread(), ThisBlock()     threadIdx.x and blockIdx.x, read anew: so that what follows from them holds no registers through a long loop
//   MeetFirst<threads, barrier>()   __syncthreads for the first so many threads of a block alone; barriers are 1 to 15
//   StoreSame(to, value)     *to = value by several threads at once, all of which store the same there; words of four bytes
//   const LoadsAhead ahead;  where it stands, what the thread loads is looked at only if nobody writes there before the next barrier
//   LanesHaveLoaded()        by all lanes of a warp: what they loaded went into shuffles, and what they store from here on follows from what these gave
//   FetchLine(at)            128 bytes of the device's memory come as near as the L2 cache
//   FloatOf(v), Bf16Of(f), F16Of(f)        of float, int8_t, Fp8, Bf16, F16; to the nearest, ties to even (NaN stays one)
//   PackBf16(low, high), UnpackBf16(pair), PackF16, UnpackF16      two floats (float2) in one word
//   FmaBf16(a, b, c)                       a b + c of two bf16 in one word, subnormal ones too
//   MaskedOr(a, mask, bits)                (a & mask) | bits, in one instruction
//   TakeBytes(word, places)                bytes of the word: byte i is the one that the i-th four bits of places, 0 to 3, name
//
// __shfl_up_sync, __all_sync, __reduce_{add,max,min,or}_sync, __syncthreads_{count,or,and}, integer atomics, __ldcg, __ldcs, __stcg,
// __stcs, __popc, __clz, __ffs, __brev, __float_as_uint and the like are there too (emulator/words.h).
//
// The device's compiler gets -fmad=false, the host's -ffp-contract=off.
// Both forms have the same numbers: f32 operations round once each; nothing is fused that is not written as fmaf.
#ifndef PARLEY_KERNELS_CUDA_WORDS_H_
#define PARLEY_KERNELS_CUDA_WORDS_H_

#ifdef __CUDACC__
#include "kernels/cuda/device/gpu_intrinsics.h"
#else
#include "test/emulator/intrinsics.h"
#endif

#endif  // PARLEY_KERNELS_CUDA_WORDS_H_
