#include "model/shared/weights.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "kernels/number_formats.h"
#include "kernels/quantization.h"
#include "model/files/file.h"

namespace parley::model {
namespace {

constexpr size_t kPart = size_t{16} << 20;  // bytes that are read or uploaded without a pause

size_t RowsOf(const Tensor& tensor) {
  return tensor.shape.empty() ? 1 : static_cast<size_t>(tensor.shape.front());
}

// A matrix in place, as the file holds it.
Matrix HostView(const Tensor& tensor) {
  const size_t rows = RowsOf(tensor);
  return {FormatOf(tensor), tensor.data, nullptr, rows, rows == 0 ? 0 : tensor.count() / rows};
}

template <class Value>
void ReadValues(const void* from, size_t count, float* values) {
  const auto* const own = static_cast<const Value*>(from);
  for (size_t i = 0; i < count; i++) values[i] = ToFloat(own[i]);
}

// Without their sign, bits of floating-point numbers are in the order of the values, and what is not finite
// follows.
template <class Bits>
Bits GreatestBits(const void* values, size_t count) {
  const auto* const bits = static_cast<const Bits*>(values);
  constexpr Bits kUnsigned = static_cast<Bits>(-1) >> 1;
  Bits greatest = 0;
  for (size_t i = 0; i < count; i++) greatest = std::max<Bits>(greatest, bits[i] & kUnsigned);
  return greatest;
}

float GreatestOf(Format format, const void* values, size_t count) {
  float greatest = 0;
  if (format == Format::kF32) {
    const uint32_t bits = GreatestBits<uint32_t>(values, count);
    std::memcpy(&greatest, &bits, sizeof greatest);
    return greatest;
  }
  const uint16_t bits = GreatestBits<uint16_t>(values, count);
  return format == Format::kF16 ? ToFloat(F16{bits}) : ToFloat(Bf16{bits});
}

void CheckMagnitude(float greatest, float most) {
  if (greatest <= most) return;
  char text[96];
  std::snprintf(text, sizeof text, "holds a weight of %g; weights must be finite and at most %g",
                static_cast<double>(greatest), static_cast<double>(most));
  throw std::invalid_argument(text);
}

float GreatestOf(const Matrix& matrix) {
  return GreatestOf(matrix.format, matrix.values, matrix.rows * matrix.columns);
}

// Throws std::invalid_argument without a name. Reads the file: it pauses between two parts.
void CheckValues(Kernels& kernels, const Matrix& host) {
  const size_t count = host.rows * host.columns, part = kPart / BytesOf(host.format);
  for (size_t at = 0; at < count; at += part) {
    const auto* const values = static_cast<const uint8_t*>(host.values) + at * BytesOf(host.format);
    CheckMagnitude(GreatestOf(host.format, values, std::min(part, count - at)), kGreatestWeight);
    kernels.Pause();
  }
}

std::vector<float> ReadValues(const Matrix& matrix) {
  std::vector<float> values(matrix.rows * matrix.columns);
  switch (matrix.format) {
    case Format::kF32:
      ReadValues<float>(matrix.values, values.size(), values.data());
      break;
    case Format::kF16:
      ReadValues<F16>(matrix.values, values.size(), values.data());
      break;
    case Format::kBf16:
      ReadValues<Bf16>(matrix.values, values.size(), values.data());
      break;
    case Format::kInt8:
    case Format::kFp8:
      throw std::invalid_argument("a matrix of 8 bits has no plain values");
  }
  return values;
}

}  // namespace

Format FormatOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF32:
      return Format::kF32;
    case Dtype::kF16:
      return Format::kF16;
    case Dtype::kBf16:
      return Format::kBf16;
    default:
      throw std::invalid_argument(std::string("expected ") + kWeightDtypes + ", found " +
                                  FactsOf(dtype).name);
  }
}

Format FormatOf(const Tensor& tensor) {
  if (IsWeightDtype(tensor.dtype)) return FormatOf(tensor.dtype);
  throw std::invalid_argument(tensor.name + ": expected " + kWeightDtypes + ", found " +
                              FactsOf(tensor.dtype).name);
}

Format FormatFor(const Tensor& tensor, std::optional<Format> format) {
  const Format own = FormatOf(tensor);
  return format && BytesOf(*format) < BytesOf(own) ? *format : own;
}

std::vector<float> ToFloats(const Tensor& tensor) {
  const Matrix host = HostView(tensor);
  try {
    CheckMagnitude(GreatestOf(host), kGreatestWeight);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(tensor.name + ": " + error.what());
  }
  return ReadValues(host);
}

std::vector<uint8_t> Rounded(const float* values, size_t count, Format format) {
  std::vector<uint8_t> bytes(count * BytesOf(format));
  for (size_t i = 0; i < count; i++) {
    const uint16_t bits = format == Format::kF16 ? ToF16(values[i]).bits : ToBf16(values[i]).bits;
    format == Format::kF32 ? std::memcpy(&bytes[4 * i], &values[i], 4) : std::memcpy(&bytes[2 * i], &bits, 2);
  }
  return bytes;
}

Weights::~Weights() {
  for (void* const memory : memory_) kernels_.Free(memory);
}

void* Weights::Take(size_t bytes) {
  memory_.reserve(memory_.size() + 1);  // so that what was allocated is never lost
  void* const memory = kernels_.Allocate(bytes);
  memory_.push_back(memory);
  own_bytes_ += bytes;
  return memory;
}

void* Weights::Keep(const void* from_host, size_t bytes) {
  void* const memory = Take(bytes);
  for (size_t at = 0; at < bytes; at += kPart) {
    kernels_.Upload(static_cast<uint8_t*>(memory) + at, static_cast<const uint8_t*>(from_host) + at,
                    std::min(kPart, bytes - at));
    kernels_.Wait();
    kernels_.Pause();
  }
  return memory;
}

Matrix Weights::Kept(const Matrix& host, Format format) {
  Matrix kept = host;
  kept.format = format;
  if (format == host.format) {
    kept.values = Keep(host.values, host.Bytes());
  } else if (HasScales(format)) {
    const QuantizedMatrix quantized = parley::Quantize(host, format);
    kept.values = Keep(quantized.values.data(), quantized.values.size());
    kept.scales =
        static_cast<const float*>(Keep(quantized.scales.data(), quantized.scales.size() * sizeof(float)));
  } else {
    const std::vector<float> values = ReadValues(host);  // exact for bf16 and f16
    if (format == Format::kF16) CheckMagnitude(GreatestOf(host), kGreatestF16);
    const std::vector<uint8_t> rounded = Rounded(values.data(), values.size(), format);
    kept.values = Keep(rounded.data(), rounded.size());
  }
  return kept;
}

Matrix Weights::Of(const Tensor& tensor) { return Of(tensor, std::nullopt); }

Matrix Weights::Of(const Tensor& tensor, std::optional<Format> wanted) {
  const Matrix host = HostView(tensor);
  const Format format = FormatFor(tensor, wanted);
  try {
    if (!HasScales(format)) CheckValues(kernels_, host);
    if (format == host.format && kernels_.ReadsHostMemory()) {
      mapped_bytes_ += tensor.bytes;
      return host;
    }
    const Matrix kept = Kept(host, format);
    if (HasScales(format)) CheckValues(kernels_, host);  // quantization has refused what is not finite
    ForgetPages(tensor.data, tensor.bytes);
    return kept;
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(tensor.name + ": " + error.what());
  }
}

const float* Weights::Floats(const Tensor& tensor) { return Floats(ToFloats(tensor)); }

const float* Weights::Floats(const std::vector<float>& values) {
  return static_cast<const float*>(Keep(values.data(), values.size() * sizeof(float)));
}

float* Weights::Room(size_t count) { return static_cast<float*>(Take(count * sizeof(float))); }

Matrix Weights::Packed(const std::vector<float>& values, size_t rows, size_t columns, Format format) {
  if (values.size() != rows * columns) throw std::invalid_argument("packed weights do not fill their matrix");
  return Kept({Format::kF32, values.data(), nullptr, rows, columns}, format);
}

}  // namespace parley::model
