// The hot loops, once per instruction set, and the choice among them.
//
// Every variant gives the same bits. These rules define the result:
//
//   16 lanes. A sum over k keeps 16 partial sums; element k of a segment goes to
//   lane k % 16 by a fused multiply-add, in the order of k; each segment begins at lane 0
//   again; a last part of fewer than 16 is filled with zeros. The lanes are then
//   added as a tree: i and i+8, i and i+4, i and i+2, i and i+1.
//
// A lane is one float of a register: two AVX2 registers or one AVX-512 register hold the 16, and the portable
// variant uses an array. Nothing else is fused (the files are compiled with -ffp-contract=off). The number of
// rows and columns that a loop takes at once changes nothing, because each result has its own 16 lanes. A
// result therefore depends neither on the batch nor on the number of threads.
//
//   8-bit weights. A product of Format::kInt8 takes its vectors rounded to 16 bits: of every group of 512
//   columns of a segment (the last may be shorter) the scale is the largest magnitude / 32767, and a value
//   becomes the integer nearest to value * (32767 / largest), ties to even. A group is summed exactly; its
//   sum as a float times the scale is added to the row's total by a fused multiply-add, in the order of the
//   groups. A value that is not finite makes the scale NaN, and so every row's result for this vector.
//
// Integers can be added in any order, so integer sums have no lanes. Weights of Format::kFp8 are treated as
// floats: a weight is widened exactly as it is loaded, and the row's scale is applied at the end.
#ifndef PARLEY_KERNELS_CPU_VARIANT_H_
#define PARLEY_KERNELS_CPU_VARIANT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/matrix.h"

namespace parley::cpu {

// The vectors that a matrix of 8 bits is multiplied with: whole numbers of 16 bits, and a scale for each
// group of columns.

namespace {

// Every segment of a vector begins a group; its last may be shorter. As many columns as 32 bits can hold the
// sum of, whatever the weights are.
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

// Scale for a group's largest magnitude. If that is infinite or NaN, because a value is not finite, nothing
// is rounded and the scale is NaN. The magnitude is at least the smallest normal float, so that its inverse
// is finite.
inline GroupScale ScaleOf(float largest) {
  constexpr float kLeast = kLargestWhole * 1.17549435e-38f;
  if (!(largest < __builtin_inff())) return {__builtin_nanf(""), 0};
  const float most = largest < kLeast ? kLeast : largest;
  return {most / kLargestWhole, kLargestWhole / most};
}

}  // namespace

// Group by group, for each the vectors after one another. Not owned.
struct RoundedVectors {
  int16_t* values =
      nullptr;  // at a multiple of 64 bytes; of vector c in group g from (g * count + c) * kGroupColumns
                // on, zeros after those of a shorter group
  float* scales = nullptr;  // vector c of group g at g * count + c; four more can be read
  size_t count = 0;

  RoundedVectors From(size_t first) const { return {values + first * kGroupColumns, scales + first, count}; }
};

// y[c * y_stride + r - first], for rows [first, last) and every vector c of x. The
// matrix has as many columns as a vector has floats.
struct Product {
  Matrix w;
  Vectors x;
  Finish finish;
  float* y;
  size_t y_stride;
  size_t first, last;
  RoundedVectors rounded = {};  // x, where w is of kInt8
  float* room = nullptr;  // at a multiple of 64 bytes, as many floats as the variant needs; slower without
};

// One query of one head: scores = scale * (q . k_j), softmax, output = sum of weights v_j,
// summed over j in order, lane by lane without a tree. Position j of `count` lies
// in row (first + j) % capacity; rows are `row` elements apart.
struct HeadAttention {
  Format format;
  const void* keys;
  const void* values;
  size_t row, capacity, first, count, head_dim;
  const float* query;
  float scale;
  float* output;
  float* scores;  // room for count
};

struct Variant {
  const char* name;
  void (*multiply)(const Product& product);
  // The vectors [first, last) of x to their places.
  void (*round)(const Vectors& x, size_t first, size_t last, const RoundedVectors& to);
  size_t (*room)(const Product& product);  // floats; what is enough for a product is so for any share of it
  void (*attend)(const HeadAttention& head);
  float (*sum)(const float* x, size_t count);
  float (*sum_squares)(const float* x, float offset, size_t count);  // sum of (x - offset)^2
  // gate = gate / (1 + e^-gate) * up
  void (*silu_multiply)(float* gate, const float* up, size_t count);
  // In place.
  void (*silu)(float* x, size_t count);
  void (*gelu_tanh)(float* x, size_t count);
  void (*elu)(float* x, size_t count);
  void (*snake)(const float* x, const float* a, const float* b, size_t rows, size_t channels, float* y);
  // y[t] = bias + sum over taps j in order of w[j] * x[t + j], per channel, fused.
  void (*depthwise)(const float* w, const float* bias, size_t channels, size_t taps, const float* x,
                    size_t count, float* y);
};

extern const Variant kPortable;

// Null where this build or this processor lacks it. Also by name, "portable",
// "avx2", "avx512", for tests.
const Variant* Avx2Variant();
const Variant* Avx512Variant();
const Variant* VariantNamed(const char* name);

// The best of this processor, or the one that the environment variable KERNELS names.
// Throws std::invalid_argument when that one is unknown or cannot run here.
const Variant& ChooseVariant();

}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_VARIANT_H_
