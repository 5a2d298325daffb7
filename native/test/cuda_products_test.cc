// Products of the GPU, on the emulator: as the CPU has them, and the same bits however they are cut.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/cuda/emulator/emulator.h"
#include "kernels/cuda/products.cuh"
#include "test/check.h"
#include "test/cuda_room.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace cuda;
using emulator::Order;

// What one product is given, and what it gives when it is cut as a plan says.
struct Given {
  std::unique_ptr<StoredMatrix> gate, up;
  std::vector<float> x;
  size_t count;

  Given(Format format, size_t rows, size_t columns, size_t count)
      : gate(MakeMatrix(format, rows, columns, rows + columns)),
        up(MakeMatrix(format, rows, columns, rows * columns)),
        x(RandomFloats(count * columns, 7)),
        count(count) {}

  std::vector<float> Cut(const Plan& plan, bool gated, const emulator::Rules& rules = {}) const {
    emulator::Immediate queue(rules);
    TestRoom room;
    std::vector<float> y(count * gate->matrix.rows, NAN);
    const LaidVectors laid = LayVectors(queue, Rows(x.data(), count, gate->matrix.columns));
    ProductArgs args = ArgsFor(gate->matrix, y.data(), laid.view);
    if (gated) TakeMatrix(up->matrix, nullptr, 1, &args);
    EnqueuePlanned(queue, room, plan, gated, args, laid);
    return y;
  }
};

std::vector<Plan> PlansOf(Format format, bool gated) {
  std::vector<Plan> plans = {{Cut::kMany, 2, 2}, {Cut::kMany, 4, 4}};
  for (uint32_t octets = 1; octets <= 4; octets *= 2) {
    for (uint32_t tiles = 1; tiles <= MostTiles(format, octets, gated); tiles *= 2) plans.push_back({Cut::kFew, tiles, octets});
  }
  return plans;
}

constexpr Format kTiled[] = {Format::kBf16, Format::kInt8, Format::kFp8};

// Of tiles, which matrices of such formats and multiples of 8 rows can be cut into.
std::vector<Plan> PlansOfTiles(Format format, bool gated) {
  std::vector<Plan> plans = {{Cut::kWide, 4, 8}, {Cut::kWide, 8, 16}, {Cut::kSplit, 4, 8}};
  if (!gated) plans.push_back({Cut::kWide, 4, 16});
  if (!gated && !HasScales(format)) plans.insert(plans.end(), {{Cut::kWide, 6, 16}, {Cut::kSplit, 8, 8}});
  return plans;
}

std::vector<float> Multiplied(const Matrix& w, const Vectors& x, const Finish& finish, std::vector<float> y) {
  emulator::Immediate queue;
  TestRoom room;
  EnqueueMultiply(queue, room, w, x, finish, y.data());
  return y;
}

// As a product of many vectors, whatever their number.
std::vector<float> MultipliedAsMany(const Matrix& w, const Vectors& x) {
  emulator::Immediate queue;
  TestRoom room;
  std::vector<float> y(x.count * w.rows, NAN);
  const LaidVectors laid = LayVectors(queue, x);
  EnqueuePlanned(queue, room, {Cut::kMany, 2, 2}, false, ArgsFor(w, y.data(), laid.view), laid);
  return y;
}

std::vector<float> Multiplied(const Matrix& w, const float* x, size_t count) {
  return Multiplied(w, Rows(x, count, w.columns), {}, std::vector<float>(count * w.rows, NAN));
}

// How far the two may be apart: x keeps 16 bits and so do weights of 32, and the product of what is left is dropped; x that meets bf16 or
// 8 bits keeps 8; sums are of f32. The CPU rounds vectors that meet weights of 8 bits.
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
      is_near = is_near && std::fabs(y[c * rows + r] - wanted[c * rows + r]) <= Bound(w, r, one) + (finished ? 4e-7 : 0);
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

void EveryCutGivesTheSameBits() {
  for (const Format format : kFormats) {
    for (const auto& [rows, columns] : {std::pair<size_t, size_t>{37, 32}, {141, 352}}) {
      const Given given(format, rows, columns, 131);
      for (const bool gated : {false, true}) {
        const auto wanted = given.Cut({Cut::kFew, 1, 1}, gated);
        for (const Plan& plan : PlansOf(format, gated)) CHECK(SameBits(given.Cut(plan, gated), wanted));
      }
    }
  }
}

void TilesGiveTheSameBits() {
  for (const Format format : kTiled) {
    for (const auto& [rows, columns] : {std::pair<size_t, size_t>{40, 32}, {136, 96}, {200, 352}, {24, 4640}}) {
      const Given given(format, rows, columns, 131);
      for (const bool gated : {false, true}) {
        const auto wanted = given.Cut({Cut::kFew, 1, 1}, gated);
        for (const Plan& plan : PlansOfTiles(format, gated)) CHECK(SameBits(given.Cut(plan, gated), wanted));
      }
    }
  }
}

// A matrix of bf16 that holds the numbers of one of 8 bits, which all fit.
std::vector<Bf16> Widened(const StoredMatrix& w) {
  std::vector<Bf16> wide;
  for (const int8_t value : w.bytes.values) {
    wide.push_back(ToBf16(w.matrix.format == Format::kFp8 ? ToFloat(Fp8{static_cast<uint8_t>(value)}) : static_cast<float>(value)));
  }
  return wide;
}

// Every code there is, in every place of a chunk: numbers below 2^-6 of fp8 too, and -128.
void EightBitsAreTheNumbersThatTheyMean() {
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    Given given(format, 40, 352, 70);
    for (size_t i = 0; i < given.gate->bytes.values.size(); i++) {
      const auto code = static_cast<uint8_t>(i % 255 + i / 255);
      given.gate->bytes.values[i] = static_cast<int8_t>(format == Format::kFp8 && (code & 0x7f) == 0x7f ? 1 : code);
    }
    given.gate->matrix.scales = nullptr;
    const std::vector<Bf16> wide = Widened(*given.gate);
    auto plans = PlansOf(format, false);
    for (const Plan& plan : PlansOfTiles(format, false)) plans.push_back(plan);
    std::vector<std::vector<float>> seen;
    for (const Plan& plan : plans) seen.push_back(given.Cut(plan, false));
    given.gate->matrix.format = Format::kBf16;
    given.gate->matrix.values = wide.data();
    const auto wanted = given.Cut({Cut::kFew, 1, 1}, false);
    for (const auto& one : seen) CHECK(SameBits(one, wanted));
  }
}

// The windows of streams, of as many positions each or not; of segments of 64 columns and of 96.
void TilesOfWindowsGiveTheSameBits() {
  for (const size_t channels : {64, 96}) {
    const size_t taps = 3, history = 2 * 3;
    const auto w = MakeMatrix(Format::kBf16, 24, taps * channels, 6);
    for (const std::vector<size_t>& counts : {std::vector<size_t>{32, 32, 32}, {5, 12, 1, 12}, {130}, {3, 3, 3, 3, 3}}) {
      const size_t longest = *std::max_element(counts.begin(), counts.end()), span = (longest + history) * channels;
      const auto x = RandomFloats(counts.size() * span, 8);
      size_t all = 0;
      for (const size_t count : counts) all += count;
      const auto cut = [&](const Plan& plan) {
        emulator::Immediate queue;
        TestRoom room;
        std::vector<float> y(all * 24, NAN);
        const LaidVectors laid = LayStreams(queue, counts.size(), {nullptr, 0, channels, channels, taps, 3 * channels},
                                            [&](size_t s) { return std::make_pair(x.data() + s * span, counts[s]); });
        CHECK(laid.as_signals && laid.slot > 0);
        const ProductArgs args = ArgsFor(w->matrix, y.data(), laid.view);
        CHECK(FitsTiles(args, laid));
        EnqueuePlanned(queue, room, plan, false, args, laid);
        return y;
      };
      const auto wanted = cut({Cut::kMany, 2, 2});
      // A part's boxes would not lie in one segment each.
      for (const Plan& plan : PlansOfTiles(Format::kBf16, false)) CHECK(plan.cut == Cut::kSplit || SameBits(cut(plan), wanted));
    }
  }
}

void NoBarrierIsMissing() {
  for (const Format format : {Format::kBf16, Format::kFp8}) {
    const Given given(format, 72, 320, 70);
    for (const Plan& plan : {Plan{Cut::kFew, 1, 1}, {Cut::kFew, 2, 4}, {Cut::kMany, 2, 2}, {Cut::kMany, 4, 4}, {Cut::kWide, 8, 16}, {Cut::kWide, 4, 8}, {Cut::kSplit, 4, 8}}) {
      const auto wanted = given.Cut(plan, false);
      CHECK(SameBits(given.Cut(plan, false, {Order::kBackward}), wanted));
      CHECK(SameBits(given.Cut(plan, false, {Order::kShuffled, 3}), wanted));
    }
  }
  const Given given(Format::kBf16, 72, 2880, 70);
  const auto wanted = given.Cut({Cut::kSplit, 8, 8}, false);
  CHECK(SameBits(given.Cut({Cut::kSplit, 8, 8}, false, {Order::kBackward}), wanted));
  CHECK(SameBits(given.Cut({Cut::kSplit, 8, 8}, false, {Order::kShuffled, 3}), wanted));
}

// Bias, gain and what y was, with scales, over the end of a tile's rows and of its vectors.
void TilesOfEightBitsAreFinishedAsOthers() {
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    const Given given(format, 200, 96, 83);
    const auto bias = RandomFloats(200, 1), gain = RandomFloats(200, 2), before = RandomFloats(200 * 83, 3);
    const auto cut = [&](const Plan& plan) {
      emulator::Immediate queue;
      TestRoom room;
      std::vector<float> y = before;
      const LaidVectors laid = LayVectors(queue, Rows(given.x.data(), 83, 96));
      const ProductArgs args = ArgsFor(given.gate->matrix, y.data(), laid.view, {bias.data(), gain.data(), true});
      CHECK(FitsTiles(args, laid));
      EnqueuePlanned(queue, room, plan, false, args, laid);
      return y;
    };
    const auto wanted = cut({Cut::kMany, 2, 2});
    for (const Plan& plan : PlansOfTiles(format, false)) CHECK(SameBits(cut(plan), wanted));
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
      CHECK(SameBits(some, std::vector<float>(all.begin(), all.begin() + static_cast<ptrdiff_t>(count * rows))));
    }
    for (const size_t c : {7, 64, 129}) {
      const auto from = all.begin() + static_cast<ptrdiff_t>(c * rows);
      CHECK(SameBits(Multiplied(w->matrix, x.data() + c * 64, 1), std::vector<float>(from, from + static_cast<ptrdiff_t>(rows))));
    }
    // One float further: nothing lies at a multiple of 16 bytes.
    std::vector<float> shifted = x;
    std::move_backward(shifted.begin(), shifted.end() - 1, shifted.end());
    CHECK(SameBits(Multiplied(w->matrix, shifted.data() + 1, 5), Multiplied(w->matrix, x.data(), 5)));
  }
}

// Shapes of the model's own.
void PlansChangeWhereTheyShould() {
  for (const Format format : kFormats) {
    for (const bool gated : {false, true}) {
      for (const size_t rows : {16, 1024, 2048, 6144}) {
        for (const size_t count : {1, 8, 9, 16, 33, 64, 65, 1024}) {
          for (const bool wide : {false, true}) {
            const Plan plan = PlanOf({format, rows, 2048, gated, BucketOf(count), wide, wide});
            CHECK(plan.cut != Cut::kFew || plan.tiles <= MostTiles(format, plan.octets, gated));
            CHECK(plan.cut == Cut::kFew || count > 16 || (plan.cut == Cut::kSplit && count > 8));
            CHECK(!ReadsTiles(plan.cut) || wide);
            CHECK(plan.cut != Cut::kMany || !wide);
            if (plan.cut == Cut::kFew) CHECK_EQ(plan.octets, count <= 8 ? 1u : count <= 16 ? 2u : 4u);
          }
        }
      }
    }
  }
  CHECK((PlanOf({Format::kBf16, 2048, 2048, false, 64, true, false}) == Plan{Cut::kFew, 1, 4}));
  CHECK((PlanOf({Format::kBf16, 2048, 2048, false, 128, true, false}) == Plan{Cut::kFew, 2, 4}));
  CHECK(PlanOf({Format::kBf16, 4096, 2048, false, 1024, true, false}).cut == Cut::kWide);
  CHECK((PlanOf({Format::kBf16, 4096, 2048, false, 1024, false, false}) == Plan{Cut::kMany, 4, 4}));
}

void WindowsAreVectorsToo() {
  const auto x = RandomFloats(400 * 64, 4);
  for (const Format format : {Format::kBf16, Format::kF32}) {
    const auto w = MakeMatrix(format, 24, 192, 6), odd = MakeMatrix(format, 24, 160, 8);
    for (const Vectors& windows :
         {Vectors{x.data(), 30, 64, 192, 1, 0}, {x.data(), 30, 64, 64, 3, 9 * 64}, {x.data(), 30, 36, 64, 3, 64}, {x.data(), 30, 40, 64, 3, 64},
          {x.data() + 1, 30, 64, 64, 3, 64}, {x.data(), 30, 200, 32, 6, 40}, {x.data(), 140, 64, 32, 6, 5 * 64}}) {
      CheckAsOnCpu(*w, windows, true);
      const auto wanted = Multiplied(w->matrix, windows, {}, std::vector<float>(windows.count * 24, NAN));
      CHECK(SameBits(MultipliedAsMany(w->matrix, windows), wanted));
    }
    CheckAsOnCpu(*odd, {x.data(), 30, 20, 20, 8, 33}, false);
  }
}

void CheckGated(const StoredMatrix& gate, const StoredMatrix& up, const std::vector<float>& x, const std::vector<float>& y) {
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
    for (const auto& [rows, columns, count] : {std::tuple<size_t, size_t, size_t>{40, 96, 3}, {21, 33, 5}, {6, 64, 9}, {50, 64, 20}}) {
      const auto gate = MakeMatrix(format, rows, columns, 1), up = MakeMatrix(format, rows, columns, 2);
      const auto other = MakeMatrix(format == Format::kInt8 ? Format::kBf16 : Format::kInt8, rows, columns, 3);
      const auto x = RandomFloats(count * columns, 4);
      for (const StoredMatrix* second : {up.get(), other.get()}) {
        emulator::Immediate queue;
        TestRoom room;
        std::vector<float> y(rows * count, NAN);
        EnqueueMultiplyGated(queue, room, gate->matrix, second->matrix, Rows(x.data(), count, columns), y.data());
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
    EnqueueExpandRows(queue, room, norm, gate->matrix, up->matrix, {x.data(), count, normed.data()}, y.data());
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
        if (layer_norm) cpu->LayerNorm(x.data(), expansion.weight.data(), expansion.bias.data(), 11, columns, 1e-6f, normed.data());
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
    const HeadProjections heads{{weight.data(), nullptr, 1e-6f}, q->matrix, k->matrix, v->matrix, nullptr, nullptr};
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

int main() {
  using namespace parley::test;
  return Run({
      {"a product is what the CPU says", AProductIsWhatTheCpuSays},
      {"every cut gives the same bits", EveryCutGivesTheSameBits},
      {"tiles give the same bits", TilesGiveTheSameBits},
      {"eight bits are the numbers that they mean", EightBitsAreTheNumbersThatTheyMean},
      {"tiles of eight bits are finished as others", TilesOfEightBitsAreFinishedAsOthers},
      {"tiles of windows give the same bits", TilesOfWindowsGiveTheSameBits},
      {"no barrier is missing", NoBarrierIsMissing},
      {"a vector's result does not depend on its batch", AVectorsResultDoesNotDependOnItsBatch},
      {"plans change where they should", PlansChangeWhereTheyShould},
      {"windows are vectors too", WindowsAreVectorsToo},
      {"a gated product is its two products joined", AGatedProductIsItsTwoProductsJoined},
      {"expanded rows are normed first", ExpandedRowsAreNormedFirst},
      {"heads are three products of the norm", HeadsAreThreeProductsOfTheNorm},
      {"nothing is computed of nothing", NothingIsComputedOfNothing},
  });
}
