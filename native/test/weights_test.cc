// Weights in the formats of the kernels: in place, rounded, in 8 bits.
#include "model/shared/weights.h"

#include <cstring>
#include <stdexcept>

#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

const char* const kMatrix = "talker.model.layers.0.mlp.gate_proj.weight";

// y = w x, which is what a matrix means.
std::vector<float> Product(SpeechKernels& kernels, const Matrix& w) {
  const std::vector<float> x = RandomFloats(w.columns, 1);
  std::vector<float> y(w.rows);
  kernels.Multiply(w, Rows(x.data(), 1, w.columns), {}, y.data());
  return y;
}

struct Loaded {
  std::unique_ptr<const SpeechCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels = MakeKernels();
  Weights weights{*kernels};

  explicit Loaded(const char* name) : checkpoint(OpenGolden(name)) {}
};

void AMatrixInItsOwnFormatIsReadInPlace() {
  Loaded of("tiny-customvoice");
  const Tensor& tensor = of.checkpoint->ModelTensor(kMatrix);
  const Matrix matrix = of.weights.Of(tensor);
  CHECK(matrix.format == Format::kBf16);
  CHECK(matrix.values == tensor.data);
  CHECK_EQ(matrix.rows, static_cast<size_t>(tensor.shape[0]));
  CHECK_EQ(matrix.columns, static_cast<size_t>(tensor.shape[1]));
  CHECK_EQ(of.weights.OwnBytes(), size_t{0});
  CHECK_EQ(of.weights.MappedBytes(), tensor.bytes);
}

void AMatrixCanBeRounded() {
  Loaded of("tiny-customvoice");
  const Tensor& f32 = of.checkpoint->CodecTensor("decoder.pre_transformer.layers.0.mlp.up_proj.weight");
  const std::vector<float> values = ToFloats(f32);
  const size_t rows = static_cast<size_t>(f32.shape[0]), columns = values.size() / rows;
  for (const Format format : {Format::kF16, Format::kBf16}) {
    const Matrix rounded = of.weights.Of(f32, format);
    CHECK(rounded.format == format);
    CHECK(SameBits(Product(*of.kernels, rounded),
                   Product(*of.kernels, of.weights.Packed(values, rows, columns, format))));
    for (size_t i = 0; i < values.size(); i++) {
      const auto* const bits = static_cast<const uint16_t*>(rounded.values);
      CHECK_EQ(bits[i], format == Format::kF16 ? ToF16(values[i]).bits : ToBf16(values[i]).bits);
    }
  }
}

// Neither widened, which would change nothing, nor taken from one format of 16 bits to the other.
void AMatrixOfNoMoreBytesThanAskedForIsReadInPlace() {
  const std::vector<float> values = RandomFloats(6, 3);
  const auto kernels = MakeKernels();
  Weights weights(*kernels);
  size_t mapped = 0;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBf16}) {
    const std::vector<uint8_t> bytes = Rounded(values.data(), values.size(), FormatOf(dtype));
    const Tensor tensor{"a.weight", dtype, {2, 3}, bytes.data(), bytes.size()};
    for (const Format wanted : {Format::kF32, Format::kF16, Format::kBf16}) {
      const bool narrower = dtype == Dtype::kF32 && wanted != Format::kF32;
      const Matrix matrix = weights.Of(tensor, wanted);
      CHECK(matrix.format == (narrower ? wanted : FormatOf(dtype)));
      CHECK_EQ(matrix.values == bytes.data(), !narrower);
      mapped += narrower ? 0 : bytes.size();
    }
  }
  CHECK_EQ(weights.MappedBytes(), mapped);
  CHECK_EQ(weights.OwnBytes(), 2 * 2 * values.size());
}

// Less than a page each: those of a mapped file are given back once they were read.
void EightBitsAreTheSameOfEveryDtypeThatHoldsTheValues() {
  std::vector<float> values = RandomFloats(7 * 40, 5);
  for (float& value : values) value = ToFloat(ToF16(ToFloat(ToBf16(value))));
  const auto kernels = MakeKernels();
  Weights weights(*kernels);
  const std::vector<uint8_t> own = Rounded(values.data(), values.size(), Format::kF32);
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    const Matrix wanted = weights.Of({"a.weight", Dtype::kF32, {7, 40}, own.data(), own.size()}, format);
    CHECK(wanted.format == format);
    for (const Dtype dtype : {Dtype::kF16, Dtype::kBf16}) {
      const std::vector<uint8_t> bytes = Rounded(values.data(), values.size(), FormatOf(dtype));
      const Matrix seen = weights.Of({"a.weight", dtype, {7, 40}, bytes.data(), bytes.size()}, format);
      CHECK_EQ(std::memcmp(seen.values, wanted.values, wanted.rows * wanted.columns), 0);
      CHECK_EQ(std::memcmp(seen.scales, wanted.scales, wanted.rows * sizeof(float)), 0);
    }
  }
}

void EightBitsAreOffByHalfAScaleAtMost() {
  Loaded of("tiny-base");
  const Tensor& tensor = of.checkpoint->ModelTensor(kMatrix);
  const Matrix matrix = of.weights.Of(tensor, Format::kInt8);
  CHECK(matrix.format == Format::kInt8);
  CHECK_EQ(of.weights.OwnBytes(), matrix.rows * matrix.columns + 4 * matrix.rows);
  CHECK_EQ(of.weights.MappedBytes(), size_t{0});
  const std::vector<float> values = ToFloats(tensor);
  const auto* const own = static_cast<const int8_t*>(matrix.values);
  for (size_t i = 0; i < values.size(); i++) {
    const float scale = matrix.scales[i / matrix.columns];
    CHECK(std::fabs(static_cast<float>(own[i]) * scale - values[i]) <= 0.5001f * scale);
  }
}

void Fp8IsOffByASixteenthAtMost() {
  Loaded of("tiny-base");
  const Tensor& tensor = of.checkpoint->ModelTensor(kMatrix);
  const Matrix matrix = of.weights.Of(tensor, Format::kFp8);
  CHECK(matrix.format == Format::kFp8);
  CHECK_EQ(of.weights.OwnBytes(), matrix.rows * matrix.columns + 4 * matrix.rows);
  const std::vector<float> values = ToFloats(tensor);
  const auto* const own = static_cast<const Fp8*>(matrix.values);
  for (size_t i = 0; i < values.size(); i++) {
    const float scale = matrix.scales[i / matrix.columns];
    CHECK(std::fabs(ToFloat(own[i]) * scale - values[i]) <=
          std::fmax(std::fabs(values[i]) / 16, scale / 1024) * 1.0001f);
  }
}

void TrailingDimensionsAreColumns() {
  Loaded of("tiny-customvoice");
  const Matrix matrix =
      of.weights.Of(of.checkpoint->CodecTensor("decoder.quantizer.rvq_first.output_proj.weight"));
  CHECK_EQ(matrix.rows, size_t{32});
  CHECK_EQ(matrix.columns, size_t{16});
  CHECK(matrix.format == Format::kF32);
}

void WeightsThatOverflowAreRefusedByName() {
  const auto kernels = MakeKernels();
  Weights weights(*kernels);
  const auto tensor = [](Dtype dtype, const void* values, int64_t count) {
    return Tensor{"a.weight",
                  dtype,
                  {1, count},
                  static_cast<const uint8_t*>(values),
                  static_cast<size_t>(count) * FactsOf(dtype).bytes};
  };
  const std::string must = "; weights must be finite and at most 1e+09";
  for (const auto& [value, told] : std::vector<std::pair<float, std::string>>{{NAN, "nan"},
                                                                              {-NAN, "nan"},
                                                                              {INFINITY, "inf"},
                                                                              {-INFINITY, "inf"},
                                                                              {3e38f, "3e+38"},
                                                                              {-3e38f, "3e+38"},
                                                                              {2e9f, "2e+09"}}) {
    const std::vector<float> floats = {1, -2, value, 4};
    const std::vector<uint8_t> halves = Rounded(floats.data(), floats.size(), Format::kBf16);
    const Tensor wide = tensor(Dtype::kF32, floats.data(), 4),
                 narrow = tensor(Dtype::kBf16, halves.data(), 4);
    CHECK_EQ(RefusalOf([&] { weights.Of(wide); }), "a.weight: holds a weight of " + told + must);
    CHECK_EQ(RefusalOf([&] { ToFloats(wide); }), "a.weight: holds a weight of " + told + must);
    CHECK_EQ(RefusalOf([&] { weights.Of(wide, Format::kBf16); }),
             "a.weight: holds a weight of " + told + must);
    CHECK(RefusalOf([&] { weights.Of(narrow); }).find("a.weight: holds a weight of ") == 0);
    CHECK(RefusalOf([&] { ToFloats(narrow); }).find("a.weight: holds a weight of ") == 0);
    CHECK(RefusalOf([&] { weights.Of(wide, Format::kInt8); }) != "");
  }
  const std::vector<uint16_t> infinite = {0, 0x7C00, 1, 2};
  CHECK_EQ(RefusalOf([&] { weights.Of(tensor(Dtype::kF16, infinite.data(), 4)); }),
           "a.weight: holds a weight of inf" + must);
  const std::vector<float> large = {1, -70'000, 3, 1e9f};
  CHECK_EQ(RefusalOf([&] { weights.Of(tensor(Dtype::kF32, large.data(), 4)); }), "");
  CHECK_EQ(RefusalOf([&] { weights.Of(tensor(Dtype::kF32, large.data(), 3), Format::kF16); }),
           "a.weight: holds a weight of 70000; weights must be finite and at most 65504");
}

void WhatCannotBeAWeightIsRefusedByName() {
  const auto kernels = MakeKernels();
  Weights weights(*kernels);
  const std::vector<float> broken = {1, 2, NAN, 4};
  const Tensor tensor{"a.weight", Dtype::kF32, {2, 2}, reinterpret_cast<const uint8_t*>(broken.data()), 16};
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    CHECK_EQ(RefusalOf([&] { weights.Of(tensor, format); }), "a.weight: a weight to quantize is not finite");
  }
  const Tensor whole{"b.weight", Dtype::kI32, {2, 2}, reinterpret_cast<const uint8_t*>(broken.data()), 16};
  CHECK_EQ(RefusalOf([&] { weights.Of(whole); }), "b.weight: expected F32, F16 or BF16, found I32");
  CHECK_EQ(RefusalOf([&] { ToFloats(whole); }), "b.weight: expected F32, F16 or BF16, found I32");
  CHECK_EQ(RefusalOf([&] { weights.Packed(broken, 3, 2, Format::kF32); }),
           "packed weights do not fill their matrix");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(weights) {
  using namespace parley::test;
  return Run({
      {"a matrix in its own format is read in place", AMatrixInItsOwnFormatIsReadInPlace},
      {"a matrix can be rounded", AMatrixCanBeRounded},
      {"a matrix of no more bytes than asked for is read in place",
       AMatrixOfNoMoreBytesThanAskedForIsReadInPlace},
      {"eight bits are the same of every dtype that holds the values",
       EightBitsAreTheSameOfEveryDtypeThatHoldsTheValues},
      {"eight bits are off by half a scale at most", EightBitsAreOffByHalfAScaleAtMost},
      {"fp8 is off by a sixteenth at most", Fp8IsOffByASixteenthAtMost},
      {"trailing dimensions are columns", TrailingDimensionsAreColumns},
      {"what cannot be a weight is refused by name", WhatCannotBeAWeightIsRefusedByName},
      {"weights that overflow are refused by name", WeightsThatOverflowAreRefusedByName},
  });
}
