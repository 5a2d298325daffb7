// The vectors that a matrix of 8 bits is multiplied with: whole numbers of 16 bits, and a scale for each group of
// columns.
#ifndef PARLEY_KERNELS_CPU_ROUNDED_VECTORS_H_
#define PARLEY_KERNELS_CPU_ROUNDED_VECTORS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/matrix.h"

namespace parley::cpu {
namespace {

// Every segment of a vector begins a group; its last may be shorter. As many columns as 32 bits can hold the sum of,
// whatever the weights are.
constexpr size_t kGroupColumns = 512;
constexpr float kLargestWhole = 32767;
static_assert(int64_t{kGroupColumns} * 128 * 32767 <= INT32_MAX, "the sum of a group must fit 32 bits");

inline size_t GroupsOf(const Vectors& x) {
  return x.segments * ((x.length + kGroupColumns - 1) / kGroupColumns);
}

// A value of the group is its whole number * scale; the number is value * inverse, rounded.
struct GroupScale {
  float scale, inverse;
};

// Of the group's largest magnitude, which is infinite or NaN where a value is not finite: then nothing is
// rounded and the scale is NaN. It is never smaller than the least normal float, so that its inverse is finite.
inline GroupScale ScaleOf(float largest) {
  constexpr float kLeast = kLargestWhole * 1.17549435e-38f;
  if (!(largest < __builtin_inff())) return {__builtin_nanf(""), 0};
  const float most = largest < kLeast ? kLeast : largest;
  return {most / kLargestWhole, kLargestWhole / most};
}

}  // namespace

// Group by group, for each the vectors after one another. Not owned.
struct RoundedVectors {
  int16_t* values = nullptr;  // at a multiple of 64 bytes; of vector c in group g from (g * count + c) * kGroupColumns
                              // on, zeros after those of a shorter group
  float* scales = nullptr;    // of vector c in group g at g * count + c; four more can be read
  size_t count = 0;

  RoundedVectors From(size_t first) const { return {values + first * kGroupColumns, scales + first, count}; }
};

}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_ROUNDED_VECTORS_H_
