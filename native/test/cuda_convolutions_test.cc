// Convolutions of the GPU, on the emulator: as the CPU has them, stream by stream, however they are fed.
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/codec/depthwise.cuh"
#include "test/check.h"
#include "test/cuda_room.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace cuda;

// Streams of one convolution, each with its past, in pieces of their own: what lies before a past is not
// theirs.
struct Streams {
  std::vector<std::vector<float>> rooms, tails;
  std::vector<Stretch> stretches;

  Streams(const std::vector<size_t>& counts, size_t channels, size_t history) {
    for (const size_t count : counts) {
      rooms.push_back(RandomFloats((history + count) * channels, 100 + rooms.size()));
      std::fill_n(rooms.back().begin(), history * channels, NAN);
      tails.push_back(RandomFloats(history * channels, 200 + tails.size()));
    }
    for (size_t s = 0; s < counts.size(); s++) {
      stretches.push_back({rooms[s].data() + history * channels, counts[s], tails[s].data()});
    }
  }

  size_t Positions() const {
    size_t positions = 0;
    for (const Stretch& stretch : stretches) positions += stretch.count;
    return positions;
  }
};

std::vector<float> Convolved(const Convolution& convolution, Stretch* streams, size_t count,
                             const emulator::Rules& rules = {}) {
  emulator::Immediate queue(rules);
  TestRoom room;
  size_t positions = 0;
  for (size_t s = 0; s < count; s++) positions += streams[s].count;
  std::vector<float> y(positions * convolution.weights.rows, NAN);
  EnqueueConvolveCausal(queue, room, convolution, streams, count, y.data());
  return y;
}

// As in cuda_products_test.cc, with the largest that any window can have.
double Bound(const StoredMatrix& w, size_t row) {
  double weights = 0;
  for (size_t k = 0; k < w.matrix.columns; k++) weights += std::fabs(w.At(row, k));
  const double kept = VectorTermsOf(w.matrix.format, false) == 2 ? 3.0 / (1 << 18) : 1.0 / (1 << 9);
  return weights * (kept + (static_cast<double>(w.matrix.columns) / 8 + 16) * 6e-8 +
                    (w.matrix.format == Format::kInt8 ? 0.5001 / 32767 : 0)) +
         2e-7;
}

struct Shape {
  size_t rows, channels, taps, dilation;
  std::vector<size_t> counts;
};

void CheckConvolution(const Shape& one, Format format) {
  const auto w = MakeMatrix(format, one.rows, one.channels * one.taps, 3);
  const auto bias = RandomFloats(one.rows, 4);
  const Convolution convolution{w->matrix, bias.data(), one.channels, one.taps, one.dilation, 1};
  Streams seen(one.counts, one.channels, convolution.History()),
      wanted(one.counts, one.channels, convolution.History());
  std::vector<float> y(wanted.Positions() * one.rows);
  MakeKernels(*Variants().back())
      ->ConvolveCausal(convolution, wanted.stretches.data(), one.counts.size(), y.data());
  const auto together = Convolved(convolution, seen.stretches.data(), one.counts.size());
  bool is_near = true;
  for (size_t i = 0; i < y.size(); i++)
    is_near = is_near && std::fabs(together[i] - y[i]) <= Bound(*w, i % one.rows);
  CHECK(is_near);
  CHECK(seen.tails == wanted.tails);

  Streams apart(one.counts, one.channels, convolution.History());
  std::vector<float> each;
  for (Stretch& stretch : apart.stretches) {
    const auto its = Convolved(convolution, &stretch, 1, {emulator::Order::kShuffled, 5});
    each.insert(each.end(), its.begin(), its.end());
  }
  CHECK(SameBits(together, each));
  CHECK(apart.tails == wanted.tails);
}

void StreamsThatAreConvolvedTogetherStayApart() {
  for (const Format format : kFormats) {
    for (const auto& counts : {std::vector<size_t>{4, 4}, {1, 3, 2, 9, 1}, {40, 2, 25}, {0, 5}, {64}}) {
      CheckConvolution({24, 32, 7, 1, counts}, format);
      CheckConvolution({24, 32, 7, 3, counts}, format);
      CheckConvolution({24, 20, 7, 3, counts}, format);
      CheckConvolution({3, 32, 3, 1, counts}, format);
    }
  }
  CheckConvolution({20, 7, 3, 1, {3, 1, 0, 7}}, Format::kF32);
  CheckConvolution({20, 40, 4, 1, {3, 1, 0, 7}}, Format::kBf16);
  CheckConvolution({20, 40, 4, 2, {3, 1, 0, 7}}, Format::kBf16);
  CheckConvolution({20, 64, 1, 1, {3, 1, 2}}, Format::kBf16);
  CheckConvolution({20, 64, 7, 3, {3, 9, 2}}, Format::kBf16);  // a part of the columns goes from tap to tap
}

// So many rows and positions that together they go to a kernel of many vectors, and apart to that of few.
void ManyPositionsGiveTheSameBitsAsFew() {
  const auto plan = [](size_t positions) {
    return PlanOf({Format::kBf16, 544, 256, false, BucketOf(positions), true, false});
  };
  CHECK(plan(1032).cut == Cut::kTiledGemm && plan(150).cut == Cut::kGemv);
  CheckConvolution({544, 64, 4, 9, {150, 3, 878, 1}}, Format::kBf16);
}

// The same, of all formats, where that kernel is asked for.
void SignalsArePreparedAsTheyLie() {
  for (const Format format : kFormats) {
    for (const size_t channels : {32, 20}) {
      const auto w = MakeMatrix(format, 40, channels * 8, 3);
      const Convolution convolution{w->matrix, nullptr, channels, 8, 3, 1};
      Streams seen({70, 3, 0, 9}, channels, convolution.History()),
          wanted({70, 3, 0, 9}, channels, convolution.History());
      const auto few = Convolved(convolution, wanted.stretches.data(), 4);
      emulator::Immediate queue;
      TestRoom room;
      std::vector<float> y(few.size(), NAN);
      EnqueueJoin(queue, seen.stretches.data(), 4, convolution.History(), channels);
      const LaidVectors laid = LayStretches(queue, seen.stretches.data(), 4, convolution.History(),
                                            WindowsOf(convolution, nullptr, 0));
      CHECK_EQ(laid.as_signals, channels == 32);
      const ProductArgs args = ArgsFor(w->matrix, y.data(), laid.view);
      EnqueuePlanned(queue, room, {Cut::kSkinnyGemm, 4, 4}, false, args, laid);
      CHECK(SameBits(y, few));
      if (!FitsTiles(args, laid)) continue;
      std::fill(y.begin(), y.end(), NAN);
      EnqueuePlanned(queue, room, {Cut::kTiledGemm, 4, 16}, false, args, laid);
      CHECK(SameBits(y, few));
    }
  }
}

// In pieces, of a stream that begins with silence.
void AStreamInPiecesGivesTheSameBits() {
  constexpr size_t kTime = 60, kChannels = 32, kTaps = 7;
  const auto w = MakeMatrix(Format::kBf16, 48, kChannels * kTaps, 1);
  const auto x = RandomFloats(kTime * kChannels, 2), bias = RandomFloats(48, 3);
  for (const size_t dilation : {1, 9}) {
    const Convolution convolution{w->matrix, bias.data(), kChannels, kTaps, dilation, 1};
    const size_t past = convolution.History() * kChannels;
    std::vector<float> first;
    for (const size_t piece : {kTime, size_t{1}, size_t{7}, size_t{31}}) {
      std::vector<float> tail(past), y;
      for (size_t t = 0; t < kTime; t += piece) {
        const size_t count = std::min(piece, kTime - t);
        std::vector<float> room(past + count * kChannels, NAN);
        std::memcpy(room.data() + past, x.data() + t * kChannels, count * kChannels * sizeof(float));
        Stretch stretch{room.data() + past, count, tail.data()};
        const auto its = Convolved(convolution, &stretch, 1);
        y.insert(y.end(), its.begin(), its.end());
      }
      if (first.empty()) first = y;
      CHECK(SameBits(y, first));
    }
  }
}

// The convolution of a signal that is not spread.
void CheckSpread(const std::vector<size_t>& counts, const Depthwise& one) {
  Streams seen(counts, one.channels, one.taps - 1), wanted(counts, one.channels, one.taps - 1);
  const auto x = RandomFloats(wanted.Positions() * one.channels, 11);
  std::vector<float> y(x.size(), NAN), expected = y;
  MakeKernels()->ConvolveSpreadDepthwise(x.data(), one.weights, one.bias, one.channels, one.taps,
                                         wanted.stretches.data(), counts.size(), expected.data());
  emulator::Immediate queue({emulator::Order::kShuffled, 5});
  EnqueueSpreadDepthwise(queue, x.data(), one, seen.stretches.data(), counts.size(), y.data());
  CHECK(SameBits(y, expected));
  CHECK(seen.tails == wanted.tails);
}

void ADepthwiseConvolutionHasTheBitsOfTheCpu() {
  for (const size_t channels : {1, 8, 19, 48}) {
    for (const auto& counts : {std::vector<size_t>{4, 4}, {1, 3, 2, 9, 1}, {40, 2, 25}, {0, 5}, {64}, {0}}) {
      for (const size_t taps : {1, 7, 20}) {
        const auto w = RandomFloats(taps * channels, 1), bias = RandomFloats(channels, 2);
        for (const float* its_bias : {bias.data(), static_cast<const float*>(nullptr)}) {
          Streams seen(counts, channels, taps - 1), wanted(counts, channels, taps - 1);
          std::vector<float> y(wanted.Positions() * channels, NAN), expected = y;
          MakeKernels()->ConvolveDepthwise(w.data(), its_bias, channels, taps, wanted.stretches.data(),
                                           counts.size(), expected.data());
          emulator::Immediate queue;
          EnqueueConvolveDepthwise(queue, w.data(), its_bias, channels, taps, seen.stretches.data(),
                                   counts.size(), y.data());
          CHECK(SameBits(y, expected));
          CHECK(seen.tails == wanted.tails);
          CheckSpread(counts, {w.data(), its_bias, channels, taps});
        }
      }
    }
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_convolutions) {
  using namespace parley::test;
  return Run({
      {"streams that are convolved together stay apart", StreamsThatAreConvolvedTogetherStayApart},
      {"many positions give the same bits as few", ManyPositionsGiveTheSameBitsAsFew},
      {"signals are prepared as they lie", SignalsArePreparedAsTheyLie},
      {"a stream in pieces gives the same bits", AStreamInPiecesGivesTheSameBits},
      {"a depthwise convolution has the bits of the CPU", ADepthwiseConvolutionHasTheBitsOfTheCpu},
  });
}
