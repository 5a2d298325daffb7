// A weight matrix as the kernels read it, and the activations that it meets.
#ifndef PARLEY_KERNELS_MATRIX_H_
#define PARLEY_KERNELS_MATRIX_H_

#include <cstddef>
#include <cstdint>

namespace parley {

enum class Format : uint8_t { kF32, kF16, kBf16, kInt8, kFp8 };

// True if a weight is a number of 8 bits times the scale of its row.
constexpr bool HasScales(Format format) { return format == Format::kInt8 || format == Format::kFp8; }

constexpr size_t BytesOf(Format format) { return format == Format::kF32 ? 4 : HasScales(format) ? 1 : 2; }

// [rows, columns], row-major, without gaps: as the checkpoint holds it, so that
// a mapped file can be used in place. Not owned.
struct Matrix {
  Format format = Format::kF32;
  const void* values = nullptr;
  const float* scales = nullptr;  // [rows], where HasScales: a weight is value * scale of its row
  size_t rows = 0;
  size_t columns = 0;

  size_t Bytes() const { return rows * columns * BytesOf(format); }
};

// The inputs of a product: `count` vectors of `segments` * `length` floats.
// Vector c is the segments at values + c * stride + s * segment_stride.
//
// One segment: plain vectors. Several: the taps of a convolution over a
// time-major signal, read where it lies (see Convolution).
struct Vectors {
  const float* values = nullptr;
  size_t count = 0;
  size_t stride = 0;
  size_t length = 0;
  size_t segments = 1;
  size_t segment_stride = 0;
};

// Plain vectors without gaps: [count, length].
inline Vectors Rows(const float* values, size_t count, size_t length) {
  return {values, count, length, length, 1, 0};
}

// The steps that finish the product v = w x of a row, in this order; each is optional:
//   v += bias[row];  v *= gain[row] (a LayerScale);  y = v, or y += v.
struct Finish {
  const float* bias = nullptr;
  const float* gain = nullptr;
  bool add = false;
};

}  // namespace parley

#endif  // PARLEY_KERNELS_MATRIX_H_
