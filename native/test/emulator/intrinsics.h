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

// CUDA's vector types, aligned as a GPU aligns them.
#define PARLEY_VECTOR_OF_2(Name, Value)    \
  struct alignas(2 * sizeof(Value)) Name { \
    Value x, y;                            \
  };                                       \
  inline Name make_##Name(Value x, Value y) { return {x, y}; }

#define PARLEY_VECTOR_OF_3(Name, Value) \
  struct Name {                         \
    Value x, y, z;                      \
  };                                    \
  inline Name make_##Name(Value x, Value y, Value z) { return {x, y, z}; }

#define PARLEY_VECTOR_OF_4(Name, Value)                             \
  struct alignas(sizeof(Value) < 4 ? 4 * sizeof(Value) : 16) Name { \
    Value x, y, z, w;                                               \
  };                                                                \
  inline Name make_##Name(Value x, Value y, Value z, Value w) { return {x, y, z, w}; }

#define PARLEY_VECTORS(name, Value)  \
  PARLEY_VECTOR_OF_2(name##2, Value) \
  PARLEY_VECTOR_OF_3(name##3, Value) \
  PARLEY_VECTOR_OF_4(name##4, Value)

PARLEY_VECTORS(char, signed char)
PARLEY_VECTORS(uchar, unsigned char)
PARLEY_VECTORS(short, short)
PARLEY_VECTORS(ushort, unsigned short)
PARLEY_VECTORS(int, int)
PARLEY_VECTORS(uint, unsigned)
PARLEY_VECTORS(float, float)
PARLEY_VECTOR_OF_2(longlong2, long long)
PARLEY_VECTOR_OF_2(ulonglong2, unsigned long long)
PARLEY_VECTOR_OF_2(double2, double)

#undef PARLEY_VECTORS
#undef PARLEY_VECTOR_OF_2
#undef PARLEY_VECTOR_OF_3
#undef PARLEY_VECTOR_OF_4

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// CUDA's functions of a warp and of a block.
inline void __syncthreads() { parley::cuda::emulator::BlockBarrier(0); }
inline int __syncthreads_count(int vote) {
  return static_cast<int>(parley::cuda::emulator::BlockBarrier(vote != 0));
}
inline int __syncthreads_or(int vote) { return parley::cuda::emulator::BlockBarrier(vote != 0) != 0; }
inline int __syncthreads_and(int vote) { return parley::cuda::emulator::BlockBarrier(vote == 0) == 0; }

inline void __syncwarp(uint32_t mask = 0xffffffff) {
  parley::cuda::emulator::WarpCollective(
      "__syncwarp", mask, nullptr, [](void* const*, uint32_t) {}, parley::cuda::emulator::Memory::kOrdered);
}

namespace parley::cuda::emulator {

// A lane's value, the lane whose value it wants, and that value.
template <class Value>
struct Exchange {
  Value given;
  uint32_t from;
  Value taken;
};

template <class Value>
void JoinExchange(void* const lanes[32], uint32_t mask) {
  for (uint32_t l = 0; l < 32; l++) {
    if ((mask >> l & 1) == 0) continue;
    auto* mine = static_cast<Exchange<Value>*>(lanes[l]);
    if (lanes[mine->from] == nullptr) Refuse("a shuffle reads a lane that is not in its mask");
    mine->taken = static_cast<Exchange<Value>*>(lanes[mine->from])->given;
  }
}

template <class Value>
Value Shuffle(const char* word, uint32_t mask, Value value, uint32_t from) {
  Exchange<Value> mine{value, from, value};
  WarpCollective(word, mask, &mine, JoinExchange<Value>);
  return mine.taken;
}

// The first lane of the caller's part of the warp; `width` is a power of two.
inline uint32_t PartOf(uint32_t lane, int width) { return lane & ~(static_cast<uint32_t>(width) - 1); }

template <class Join>
uint32_t Reduce(const char* word, uint32_t mask, uint32_t value, Join) {
  WarpCollective(word, mask, &value, [](void* const lanes[32], uint32_t all) {
    uint32_t total = 0;
    bool is_first = true;
    for (uint32_t l = 0; l < 32; l++) {
      if ((all >> l & 1) == 0) continue;
      const uint32_t one = *static_cast<uint32_t*>(lanes[l]);
      total = is_first ? one : Join()(total, one);
      is_first = false;
    }
    for (uint32_t l = 0; l < 32; l++) {
      if (all >> l & 1) *static_cast<uint32_t*>(lanes[l]) = total;
    }
  });
  return value;
}

struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct Or {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Larger {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a > b ? a : b; }
};
struct Smaller {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? a : b; }
};

}  // namespace parley::cuda::emulator

template <class Value>
Value __shfl_sync(uint32_t mask, Value value, int from, int width = 32) {
  using namespace parley::cuda::emulator;
  return Shuffle("__shfl_sync", mask, value,
                 PartOf(Lane(), width) + (static_cast<uint32_t>(from) & (width - 1)));
}
template <class Value>
Value __shfl_xor_sync(uint32_t mask, Value value, int lanes, int width = 32) {
  using namespace parley::cuda::emulator;
  const uint32_t from = Lane() ^ static_cast<uint32_t>(lanes);
  return Shuffle("__shfl_xor_sync", mask, value, from < PartOf(Lane(), width) + width ? from : Lane());
}
template <class Value>
Value __shfl_down_sync(uint32_t mask, Value value, unsigned lanes, int width = 32) {
  using namespace parley::cuda::emulator;
  const uint32_t from = Lane() + lanes;
  return Shuffle("__shfl_down_sync", mask, value, from < PartOf(Lane(), width) + width ? from : Lane());
}
template <class Value>
Value __shfl_up_sync(uint32_t mask, Value value, unsigned lanes, int width = 32) {
  using namespace parley::cuda::emulator;
  return Shuffle("__shfl_up_sync", mask, value,
                 Lane() >= PartOf(Lane(), width) + lanes ? Lane() - lanes : Lane());
}

inline uint32_t __ballot_sync(uint32_t mask, int vote) {
  using namespace parley::cuda::emulator;
  return Reduce("__ballot_sync", mask, vote != 0 ? uint32_t{1} << Lane() : 0, Or());
}
inline int __any_sync(uint32_t mask, int vote) {
  using namespace parley::cuda::emulator;
  return static_cast<int>(Reduce("__any_sync", mask, vote != 0, Larger()));
}
inline int __all_sync(uint32_t mask, int vote) {
  using namespace parley::cuda::emulator;
  return static_cast<int>(Reduce("__all_sync", mask, vote != 0, Smaller()));
}
inline uint32_t __reduce_add_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_add_sync", mask, value, parley::cuda::emulator::Sum());
}
inline uint32_t __reduce_max_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_max_sync", mask, value, parley::cuda::emulator::Larger());
}
inline uint32_t __reduce_min_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_min_sync", mask, value, parley::cuda::emulator::Smaller());
}
inline uint32_t __reduce_or_sync(uint32_t mask, uint32_t value) {
  return parley::cuda::emulator::Reduce("__reduce_or_sync", mask, value, parley::cuda::emulator::Or());
}

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
