// Weights and activations as tensor cores take them: sums of one or two bf16 terms.
//
// A float x is hi + lo: hi the bf16 nearest to x, lo the bf16 nearest to x - hi, together 16 bits and more of
// its 24. Weights of bf16 and of 8 bits (whole numbers up to 128 or fp8; the row's scale comes at the end)
// are one term and exact; of f16 two, and exact; of f32 two, which keep 16 bits.
//
// The order of columns is the same in every kernel: 16 at a time, as they lie in memory. A tensor core of 9.0
// adds sixteen products at once (seen, bit by bit), so that their places among the sixteen do not matter:
// thread t of a quad (t = lane % 4) holds columns 4 f .. 4 f + 3 of each sixteen of its rows and of its
// vectors, where f is t with its two bits changed (FourOf). They come in chunks of 32: the pairs 0 and 1 of a
// thread's eight are of the first sixteen, the pairs 2 and 3 of the second. So a thread that loads eight
// neighbouring columns, 8 t .. 8 t + 7, has four of its own, and gets the others from thread t ^ 2, which
// wants its other four.
#ifndef PARLEY_KERNELS_CUDA_TERMS_CUH_
#define PARLEY_KERNELS_CUDA_TERMS_CUH_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/matrix.h"

namespace parley::cuda {

// Two weights of 8 bits as two bf16, which hold them exactly.

// twice: a byte in both bytes of its half, the first in the lower one.
template <Format kFormat>
__device__ __forceinline__ uint32_t PairOfBytes(uint32_t twice) {
  static_assert(HasScales(kFormat));
  if constexpr (kFormat == Format::kInt8) {
    // From 128 to 255 bf16 has the whole numbers: 128 and the lower seven bits, less 128, or where the sign
    // is set less 256, whose exponent is one more.
    return FmaBf16(MaskedOr(twice, 0x007f007fu, 0x43004300u), 0x3f803f80u,
                   MaskedOr(twice, 0x00800080u, 0xc300c300u));
  } else {
    // Exponent and fraction where bf16 has their lower bits: 2^120 times too small, subnormal numbers too.
    return FmaBf16(MaskedOr(twice >> 4, 0x07f007f0u, twice & 0x80008000u), 0x7b807b80u, 0x80008000u);
  }
}

constexpr uint32_t kChunk = 32;  // columns
constexpr uint32_t kEight = 8;   // columns of a thread in a chunk ..
constexpr uint32_t kFour = 4;    // .. of which it has as many of the first sixteen as of the second

// Index of the thread's four among a sixteen.
__device__ __forceinline__ uint32_t FourOf(uint32_t lane) { return lane % 4 / 2 + lane % 2 * 2; }

// Turns eight adjacent columns, in two halves, into this thread's eight of the chunk, by an exchange with
// lane ^ 2. All lanes of a warp call it.
template <int kWords>
__device__ __forceinline__ void ChangeFours(uint32_t (&first)[kWords], uint32_t (&second)[kWords]) {
  const bool is_low = threadIdx.x % 4 < 2;
#pragma unroll
  for (int i = 0; i < kWords; i++) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, is_low ? second[i] : first[i], 2);
    // A chosen array would lie in memory.
    first[i] = is_low ? first[i] : other;
    second[i] = is_low ? other : second[i];
  }
}

// Eight columns of a row or a vector, as pairs of bf16, in kTerms terms.
template <int kTerms>
struct Eight {
  uint32_t pairs[kTerms][4];
};

template <int kTerms>
__device__ __forceinline__ void SplitPair(float low, float high, int pair, Eight<kTerms>* to) {
  const uint32_t rounded = PackBf16(low, high);
  to->pairs[0][pair] = rounded;
  if constexpr (kTerms == 2) {
    const float2 near = UnpackBf16(rounded);
    to->pairs[1][pair] = PackBf16(low - near.x, high - near.y);
  }
}

template <int kTerms>
__device__ __forceinline__ Eight<kTerms> Split(const float (&x)[8]) {
  Eight<kTerms> to;
#pragma unroll
  for (int p = 0; p < 4; p++) SplitPair(x[2 * p], x[2 * p + 1], p, &to);
  return to;
}

// Eight floats of a vector, from multiples of 16 bytes.
struct EightFloats {
  float4 first, second;
};

// A thread's of a chunk, the first of which lies at `at`.
__device__ __forceinline__ EightFloats LoadTwoFours(const float* at) {
  return {*reinterpret_cast<const float4*>(at), *reinterpret_cast<const float4*>(at + 4 * kFour)};
}

__device__ __forceinline__ EightFloats LoadEight(const float* at) {
  return {*reinterpret_cast<const float4*>(at), *reinterpret_cast<const float4*>(at + 4)};
}

template <int kTerms>
__device__ __forceinline__ Eight<kTerms> TermsOf(const EightFloats& x) {
  return Split<kTerms>(
      {x.first.x, x.first.y, x.first.z, x.first.w, x.second.x, x.second.y, x.second.z, x.second.w});
}

// Memory layout of a thread's eight weights of a chunk, and their conversion to terms. Global loads a
// thread's weights, kLane bytes after the previous thread's. Placed, and Shared from two places kSecond bytes
// apart, give those that the thread holds.
template <Format kFormat>
struct Weights;

// 16-bit weights.
struct WeightsOfHalves {
  static constexpr int kBytes = 16, kSecond = 32, kLane = 16;
  using Raw = uint4;
  static __device__ __forceinline__ Raw Global(const unsigned char* at) {
    return __ldg(reinterpret_cast<const uint4*>(at));
  }
  static __device__ __forceinline__ Raw Placed(const Raw& raw) {
    uint32_t first[2] = {raw.x, raw.y}, second[2] = {raw.z, raw.w};
    ChangeFours(first, second);
    return make_uint4(first[0], first[1], second[0], second[1]);
  }
  static __device__ __forceinline__ Raw Shared(const unsigned char* first, const unsigned char* second) {
    const uint2 low = *reinterpret_cast<const uint2*>(first), high = *reinterpret_cast<const uint2*>(second);
    return make_uint4(low.x, low.y, high.x, high.y);
  }
};

template <>
struct Weights<Format::kBf16> : WeightsOfHalves {
  static constexpr int kTerms = 1;
  static __device__ __forceinline__ Eight<1> Terms(const Raw& raw) {
    return {{{raw.x, raw.y, raw.z, raw.w}}};
  }
};

template <>
struct Weights<Format::kF16> : WeightsOfHalves {
  static constexpr int kTerms = 2;
  static __device__ __forceinline__ Eight<2> Terms(const Raw& raw) {
    const uint32_t words[4] = {raw.x, raw.y, raw.z, raw.w};
    Eight<2> to;
#pragma unroll
    for (int p = 0; p < 4; p++) {
      const float2 two = UnpackF16(words[p]);
      SplitPair(two.x, two.y, p, &to);
    }
    return to;
  }
};

template <>
struct Weights<Format::kF32> {
  static constexpr int kTerms = 2, kBytes = 32, kSecond = 64, kLane = 32;
  struct Raw {
    float4 first, second;
  };
  static __device__ __forceinline__ Raw Global(const unsigned char* at) {
    return {__ldg(reinterpret_cast<const float4*>(at)), __ldg(reinterpret_cast<const float4*>(at) + 1)};
  }
  static __device__ __forceinline__ Raw Placed(const Raw& raw) {
    uint32_t first[4] = {__float_as_uint(raw.first.x), __float_as_uint(raw.first.y),
                         __float_as_uint(raw.first.z), __float_as_uint(raw.first.w)};
    uint32_t second[4] = {__float_as_uint(raw.second.x), __float_as_uint(raw.second.y),
                          __float_as_uint(raw.second.z), __float_as_uint(raw.second.w)};
    ChangeFours(first, second);
    return {{__uint_as_float(first[0]), __uint_as_float(first[1]), __uint_as_float(first[2]),
             __uint_as_float(first[3])},
            {__uint_as_float(second[0]), __uint_as_float(second[1]), __uint_as_float(second[2]),
             __uint_as_float(second[3])}};
  }
  static __device__ __forceinline__ Raw Shared(const unsigned char* first, const unsigned char* second) {
    return {*reinterpret_cast<const float4*>(first), *reinterpret_cast<const float4*>(second)};
  }
  static __device__ __forceinline__ Eight<2> Terms(const Raw& raw) {
    return Split<2>({raw.first.x, raw.first.y, raw.first.z, raw.first.w, raw.second.x, raw.second.y,
                     raw.second.z, raw.second.w});
  }
};

// 8-bit weights.
template <Format kFormat>
struct WeightsOfBytes {
  static constexpr int kTerms = 1, kBytes = 8, kSecond = 16, kLane = 8;
  using Raw = uint2;
  static __device__ __forceinline__ Raw Global(const unsigned char* at) {
    return __ldg(reinterpret_cast<const uint2*>(at));
  }
  static __device__ __forceinline__ Raw Placed(const Raw& raw) {
    uint32_t first[1] = {raw.x}, second[1] = {raw.y};
    ChangeFours(first, second);
    return {first[0], second[0]};
  }
  static __device__ __forceinline__ Raw Shared(const unsigned char* first, const unsigned char* second) {
    return {*reinterpret_cast<const uint32_t*>(first), *reinterpret_cast<const uint32_t*>(second)};
  }
  static __device__ __forceinline__ Eight<1> Terms(const Raw& raw) {
    const uint32_t words[2] = {raw.x, raw.y};
    Eight<1> to;
#pragma unroll
    for (int p = 0; p < 4; p++)
      to.pairs[0][p] = PairOfBytes<kFormat>(TakeBytes(words[p / 2], p % 2 == 0 ? 0x1100 : 0x3322));
    return to;
  }
};

template <>
struct Weights<Format::kInt8> : WeightsOfBytes<Format::kInt8> {};
template <>
struct Weights<Format::kFp8> : WeightsOfBytes<Format::kFp8> {};

// acc[r][first + n] += of 16 rows r (a[r]: rows g and g + 8 of them) and 8 vectors n, over a chunk. For each
// accumulator the order is: of the first 16 columns hi hi, hi lo, lo hi (weight, activation; as far as there
// are such terms), then of the second. Accumulators take turns, so that none waits for itself.
template <int kFirst, int kRows, int kAll, int kVectors, int kWeightTerms, int kTerms>
__device__ __forceinline__ void MultiplyChunk(const Eight<kWeightTerms> (&a)[kRows][2],
                                              const Eight<kTerms> (&b)[kVectors],
                                              float (&acc)[kRows][kAll][4]) {
#pragma unroll
  for (int half = 0; half < 4; half += 2) {
#pragma unroll
    for (int w = 0; w < kWeightTerms; w++) {
#pragma unroll
      for (int x = 0; x < kTerms; x++) {
        if (w + x > 1) continue;
#pragma unroll
        for (int n = 0; n < kVectors; n++) {
#pragma unroll
          for (int r = 0; r < kRows; r++) {
            Mma(acc[r][kFirst + n],
                {a[r][0].pairs[w][half], a[r][1].pairs[w][half], a[r][0].pairs[w][half + 1],
                 a[r][1].pairs[w][half + 1]},
                {b[n].pairs[x][half], b[n].pairs[x][half + 1]});
          }
        }
      }
    }
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TERMS_CUH_
