// Execution plans of GPU matrix products, on the emulator. All plans give the same bits, so a plan affects
// only time.
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
using emulator::Order;

// Inputs of one product, and its output under a plan.
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
  std::vector<Plan> plans = {{Cut::kSkinnyGemm, 2, 2}, {Cut::kSkinnyGemm, 4, 4}};
  for (uint32_t octets = 1; octets <= 4; octets *= 2) {
    for (uint32_t tiles = 1; tiles <= MostTiles(format, octets, gated); tiles *= 2)
      plans.push_back({Cut::kGemv, tiles, octets});
  }
  return plans;
}

constexpr Format kTiled[] = {Format::kBf16, Format::kInt8, Format::kFp8};

// Tiled plans that suit matrices of this format with a multiple of 8 rows.
std::vector<Plan> PlansOfTiles(Format format, bool gated) {
  std::vector<Plan> plans = {{Cut::kTiledGemm, 4, 8}, {Cut::kTiledGemm, 8, 16}, {Cut::kSplitK, 4, 8}};
  if (!gated) plans.push_back({Cut::kTiledGemm, 4, 16});
  if (!gated && !HasScales(format))
    plans.insert(plans.end(), {{Cut::kTiledGemm, 6, 16}, {Cut::kSplitK, 8, 8}});
  return plans;
}

void EveryCutGivesTheSameBits() {
  for (const Format format : kFormats) {
    for (const auto& [rows, columns] : {std::pair<size_t, size_t>{37, 32}, {141, 352}}) {
      const Given given(format, rows, columns, 131);
      for (const bool gated : {false, true}) {
        const auto wanted = given.Cut({Cut::kGemv, 1, 1}, gated);
        for (const Plan& plan : PlansOf(format, gated)) CHECK(SameBits(given.Cut(plan, gated), wanted));
      }
    }
  }
}

void TilesGiveTheSameBits() {
  for (const Format format : kTiled) {
    for (const auto& [rows, columns] :
         {std::pair<size_t, size_t>{40, 32}, {136, 96}, {200, 352}, {24, 4640}}) {
      const Given given(format, rows, columns, 131);
      for (const bool gated : {false, true}) {
        const auto wanted = given.Cut({Cut::kGemv, 1, 1}, gated);
        for (const Plan& plan : PlansOfTiles(format, gated)) CHECK(SameBits(given.Cut(plan, gated), wanted));
      }
    }
  }
}

// A matrix of bf16 that holds the numbers of one of 8 bits, which all fit.
std::vector<Bf16> Widened(const StoredMatrix& w) {
  std::vector<Bf16> wide;
  for (const int8_t value : w.bytes.values) {
    wide.push_back(ToBf16(w.matrix.format == Format::kFp8 ? ToFloat(Fp8{static_cast<uint8_t>(value)})
                                                          : static_cast<float>(value)));
  }
  return wide;
}

// Every code there is, in every place of a chunk: numbers below 2^-6 of fp8 too, and -128.
void EightBitsAreTheNumbersThatTheyMean() {
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    Given given(format, 40, 352, 70);
    for (size_t i = 0; i < given.gate->bytes.values.size(); i++) {
      const auto code = static_cast<uint8_t>(i % 255 + i / 255);
      given.gate->bytes.values[i] =
          static_cast<int8_t>(format == Format::kFp8 && (code & 0x7f) == 0x7f ? 1 : code);
    }
    given.gate->matrix.scales = nullptr;
    const std::vector<Bf16> wide = Widened(*given.gate);
    auto plans = PlansOf(format, false);
    for (const Plan& plan : PlansOfTiles(format, false)) plans.push_back(plan);
    std::vector<std::vector<float>> seen;
    for (const Plan& plan : plans) seen.push_back(given.Cut(plan, false));
    given.gate->matrix.format = Format::kBf16;
    given.gate->matrix.values = wide.data();
    const auto wanted = given.Cut({Cut::kGemv, 1, 1}, false);
    for (const auto& one : seen) CHECK(SameBits(one, wanted));
  }
}

// The windows of streams, of as many positions each or not; of segments of 64 columns and of 96.
void TilesOfWindowsGiveTheSameBits() {
  for (const size_t channels : {64, 96}) {
    const size_t taps = 3, history = 2 * 3;
    const auto w = MakeMatrix(Format::kBf16, 24, taps * channels, 6);
    for (const std::vector<size_t>& counts :
         {std::vector<size_t>{32, 32, 32}, {5, 12, 1, 12}, {130}, {3, 3, 3, 3, 3}}) {
      const size_t longest = *std::max_element(counts.begin(), counts.end()),
                   span = (longest + history) * channels;
      const auto x = RandomFloats(counts.size() * span, 8);
      size_t all = 0;
      for (const size_t count : counts) all += count;
      const auto cut = [&](const Plan& plan) {
        emulator::Immediate queue;
        TestRoom room;
        std::vector<float> y(all * 24, NAN);
        const LaidVectors laid =
            LayStreams(queue, counts.size(), {nullptr, 0, channels, channels, taps, 3 * channels},
                       [&](size_t s) { return std::make_pair(x.data() + s * span, counts[s]); });
        CHECK(laid.as_signals && laid.slot > 0);
        const ProductArgs args = ArgsFor(w->matrix, y.data(), laid.view);
        CHECK(FitsTiles(args, laid));
        EnqueuePlanned(queue, room, plan, false, args, laid);
        return y;
      };
      const auto wanted = cut({Cut::kSkinnyGemm, 2, 2});
      // A part's boxes would not lie in one segment each.
      for (const Plan& plan : PlansOfTiles(Format::kBf16, false))
        CHECK(plan.cut == Cut::kSplitK || SameBits(cut(plan), wanted));
    }
  }
}

void NoBarrierIsMissing() {
  for (const Format format : {Format::kBf16, Format::kFp8}) {
    const Given given(format, 72, 320, 70);
    for (const Plan& plan : {Plan{Cut::kGemv, 1, 1},
                             {Cut::kGemv, 2, 4},
                             {Cut::kSkinnyGemm, 2, 2},
                             {Cut::kSkinnyGemm, 4, 4},
                             {Cut::kTiledGemm, 8, 16},
                             {Cut::kTiledGemm, 4, 8},
                             {Cut::kSplitK, 4, 8}}) {
      const auto wanted = given.Cut(plan, false);
      CHECK(SameBits(given.Cut(plan, false, {Order::kBackward}), wanted));
      CHECK(SameBits(given.Cut(plan, false, {Order::kShuffled, 3}), wanted));
    }
  }
  const Given given(Format::kBf16, 72, 2880, 70);
  const auto wanted = given.Cut({Cut::kSplitK, 8, 8}, false);
  CHECK(SameBits(given.Cut({Cut::kSplitK, 8, 8}, false, {Order::kBackward}), wanted));
  CHECK(SameBits(given.Cut({Cut::kSplitK, 8, 8}, false, {Order::kShuffled, 3}), wanted));
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
      const ProductArgs args =
          ArgsFor(given.gate->matrix, y.data(), laid.view, {bias.data(), gain.data(), true});
      CHECK(FitsTiles(args, laid));
      EnqueuePlanned(queue, room, plan, false, args, laid);
      return y;
    };
    const auto wanted = cut({Cut::kSkinnyGemm, 2, 2});
    for (const Plan& plan : PlansOfTiles(format, false)) CHECK(SameBits(cut(plan), wanted));
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
            CHECK(plan.cut != Cut::kGemv || plan.tiles <= MostTiles(format, plan.octets, gated));
            CHECK(plan.cut == Cut::kGemv || count > 16 || (plan.cut == Cut::kSplitK && count > 8));
            CHECK(!ReadsTiles(plan.cut) || wide);
            CHECK(plan.cut != Cut::kSkinnyGemm || !wide);
            if (plan.cut == Cut::kGemv) CHECK_EQ(plan.octets, count <= 8 ? 1u : count <= 16 ? 2u : 4u);
          }
        }
      }
    }
  }
  CHECK((PlanOf({Format::kBf16, 2048, 2048, false, 64, true, false}) == Plan{Cut::kGemv, 1, 4}));
  CHECK((PlanOf({Format::kBf16, 2048, 2048, false, 128, true, false}) == Plan{Cut::kGemv, 2, 4}));
  CHECK(PlanOf({Format::kBf16, 4096, 2048, false, 1024, true, false}).cut == Cut::kTiledGemm);
  CHECK((PlanOf({Format::kBf16, 4096, 2048, false, 1024, false, false}) == Plan{Cut::kSkinnyGemm, 4, 4}));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_product_cuts) {
  using namespace parley::test;
  return Run({
      {"every cut gives the same bits", EveryCutGivesTheSameBits},
      {"tiles give the same bits", TilesGiveTheSameBits},
      {"eight bits are the numbers that they mean", EightBitsAreTheNumbersThatTheyMean},
      {"tiles of eight bits are finished as others", TilesOfEightBitsAreFinishedAsOthers},
      {"tiles of windows give the same bits", TilesOfWindowsGiveTheSameBits},
      {"no barrier is missing", NoBarrierIsMissing},
      {"plans change where they should", PlansChangeWhereTheyShould},
  });
}
