// Products of the GPU, on the emulator: as the CPU has them (how they are cut: cuda_product_cuts_test.cc).
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/cuda/products/products.cuh"
#include "test/check.h"
#include "test/cuda_room.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace cuda;

std::vector<float> Multiplied(const Matrix& w, const Vectors& x, const Finish& finish, std::vector<float> y) {
  emulator::Immediate queue;
  TestRoom room;
  EnqueueMultiply(queue, room, w, x, finish, y.data());
  return y;
}

// Multiplies by the kernel of many vectors, whatever their number.
std::vector<float> MultipliedAsMany(const Matrix& w, const Vectors& x) {
  emulator::Immediate queue;
  TestRoom room;
  std::vector<float> y(x.count * w.rows, NAN);
  const LaidVectors laid = LayVectors(queue, x);
  EnqueuePlanned(queue, room, {Cut::kSkinnyGemm, 2, 2}, false, ArgsFor(w, y.data(), laid.view), laid);
  return y;
}

std::vector<float> Multiplied(const Matrix& w, const float* x, size_t count) {
  return Multiplied(w, Rows(x, count, w.columns), {}, std::vector<float>(count * w.rows, NAN));
}

// Largest difference of the two. x and 32-bit weights keep 16 bits, and the product of their remainders is
// dropped. x keeps 8 bits against bf16 or 8-bit weights. Sums are f32. The CPU rounds vectors that it
// multiplies with 8-bit weights.
double Bound(const StoredMatrix& w, size_t row, const std::vector<float>& x) {
  double magnitude = 0, weights = 0, largest = 0;
  for (size_t k = 0; k < x.size(); k++) {
    magnitude += std::fabs(w.At(row, k) * x[k]);
    weights += std::fabs(w.At(row, k));
    largest = std::max(largest, static_cast<double>(std::fabs(x[k])));
  }
  const double rounded = w.matrix.format == Format::kInt8 ? weights * largest / 32767 * 0.5001 : 0;
  const double kept = VectorTermsOf(w.matrix.format, false) == 2 ? 3.0 / (1 << 18) : 1.0 / (1 << 9);
  return magnitude * (kept + (static_cast<double>(x.size()) / 8 + 16) * 6e-8) + rounded;
}

std::vector<float> VectorOf(const Vectors& x, size_t c) {
  std::vector<float> one;
  for (size_t s = 0; s < x.segments; s++) {
    const float* const from = x.values + c * x.stride + s * x.segment_stride;
    one.insert(one.end(), from, from + x.length);
  }
  return one;
}

void CheckAsOnCpu(const StoredMatrix& w, const Vectors& x, bool finished) {
  const size_t rows = w.matrix.rows;
  const auto bias = RandomFloats(rows, 1), gain = RandomFloats(rows, 2);
  const Finish finish = finished ? Finish{bias.data(), gain.data(), true} : Finish{};
  const auto before = finished ? RandomFloats(rows * x.count, 3) : std::vector<float>(rows * x.count, NAN);
  std::vector<float> wanted = before;
  MakeKernels()->Multiply(w.matrix, x, finish, wanted.data());
  const auto y = Multiplied(w.matrix, x, finish, before);
  bool is_near = true;
  for (size_t c = 0; c < x.count; c++) {
    const auto one = VectorOf(x, c);
    for (size_t r = 0; r < rows; r++) {
      is_near = is_near &&
                std::fabs(y[c * rows + r] - wanted[c * rows + r]) <= Bound(w, r, one) + (finished ? 4e-7 : 0);
    }
  }
  CHECK(is_near);
}

void AProductIsWhatTheCpuSays() {
  for (const Format format : kFormats) {
    for (const size_t rows : {1, 3, 8, 9, 40}) {
      for (const size_t columns : {1, 15, 32, 33, 96, 288}) {
        const auto w = MakeMatrix(format, rows, columns, rows * 1000 + columns);
        const auto x = RandomFloats(11 * columns, 5);
        CheckAsOnCpu(*w, Rows(x.data(), 1, columns), false);
        CheckAsOnCpu(*w, Rows(x.data(), 11, columns), true);
      }
    }
  }
}

// Rows and counts on both sides of where the plan changes, with vectors alone and at any place.
void AVectorsResultDoesNotDependOnItsBatch() {
  for (const Format format : kFormats) {
    const auto w = MakeMatrix(format, 40, 64, 3);
    const size_t rows = w->matrix.rows;
    const auto x = RandomFloats(131 * 64 + 1, 9);
    const auto all = Multiplied(w->matrix, x.data(), 130);
    for (const size_t count : {1, 3, 8, 9, 17, 64, 65}) {
      const auto some = Multiplied(w->matrix, x.data(), count);
      CHECK(SameBits(some,
                     std::vector<float>(all.begin(), all.begin() + static_cast<ptrdiff_t>(count * rows))));
    }
    for (const size_t c : {7, 64, 129}) {
      const auto from = all.begin() + static_cast<ptrdiff_t>(c * rows);
      CHECK(SameBits(Multiplied(w->matrix, x.data() + c * 64, 1),
                     std::vector<float>(from, from + static_cast<ptrdiff_t>(rows))));
    }
    // One float further: nothing lies at a multiple of 16 bytes.
    std::vector<float> shifted = x;
    std::move_backward(shifted.begin(), shifted.end() - 1, shifted.end());
    CHECK(SameBits(Multiplied(w->matrix, shifted.data() + 1, 5), Multiplied(w->matrix, x.data(), 5)));
  }
}

void WindowsAreVectorsToo() {
  const auto x = RandomFloats(400 * 64, 4);
  for (const Format format : {Format::kBf16, Format::kF32}) {
    const auto w = MakeMatrix(format, 24, 192, 6), odd = MakeMatrix(format, 24, 160, 8);
    for (const Vectors& windows : {Vectors{x.data(), 30, 64, 192, 1, 0},
                                   {x.data(), 30, 64, 64, 3, 9 * 64},
                                   {x.data(), 30, 36, 64, 3, 64},
                                   {x.data(), 30, 40, 64, 3, 64},
                                   {x.data() + 1, 30, 64, 64, 3, 64},
                                   {x.data(), 30, 200, 32, 6, 40},
                                   {x.data(), 140, 64, 32, 6, 5 * 64}}) {
      CheckAsOnCpu(*w, windows, true);
      const auto wanted = Multiplied(w->matrix, windows, {}, std::vector<float>(windows.count * 24, NAN));
      CHECK(SameBits(MultipliedAsMany(w->matrix, windows), wanted));
    }
    CheckAsOnCpu(*odd, {x.data(), 30, 20, 20, 8, 33}, false);
  }
}

void CheckGated(const StoredMatrix& gate, const StoredMatrix& up, const std::vector<float>& x,
                const std::vector<float>& y) {
  const size_t rows = gate.matrix.rows, columns = gate.matrix.columns, count = x.size() / columns;
  std::vector<float> g(rows * count), u(rows * count);
  const auto cpu = MakeKernels();
  cpu->Multiply(gate.matrix, Rows(x.data(), count, columns), {}, g.data());
  cpu->Multiply(up.matrix, Rows(x.data(), count, columns), {}, u.data());
  bool is_near = true;
  for (size_t i = 0; i < y.size(); i++) {
    const std::vector<float> one(x.begin() + static_cast<ptrdiff_t>(i / rows * columns),
                                 x.begin() + static_cast<ptrdiff_t>((i / rows + 1) * columns));
    const double silu = g[i] / (1 + std::exp(-static_cast<double>(g[i])));
    const double bound = 1.1 * Bound(gate, i % rows, one) * (std::fabs(u[i]) + Bound(up, i % rows, one)) +
                         std::fabs(silu) * Bound(up, i % rows, one) + 1e-6 * std::fabs(silu * u[i]);
    is_near = is_near && std::fabs(y[i] - silu * u[i]) <= bound;
  }
  CHECK(is_near);
}

void AGatedProductIsItsTwoProductsJoined() {
  for (const Format format : kFormats) {
    for (const auto& [rows, columns, count] :
         {std::tuple<size_t, size_t, size_t>{40, 96, 3}, {21, 33, 5}, {6, 64, 9}, {50, 64, 20}}) {
      const auto gate = MakeMatrix(format, rows, columns, 1), up = MakeMatrix(format, rows, columns, 2);
      const auto other =
          MakeMatrix(format == Format::kInt8 ? Format::kBf16 : Format::kInt8, rows, columns, 3);
      const auto x = RandomFloats(count * columns, 4);
      for (const StoredMatrix* second : {up.get(), other.get()}) {
        emulator::Immediate queue;
        TestRoom room;
        std::vector<float> y(rows * count, NAN);
        EnqueueMultiplyGated(queue, room, gate->matrix, second->matrix, Rows(x.data(), count, columns),
                             y.data());
        CheckGated(*gate, *second, x, y);
      }
    }
  }
}

// Rows with their norm: how many are normed by the product itself and how many before does not show.
struct Expansion {
  size_t rows, columns;
  std::unique_ptr<StoredMatrix> gate, up;
  std::vector<float> weight, bias;

  Expansion(Format format, size_t rows, size_t columns)
      : rows(rows),
        columns(columns),
        gate(MakeMatrix(format, rows, columns, 1)),
        up(MakeMatrix(format, rows, columns, 2)),
        weight(RandomFloats(columns, 3)),
        bias(RandomFloats(columns, 4)) {}

  std::vector<float> Of(const std::vector<float>& x, bool layer_norm) const {
    emulator::Immediate queue;
    TestRoom room;
    const size_t count = x.size() / columns;
    std::vector<float> y(rows * count, NAN), normed(x.size(), NAN);
    const Norm norm{weight.data(), layer_norm ? bias.data() : nullptr, 1e-6f};
    EnqueueExpandRows(queue, room, norm, gate->matrix, up->matrix, {x.data(), count, normed.data()},
                      y.data());
    return y;
  }
};

void ExpandedRowsAreNormedFirst() {
  for (const Format format : kFormats) {
    for (const auto& [rows, columns] : {std::pair<size_t, size_t>{40, 160}, {21, 33}, {5, 32}}) {
      const Expansion expansion(format, rows, columns);
      const auto x = RandomFloats(11 * columns, 5);
      for (const bool layer_norm : {false, true}) {
        std::vector<float> normed(x.size());
        const auto cpu = MakeKernels();
        if (layer_norm)
          cpu->LayerNorm(x.data(), expansion.weight.data(), expansion.bias.data(), 11, columns, 1e-6f,
                         normed.data());
        else cpu->RmsNorm(x.data(), expansion.weight.data(), 11, columns, 1e-6f, normed.data());
        const auto all = expansion.Of(x, layer_norm);
        CheckGated(*expansion.gate, *expansion.up, normed, all);
        for (const size_t count : {1, 3, 8}) {
          const std::vector<float> some(x.begin(), x.begin() + static_cast<ptrdiff_t>(count * columns));
          const std::vector<float> wanted(all.begin(), all.begin() + static_cast<ptrdiff_t>(count * rows));
          CHECK(SameBits(expansion.Of(some, layer_norm), wanted));
        }
      }
    }
  }
}

struct Projected {
  std::vector<float> queries, keys, values;
};

Projected Project(const HeadProjections& heads, const std::vector<float>& x) {
  emulator::Immediate queue;
  TestRoom room;
  const size_t count = x.size() / heads.q.columns;
  std::vector<float> normed(x.size(), NAN);
  Projected to{std::vector<float>(count * heads.q.rows, NAN), std::vector<float>(count * heads.k.rows, NAN),
               std::vector<float>(count * heads.v.rows, NAN)};
  EnqueueProjectHeads(queue, room, heads, {x.data(), count, normed.data()},
                      {to.queries.data(), to.keys.data(), to.values.data(), nullptr});
  return to;
}

void HeadsAreThreeProductsOfTheNorm() {
  for (const bool mixed : {false, true}) {
    const auto q = MakeMatrix(Format::kBf16, 80, 96, 1), k = MakeMatrix(Format::kBf16, 24, 96, 2);
    const auto v = MakeMatrix(mixed ? Format::kInt8 : Format::kBf16, 24, 96, 3);
    const auto weight = RandomFloats(96, 4), x = RandomFloats(70 * 96, 5);
    const HeadProjections heads{
        {weight.data(), nullptr, 1e-6f}, q->matrix, k->matrix, v->matrix, nullptr, nullptr};
    for (const size_t count : {1, 7, 70}) {
      const std::vector<float> some(x.begin(), x.begin() + static_cast<ptrdiff_t>(count * 96));
      std::vector<float> normed(some.size());
      emulator::Immediate queue;
      EnqueueNorm(queue, some.data(), weight.data(), nullptr, count, 96, 1e-6f, normed.data());
      const Projected seen = Project(heads, some);
      CHECK(SameBits(seen.queries, Multiplied(q->matrix, normed.data(), count)));
      CHECK(SameBits(seen.keys, Multiplied(k->matrix, normed.data(), count)));
      CHECK(SameBits(seen.values, Multiplied(v->matrix, normed.data(), count)));
    }
  }
}

void NothingIsComputedOfNothing() {
  const auto w = MakeMatrix(Format::kBf16, 16, 32, 1);
  const auto x = RandomFloats(32, 2);
  CHECK(Multiplied(w->matrix, x.data(), 0).empty());
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_products) {
  using namespace parley::test;
  return Run({
      {"a product is what the CPU says", AProductIsWhatTheCpuSays},
      {"a vector's result does not depend on its batch", AVectorsResultDoesNotDependOnItsBatch},
      {"windows are vectors too", WindowsAreVectorsToo},
      {"a gated product is its two products joined", AGatedProductIsItsTwoProductsJoined},
      {"expanded rows are normed first", ExpandedRowsAreNormedFirst},
      {"heads are three products of the norm", HeadsAreThreeProductsOfTheNorm},
      {"nothing is computed of nothing", NothingIsComputedOfNothing},
  });
}
