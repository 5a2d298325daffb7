// Products: right, and the same bits on every variant, in every batch, on any number of threads.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "test/check.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

constexpr size_t kRowCounts[] = {1, 3, 8, 19};
constexpr size_t kColumnCounts[] = {1, 15, 16, 33, 100};

std::vector<float> Multiplied(SpeechKernels* kernels, const Matrix& w, const float* x, size_t count) {
  std::vector<float> y(count * w.rows, NAN);
  kernels->Multiply(w, Rows(x, count, w.columns), {}, y.data());
  return y;
}

template <class Body>
void ForEachShape(const Body& body) {
  for (const Format format : kFormats) {
    for (const size_t rows : kRowCounts) {
      for (const size_t columns : kColumnCounts)
        body(*MakeMatrix(format, rows, columns, rows * 1000 + columns));
    }
  }
}

// The bound of a sum of products in 16 lanes: every product passes columns / 16 + 4
// additions and a few roundings after them. With weights of 8 bits the vector is rounded to 16 bits (see
// kernels_rounding_test.cc; here a vector is less than a group).
double Bound(const StoredMatrix& w, size_t row, const float* x) {
  double magnitude = 0, weights = 0, largest = 0;
  for (size_t k = 0; k < w.matrix.columns; k++) {
    magnitude += std::fabs(w.At(row, k) * x[k]);
    weights += std::fabs(w.At(row, k));
    largest = std::max(largest, static_cast<double>(std::fabs(x[k])));
  }
  const double rounded = w.matrix.format == Format::kInt8 ? weights * largest / 32767 * 0.5001 : 0;
  return magnitude * (static_cast<double>(w.matrix.columns) / 16 + 8) * 6e-8 + rounded;
}

void AProductIsWhatDoublePrecisionSays() {
  const auto kernels = MakeKernels();
  ForEachShape([&](const StoredMatrix& w) {
    const auto x = RandomFloats(w.matrix.columns, 7);
    const auto y = Multiplied(kernels.get(), w.matrix, x.data(), 1);
    for (size_t r = 0; r < w.matrix.rows; r++) {
      double wanted = 0;
      for (size_t k = 0; k < w.matrix.columns; k++) wanted += w.At(r, k) * x[k];
      CHECK(std::fabs(y[r] - wanted) <= Bound(w, r, x.data()));
    }
  });
}

void EveryVariantGivesTheSameBits() {
  const auto reference = MakeKernels();
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant);
    ForEachShape([&](const StoredMatrix& w) {
      for (const size_t count : {1, 2, 3, 4, 5, 8, 51}) {
        // One float further: nothing is aligned.
        const auto x = RandomFloats(count * w.matrix.columns + 1, count);
        const auto seen = Multiplied(kernels.get(), w.matrix, x.data() + 1, count);
        CHECK(SameBits(seen, Multiplied(reference.get(), w.matrix, x.data() + 1, count)));
      }
    });
  }
}

// A convolution's windows: of `taps` touching taps one segment, otherwise a segment each.
struct Windows {
  size_t rows, channels, taps, dilation, count;
};

void ManyVectorsGiveTheSameBits(const Windows& s, Format format) {
  const size_t columns = s.channels * s.taps, length = s.count + (s.taps - 1) * s.dilation;
  const auto w = MakeMatrix(format, s.rows, columns, s.rows + columns);
  const auto x = RandomFloats(length * s.channels + 1, 5), bias = RandomFloats(s.rows, 1),
             gain = RandomFloats(s.rows, 2);
  const auto before = RandomFloats(s.rows * s.count, 3);
  const Vectors touching = {x.data() + 1, s.count, s.channels, columns, 1, 0};
  const Vectors apart = {x.data() + 1, s.count, s.channels, s.channels, s.taps, s.dilation * s.channels};
  std::vector<float> wanted;
  for (const cpu::Variant* variant : Variants()) {
    for (const unsigned threads : {1, 2, 3}) {
      std::vector<float> y = before;
      const Finish finish = {bias.data(), gain.data(), true};
      MakeKernels(*variant, threads)
          ->Multiply(w->matrix, s.dilation == 1 ? touching : apart, finish, y.data());
      if (wanted.empty()) wanted = y;
      CHECK(SameBits(y, wanted));
    }
  }
}

// More than a panel of rows and parts of one, turns of the signal, strips of vectors and parts of them.
void ManyVectorsGiveTheSameBitsOnEveryVariant() {
  for (const Format format : kFormats) {
    ManyVectorsGiveTheSameBits({75, 32, 3, 1, 50}, format);
    ManyVectorsGiveTheSameBits({19, 16, 7, 9, 131}, format);
    ManyVectorsGiveTheSameBits({40, 48, 1, 1, 307}, format);
    ManyVectorsGiveTheSameBits({33, 448, 1, 1, 31}, format);
    ManyVectorsGiveTheSameBits({16, 512, 2, 3, 300}, format);
    ManyVectorsGiveTheSameBits({8, 512, 1, 1, 641}, format);
    ManyVectorsGiveTheSameBits({70, 24, 3, 1, 60}, format);  // lanes do not stay
  }
}

void AVectorsResultDoesNotDependOnItsBatch() {
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant);
    ForEachShape([&](const StoredMatrix& w) {
      const size_t count = 16, columns = w.matrix.columns;
      const auto x = RandomFloats(count * columns, 3);
      const auto together = Multiplied(kernels.get(), w.matrix, x.data(), count);
      for (size_t c = 0; c < count; c++) {
        const auto alone = Multiplied(kernels.get(), w.matrix, x.data() + c * columns, 1);
        const auto from = together.begin() + static_cast<std::ptrdiff_t>(c * w.matrix.rows);
        CHECK(SameBits(alone, {from, from + static_cast<std::ptrdiff_t>(w.matrix.rows)}));
      }
    });
  }
}

void TheNumberOfThreadsDoesNotShow() {
  for (const Format format : kFormats) {
    for (const size_t rows : {1, 3, 70, 259}) {
      const auto w = MakeMatrix(format, rows, 300, rows);
      for (const size_t count : {1, 2, 3, 130}) {
        const auto x = RandomFloats(count * 300, count);
        const auto one = Multiplied(MakeKernels(*Variants().back(), 1).get(), w->matrix, x.data(), count);
        for (const unsigned threads : {2, 3, 7}) {
          CHECK(SameBits(
              Multiplied(MakeKernels(*Variants().back(), threads).get(), w->matrix, x.data(), count), one));
        }
      }
    }
  }
}

void AProductIsFinishedInTheStatedOrder() {
  const size_t rows = 21, columns = 40, count = 5;
  const auto bias = RandomFloats(rows, 1), gain = RandomFloats(rows, 2),
             before = RandomFloats(rows * count, 3);
  const auto x = RandomFloats(columns * count, 4);
  for (const Format format : kFormats) {
    const auto w = MakeMatrix(format, rows, columns, 9);
    for (const cpu::Variant* variant : Variants()) {
      const auto kernels = MakeKernels(*variant);
      const auto plain = Multiplied(kernels.get(), w->matrix, x.data(), count);
      std::vector<float> y = before, wanted = before;
      kernels->Multiply(w->matrix, Rows(x.data(), count, columns), {bias.data(), gain.data(), true},
                        y.data());
      for (size_t i = 0; i < y.size(); i++) {
        const float v = plain[i] + bias[i % rows];
        const float scaled = v * gain[i % rows];
        wanted[i] += scaled;
      }
      CHECK(SameBits(y, wanted));
    }
  }
}

void AGatedProductIsItsTwoProductsJoined() {
  for (const auto& [rows, count] : {std::pair<size_t, size_t>{7, 1}, {100, 3}, {65, 50}}) {
    const auto gate = MakeMatrix(Format::kBf16, rows, 90, 1), up = MakeMatrix(Format::kInt8, rows, 90, 2);
    const auto x = RandomFloats(90 * count, 5);
    std::vector<float> wanted;
    for (const cpu::Variant* variant : Variants()) {
      for (const unsigned threads : {1, 2}) {
        const auto kernels = MakeKernels(*variant, threads);
        std::vector<float> y(rows * count, NAN);
        kernels->MultiplyGated(gate->matrix, up->matrix, Rows(x.data(), count, 90), y.data());
        if (wanted.empty()) wanted = y;
        CHECK(SameBits(y, wanted));
        const auto g = Multiplied(kernels.get(), gate->matrix, x.data(), count);
        const auto u = Multiplied(kernels.get(), up->matrix, x.data(), count);
        for (size_t i = 0; i < y.size(); i++) {
          const double exact = g[i] / (1 + std::exp(-static_cast<double>(g[i]))) * u[i];
          CHECK(std::fabs(y[i] - exact) <= 5e-7 * std::fabs(exact));
        }
      }
    }
  }
}

void QuantizedWeightsAreOffByHalfAScaleAtMost() {
  std::vector<float> weights = RandomFloats(5 * 33, 11);
  std::fill(weights.begin() + 33, weights.begin() + 66, 0.0f);  // a row of zeros
  for (size_t k = 66; k < 99; k++) weights[k] *= 1e-38f;        // a scale of subnormal size
  const QuantizedMatrix q = Quantize({Format::kF32, weights.data(), nullptr, 5, 33}, Format::kInt8);
  CHECK_EQ(q.scales[1], 0.0f);
  for (size_t i = 0; i < weights.size(); i++) {
    const double scale = q.scales[i / 33];
    CHECK(std::fabs(weights[i] - q.values[i] * scale) <= scale * 0.5001);
    CHECK(q.values[i] >= -127);
  }
  const std::vector<Bf16> halves = {ToBf16(127), ToBf16(0.5f), ToBf16(1.5f), ToBf16(-2.5f), ToBf16(-127)};
  const QuantizedMatrix even = Quantize({Format::kBf16, halves.data(), nullptr, 1, 5}, Format::kInt8);
  CHECK((even.values == std::vector<int8_t>{127, 0, 2, -2, -127}));
  CHECK_EQ(even.scales[0], 1.0f);
}

// They differ by a sixteenth of the weight, or where numbers are evenly spaced by half of that.
void WeightsInFp8AreTheNearestThereAre() {
  std::vector<float> weights = RandomFloats(5 * 333, 12);
  std::fill(weights.begin() + 333, weights.begin() + 666, 0.0f);
  for (size_t k = 666; k < 999; k++) weights[k] *= 1e-37f;  // a scale of subnormal size
  for (size_t k = 999; k < 1332; k++)
    weights[k] *= weights[k] * weights[k] * weights[k];  // some below 2^-6 scales
  const QuantizedMatrix q = Quantize({Format::kF32, weights.data(), nullptr, 5, 333}, Format::kFp8);
  CHECK_EQ(q.scales[1], 0.0f);
  size_t subnormal = 0;
  for (size_t i = 0; i < weights.size(); i++) {
    const double scale = q.scales[i / 333], weight = weights[i];
    const auto code = static_cast<uint8_t>(q.values[i]);
    CHECK((code & 0x7f) != 0x7f);
    subnormal += (code & 0x7f) > 0 && (code & 0x78) == 0;
    CHECK(std::fabs(weight - static_cast<double>(ToFloat(Fp8{code})) * scale) <=
          std::max(std::fabs(weight) / 16, scale / 1024) * 1.0001);
  }
  CHECK(subnormal > 10);
  const std::vector<Bf16> halves = {ToBf16(448), ToBf16(17), ToBf16(-19), ToBf16(-448),
                                    ToBf16(0.00048828125f)};
  const QuantizedMatrix even = Quantize({Format::kBf16, halves.data(), nullptr, 1, 5}, Format::kFp8);
  CHECK((even.values ==
         std::vector<int8_t>{0x7e, 0x58, static_cast<int8_t>(0xda), static_cast<int8_t>(0xfe), 0}));
  CHECK_EQ(even.scales[0], 1.0f);
}

// Sums of twelve: nearly normal, as trained weights are.
std::vector<float> NormalFloats(size_t count, uint64_t seed) {
  const auto twelve = RandomFloats(12 * count, seed);
  std::vector<float> values(count);
  for (size_t i = 0; i < 12 * count; i++) values[i / 12] += 0.5f * twelve[i];
  return values;
}

// The relative RMS error of a product with quantized weights matches the format's precision.
void ProductsOfQuantizedWeightsAreOffByAsMuchAsTheyAre() {
  constexpr size_t kRows = 64, kColumns = 2048;
  const auto weights = NormalFloats(kRows * kColumns, 21), x = NormalFloats(kColumns, 22);
  const Matrix plain{Format::kF32, weights.data(), nullptr, kRows, kColumns};
  const auto kernels = MakeKernels();
  const auto wanted = Multiplied(kernels.get(), plain, x.data(), 1);
  const auto off = [&](Format format) {
    const QuantizedMatrix q = Quantize(plain, format);
    const auto y = Multiplied(kernels.get(), ViewOf(q), x.data(), 1);
    double error = 0, all = 0;
    for (size_t r = 0; r < kRows; r++) {
      error += std::pow(static_cast<double>(y[r]) - wanted[r], 2);
      all += std::pow(static_cast<double>(wanted[r]), 2);
    }
    return std::sqrt(error / all);
  };
  const double int8 = off(Format::kInt8), fp8 = off(Format::kFp8);
  std::printf("       products off by %.1e (int8), %.1e (fp8)\n", int8, fp8);
  CHECK(int8 > 4e-3 && int8 < 1.4e-2);
  CHECK(fp8 > 1.5e-2 && fp8 < 4e-2);
}

void ShapesThatDoNotFitAreRefused() {
  const auto kernels = MakeKernels();
  const auto w = MakeMatrix(Format::kF32, 4, 8, 1);
  const auto x = RandomFloats(16, 1);
  std::vector<float> y(4);
  Matrix bare = w->matrix;
  const float infinite = INFINITY;
  CHECK(RefusalOf([&] { kernels->Multiply(w->matrix, Rows(x.data(), 1, 9), {}, y.data()); }) != "");
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    bare.format = format;
    CHECK(RefusalOf([&] { kernels->Multiply(bare, Rows(x.data(), 1, 8), {}, y.data()); }) != "");
    CHECK(RefusalOf([&] { Quantize(ViewOf(QuantizedMatrix{}), format); }) != "");
    CHECK(RefusalOf([&] { Quantize({Format::kF32, &infinite, nullptr, 1, 1}, format); }) != "");
  }
  CHECK(RefusalOf([&] { Quantize(w->matrix, Format::kBf16); }) != "");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(kernels_product) {
  using namespace parley::test;
  return Run({
      {"a product is what double precision says", AProductIsWhatDoublePrecisionSays},
      {"every variant gives the same bits", EveryVariantGivesTheSameBits},
      {"many vectors give the same bits on every variant", ManyVectorsGiveTheSameBitsOnEveryVariant},
      {"a vector's result does not depend on its batch", AVectorsResultDoesNotDependOnItsBatch},
      {"the number of threads does not show", TheNumberOfThreadsDoesNotShow},
      {"a product is finished in the stated order", AProductIsFinishedInTheStatedOrder},
      {"a gated product is its two products joined", AGatedProductIsItsTwoProductsJoined},
      {"quantized weights are off by half a scale at most", QuantizedWeightsAreOffByHalfAScaleAtMost},
      {"weights in fp8 are the nearest there are", WeightsInFp8AreTheNearestThereAre},
      {"products of quantized weights are off by as much as they are",
       ProductsOfQuantizedWeightsAreOffByAsMuchAsTheyAre},
      {"shapes that do not fit are refused", ShapesThatDoNotFitAreRefused},
  });
}
