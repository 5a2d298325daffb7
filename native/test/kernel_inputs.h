// Inputs for the tests of kernels, and the variants that this processor runs.
#ifndef PARLEY_TEST_KERNEL_INPUTS_H_
#define PARLEY_TEST_KERNEL_INPUTS_H_

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/number_formats.h"
#include "kernels/quantization.h"
#include "media/random.h"

namespace parley::test {

// In [-1, 1).
inline std::vector<float> RandomFloats(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.Unit() - 1);
  return values;
}

inline std::vector<const cpu::Variant*> Variants() {
  std::vector<const cpu::Variant*> found;
  for (const char* name : {"portable", "avx2", "avx512"}) {
    if (const cpu::Variant* variant = cpu::VariantNamed(name)) found.push_back(variant);
  }
  return found;
}

inline std::unique_ptr<cpu::CpuKernels> MakeKernels(const cpu::Variant& variant = cpu::kPortable,
                                                    unsigned threads = 1) {
  cpu::ThreadPoolOptions options;
  options.threads = threads;
  return std::make_unique<cpu::CpuKernels>(options, variant);
}

constexpr Format kFormats[] = {Format::kF32, Format::kF16, Format::kBf16, Format::kInt8, Format::kFp8};

// A random matrix and the storage behind it, in blocks of their exact size so
// that reading past the end is noticed.
struct StoredMatrix {
  std::vector<float> f32;
  std::vector<F16> f16;
  std::vector<Bf16> bf16;
  QuantizedMatrix bytes;  // 8-bit weights
  Matrix matrix;

  // The weight that the kernels mean.
  double At(size_t row, size_t column) const {
    const size_t i = row * matrix.columns + column;
    switch (matrix.format) {
      case Format::kF32:
        return f32[i];
      case Format::kF16:
        return ToFloat(f16[i]);
      case Format::kBf16:
        return ToFloat(bf16[i]);
      case Format::kInt8:
        return static_cast<double>(bytes.values[i]) * bytes.scales[row];
      case Format::kFp8:
        return static_cast<double>(ToFloat(Fp8{static_cast<uint8_t>(bytes.values[i])})) * bytes.scales[row];
    }
    return 0;
  }
};

inline std::unique_ptr<StoredMatrix> MakeMatrix(Format format, size_t rows, size_t columns, uint64_t seed) {
  auto stored = std::make_unique<StoredMatrix>();
  stored->f32 = RandomFloats(rows * columns, seed);
  const Matrix plain{Format::kF32, stored->f32.data(), nullptr, rows, columns};
  for (const float value : stored->f32) {
    if (format == Format::kF16) stored->f16.push_back(ToF16(value));
    if (format == Format::kBf16) stored->bf16.push_back(ToBf16(value));
  }
  stored->f16.shrink_to_fit();
  stored->bf16.shrink_to_fit();
  stored->matrix = plain;
  stored->matrix.format = format;
  if (format == Format::kF16) stored->matrix.values = stored->f16.data();
  if (format == Format::kBf16) stored->matrix.values = stored->bf16.data();
  if (HasScales(format)) {
    stored->bytes = Quantize(plain, format);
    stored->matrix = ViewOf(stored->bytes);
  }
  return stored;
}

inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_KERNEL_INPUTS_H_
