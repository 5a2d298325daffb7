// See kernels/cuda/device/intrinsics.h: the words of kernels for the host's compiler. Files that include this
// are compiled with -ffp-contract=off and -Wno-unknown-pragmas.
//
// A __shared__ array is one static array for all blocks, which run one after the other; where they run
// together it may only hold what is the same in all of them. It is not poisoned between them, as
// SharedBytes() is.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_WORDS_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_WORDS_H_

#include <math.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "kernels/number_formats.h"
#include "test/emulator/collectives.h"
#include "test/emulator/race_check.h"
#include "test/emulator/vector_types.h"
#include "test/emulator/warp_intrinsics.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(bytes) alignas(bytes)
#define __grid_constant__
#define __apart__ inline

// Indices of the running thread.
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
constexpr int warpSize = 32;

// --- memory
template <class Value>
Value __ldg(const Value* from) {
  return *from;
}
template <class Value>
Value __ldcg(const Value* from) {
  return *from;
}
template <class Value>
Value __ldcs(const Value* from) {
  return *from;
}
template <class Value>
void __stcg(Value* to, Value value) {
  *to = value;
}
template <class Value>
void __stcs(Value* to, Value value) {
  *to = value;
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// --- atomics: threads change places at meetings only
template <class Value>
struct Same {
  using Type = Value;
};
template <class Value, class Change>
Value EmulatedAtomic(Value* at, Change change) {
  parley::cuda::emulator::races::Acquire(at);
  const parley::cuda::emulator::races::Unseen unseen;
  const Value before = *at;
  *at = change(before);
  parley::cuda::emulator::races::Release(at);
  return before;
}
template <class Value>
Value atomicAdd(Value* at, typename Same<Value>::Type value) {
  return EmulatedAtomic(at, [=](Value v) { return static_cast<Value>(v + value); });
}
template <class Value>
Value atomicMax(Value* at, typename Same<Value>::Type value) {
  return EmulatedAtomic(at, [=](Value v) { return v > value ? v : value; });
}
template <class Value>
Value atomicMin(Value* at, typename Same<Value>::Type value) {
  return EmulatedAtomic(at, [=](Value v) { return v < value ? v : value; });
}
template <class Value>
Value atomicOr(Value* at, typename Same<Value>::Type value) {
  return EmulatedAtomic(at, [=](Value v) { return v | value; });
}
template <class Value>
Value atomicExch(Value* at, typename Same<Value>::Type value) {
  return EmulatedAtomic(at, [=](Value) { return value; });
}
template <class Value>
Value atomicCAS(Value* at, typename Same<Value>::Type wanted, typename Same<Value>::Type value) {
  return EmulatedAtomic(at, [=](Value v) { return v == wanted ? value : v; });
}
inline unsigned atomicInc(unsigned* at, unsigned last) {
  return EmulatedAtomic(at, [=](unsigned v) { return v >= last ? 0 : v + 1; });
}

// --- bits
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz(static_cast<unsigned>(bits)); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline unsigned __brev(unsigned bits) {
  unsigned turned = 0;
  for (int i = 0; i < 32; i++) turned |= (bits >> i & 1) << (31 - i);
  return turned;
}
inline unsigned __float_as_uint(float value) { return parley::formats::BitsOf(value); }
inline float __uint_as_float(unsigned bits) { return parley::formats::FromBits(bits); }
inline int __float_as_int(float value) { return static_cast<int>(parley::formats::BitsOf(value)); }
inline float __int_as_float(int bits) { return parley::formats::FromBits(static_cast<unsigned>(bits)); }

// --- arithmetic. On a GPU __expf and rsqrtf are off by a few units in the last place.
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
template <class Value>
constexpr Value min(Value a, Value b) {
  return b < a ? b : a;
}
template <class Value>
constexpr Value max(Value a, Value b) {
  return a < b ? b : a;
}

namespace parley::cuda {

inline unsigned char* SharedBytes() { return emulator::SharedMemory(); }

// Sixteen products are summed without rounding, and then added to d: their order does not show.
void Mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);

inline void GridDependencyWait() { emulator::MarkAwaited(); }
inline void LaunchDependents() {}

template <class Value>
void StoreSame(Value* to, const Value& value) {
  static_assert(sizeof(Value) % 4 == 0);
  if (emulator::races::kAreChecked) emulator::StoreSame(to, &value, sizeof value);
  else *to = value;
}
inline void LanesHaveLoaded() {
  if (emulator::races::kAreChecked) __syncwarp();
}
using LoadsAhead = emulator::races::UnseenLoads;

inline void CopyAsync16(void* to, const void* from, bool valid) { emulator::RequestCopy(to, from, valid); }
inline void FetchLine(const void*) {}
inline void CommitCopies() { emulator::CommitRequested(); }
template <int kLeft>
inline void AwaitCopies() {
  emulator::MakeCopies(kLeft);
}

inline uint32_t ThisThread() { return threadIdx.x; }
inline uint32_t ThisBlock() { return blockIdx.x; }

template <uint32_t kThreads, uint32_t kBarrier = 1>
void NamedBarrier() {
  emulator::NamedBarrier(kBarrier, kThreads);
}

// --- formats of numbers
inline float FloatOf(float value) { return value; }
inline float FloatOf(int8_t value) { return static_cast<float>(value); }
inline float FloatOf(Fp8 value) { return ToFloat(value); }
inline float FloatOf(Bf16 value) { return ToFloat(value); }
inline float FloatOf(F16 value) { return ToFloat(value); }
inline Bf16 Bf16Of(float value) { return ToBf16(value); }
inline F16 F16Of(float value) { return ToF16(value); }
inline uint32_t PackBf16(float low, float high) {
  return ToBf16(low).bits | static_cast<uint32_t>(ToBf16(high).bits) << 16;
}
inline uint32_t PackF16(float low, float high) {
  return ToF16(low).bits | static_cast<uint32_t>(ToF16(high).bits) << 16;
}
inline float2 UnpackBf16(uint32_t pair) {
  return {formats::FromBits(pair << 16), formats::FromBits(pair & 0xffff0000)};
}
inline float2 UnpackF16(uint32_t pair) {
  return {ToFloat(F16{static_cast<uint16_t>(pair)}), ToFloat(F16{static_cast<uint16_t>(pair >> 16)})};
}
inline uint32_t FmaBf16(uint32_t a, uint32_t b, uint32_t c) {
  const auto of = [](uint32_t pair, uint32_t shift) {
    return ToFloat(Bf16{static_cast<uint16_t>(pair >> shift)});
  };
  const auto half = [&](uint32_t shift) {
    return ToBf16(std::fma(of(a, shift), of(b, shift), of(c, shift))).bits;
  };
  return half(0) | static_cast<uint32_t>(half(16)) << 16;
}
inline uint32_t MaskedOr(uint32_t a, uint32_t mask, uint32_t bits) { return (a & mask) | bits; }
inline uint32_t TakeBytes(uint32_t word, uint32_t places) {
  uint32_t taken = 0;
  for (uint32_t i = 0; i < 4; i++) taken |= (word >> (places >> 4 * i & 3) * 8 & 0xff) << 8 * i;
  return taken;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_WORDS_H_
