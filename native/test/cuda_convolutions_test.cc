// Convolutions of the GPU, on the emulator: as the CPU has them, stream by stream, however they are fed.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/codec/depthwise.cuh"
#include "kernels/cuda/codec/signals.cuh"
#include "test/check.h"
#include "test/cuda_backend.h"
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

// Bound of cuda_products_test.cc, with the largest that any window can have.
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

// Compares all formats where that kernel is asked for.
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

// --- signals that are joined with their past on the way to a product: bit for bit as in separate steps

using Floats = std::vector<float>;

// Runs grids at once, and keeps their names.
class NamingQueue final : public emulator::Immediate {
 public:
  using Immediate::Immediate;
  std::vector<std::string> names;

 protected:
  void Add(const KernelEntry& entry, const Grid& grid, const void* args) override {
    names.push_back(emulator::NameOf(entry));
    Immediate::Add(entry, grid, args);
  }
};

struct JoinedShape {
  size_t rows, channels, taps, dilation;
  std::vector<size_t> counts;
  bool snakes = true;
};

// A convolution of a format, and what it meets.
struct Case {
  JoinedShape shape;
  std::unique_ptr<StoredMatrix> w;
  Floats bias, a, b, x;
  Convolution convolution;
  size_t positions = 0;

  Case(const JoinedShape& one, Format format)
      : shape(one),
        w(MakeMatrix(format, one.rows, one.channels * one.taps, 3)),
        bias(RandomFloats(one.rows, 4)),
        a(RandomFloats(one.channels, 5)),
        b(RandomFloats(one.channels, 6)),
        convolution{w->matrix, bias.data(), one.channels, one.taps, one.dilation, 1} {
    for (const size_t count : one.counts) positions += count;
    x = RandomFloats(positions * one.channels, 7);
  }
  InputSignal From() const {
    return {x.data(), shape.snakes ? a.data() : nullptr, shape.snakes ? b.data() : nullptr,
            static_cast<uint32_t>(shape.channels)};
  }
};

// Streams with room for their past, in pieces of their own, and y.
struct Answer {
  std::vector<Floats> rooms, tails;
  std::vector<Stretch> streams;
  Floats y;

  explicit Answer(const Case& of) : y(of.positions * of.shape.rows, NAN) {
    const size_t past = of.convolution.History() * of.shape.channels;
    for (const size_t count : of.shape.counts) {
      rooms.emplace_back(past + count * of.shape.channels, NAN);
      tails.push_back(RandomFloats(past, 200 + tails.size()));
    }
    for (size_t s = 0; s < rooms.size(); s++)
      streams.push_back({rooms[s].data() + past, of.shape.counts[s], tails[s].data()});
  }
};

Answer OneAfterTheOther(const Case& of, const ProductRules& rules) {
  Answer answer(of);
  emulator::Immediate queue;
  TestRoom room;
  room.rules = rules;
  const InputSignal from = of.From();
  EnqueueSpread(queue, from.x, from.a, from.b, from.channels, answer.streams.data(), answer.streams.size());
  EnqueueConvolveCausal(queue, room, of.convolution, answer.streams.data(), answer.streams.size(),
                        answer.y.data());
  return answer;
}

// The names of its grids.
std::vector<std::string> CheckJoined(const Case& of, const ProductRules& rules,
                                     const emulator::Rules& order = {}) {
  const Answer wanted = OneAfterTheOther(of, rules);
  Answer seen(of);
  NamingQueue queue(order);
  TestRoom room;
  room.rules = rules;
  CHECK(JoinsInput(of.From(), seen.streams.data(), seen.streams.size()));
  EnqueueConvolveSpread(queue, room, of.From(), of.convolution, seen.streams.data(), seen.streams.size(),
                        seen.y.data());
  CHECK(SameBits(seen.y, wanted.y));
  CHECK(seen.tails == wanted.tails);
  return queue.names;
}

bool Begins(const std::string& name, const char* with) { return name.rfind(with, 0) == 0; }

void AConvolutionHasTheSameBitsInOnePass() {
  for (const Format format : kFormats) {
    for (const auto& counts : {std::vector<size_t>{4, 4}, {1, 3, 2, 9, 1}, {40, 2, 25}, {0, 5}, {64}, {0}}) {
      for (const emulator::Order order : {emulator::Order::kBackward, emulator::Order::kShuffled}) {
        const ProductRules rules{order == emulator::Order::kBackward, order != emulator::Order::kShuffled};
        CheckJoined(Case({24, 32, 7, 1, counts}, format), rules, {order, 5});
        CheckJoined(Case({24, 32, 7, 3, counts, false}, format), rules, {order, 5});
        CheckJoined(Case({24, 24, 4, 1, counts}, format), rules, {order, 5});
        CheckJoined(Case({3, 32, 3, 1, counts}, format), rules, {order, 5});
        CheckJoined(Case({20, 64, 1, 1, counts}, format), rules, {order, 5});
      }
    }
  }
  CheckJoined(Case({0, 32, 3, 1, {9, 2}}, Format::kBf16), {});  // the tails alone
  CheckJoined(Case({9, 2048, 2, 1, {5, 7, 1}}, Format::kBf16), {});
}

// So many blocks that a thread has several positions.
void ManyPositionsHaveTheSameBitsAsFew() {
  std::vector<size_t> counts(1024, 1);
  counts[5] = 61;
  const auto names = CheckJoined(Case({16, 256, 2, 1, counts}, Format::kBf16), {});
  CHECK_EQ(names.size(), 2u);
  CHECK(Begins(names[0], "JoinInput<1, 4"));
  counts[5] = 2;  // streams so uneven would not lie in tiles
  const auto wide = CheckJoined(Case({1152, 256, 2, 1, counts}, Format::kBf16), {false, true});
  CHECK_EQ(wide.size(), 2u);
  CHECK(Begins(wide[0], "JoinInput<1, 1") && Begins(wide[1], "MultiplyTiledGemm"));
}

void TermsArePreparedOnTheWay() {
  const auto first = [](const JoinedShape& shape, Format format, const ProductRules& rules) {
    return CheckJoined(Case(shape, format), rules);
  };
  for (const Format format : kFormats) {
    for (const bool full : {false, true}) {
      const auto names = first({40, 32, 7, 3, {70, 3, 0, 9}}, format, {full, false});
      CHECK_EQ(names.size(), 2u);
      CHECK(Begins(names[0], VectorTermsOf(format, full) == 2 ? "JoinInput<2, 1" : "JoinInput<1, 1"));
    }
  }
  // So few vectors that a product reads their floats; a dilated window that is no multiple of a chunk.
  const auto names = first({40, 32, 7, 3, {3, 4}}, Format::kBf16, {});
  CHECK_EQ(names.size(), 2u);
  CHECK(Begins(names[0], "JoinInput<0, 1"));
  CHECK_EQ(first({20, 40, 4, 2, {30, 1, 0, 7}}, Format::kBf16, {}).size(), 3u);
}

void AConvolutionToFewRowsIsOneGrid() {
  for (const Format format : kFormats) {
    for (const auto& counts : {std::vector<size_t>{1}, {64, 65}, {3, 200, 0, 63, 5}, {2, 2}}) {
      for (const emulator::Order order : {emulator::Order::kBackward, emulator::Order::kShuffled}) {
        for (const JoinedShape& shape :
             {JoinedShape{1, 96, 7, 1, counts}, JoinedShape{8, 8, 3, 1, counts, false},
              JoinedShape{2, 40, 5, 16, counts}, JoinedShape{3, 24, 7, 9, counts},
              JoinedShape{0, 32, 3, 1, counts}, JoinedShape{2, 16, 1, 1, counts}}) {
          CHECK_EQ(CheckJoined(Case(shape, format), {}, {order, 5}).size(), 1u);
        }
      }
    }
  }
  // A past that is longer than what a block has; more rows; and channels too many for shared memory.
  for (const JoinedShape& shape : {JoinedShape{1, 16, 6, 13, {70, 3}}, JoinedShape{9, 16, 3, 1, {70, 3}},
                                   JoinedShape{2, 512, 3, 1, {70, 3}}}) {
    CHECK(CheckJoined(Case(shape, Format::kF32), {}).size() > 1);
  }
}

void RowsAreSnakedAsTheirProductReadsThem() {
  for (const Format format : kFormats) {
    for (const size_t rows : {1, 8, 9, 60, 300}) {
      for (const size_t channels : {32, 96, 72}) {
        const Case one({40, channels, 1, 1, {rows}}, format);
        const auto before = RandomFloats(rows * 40, 9);
        const Finish finish{one.bias.data(), nullptr, true};
        emulator::Immediate queue;
        TestRoom room;
        room.rules = {};
        Floats x = one.x, y = before, wanted_x = one.x, wanted = before;
        const Stretch whole{wanted_x.data(), rows, nullptr};
        EnqueueSpread(queue, wanted_x.data(), one.a.data(), one.b.data(), channels, &whole, 1);
        EnqueueMultiply(queue, room, one.w->matrix, Rows(wanted_x.data(), rows, channels), finish,
                        wanted.data());
        NamingQueue named({emulator::Order::kShuffled, 3});
        EnqueueMultiplySnaked(named, room, one.w->matrix,
                              {x.data(), one.a.data(), one.b.data(), static_cast<uint32_t>(channels)}, rows,
                              finish, y.data());
        CHECK(SameBits(y, wanted));
        CHECK_EQ(named.names.size(), 2u);
        CHECK_EQ(Begins(named.names[0], "JoinInput<0"), rows <= 8 || channels == 72);
      }
    }
  }
}

// The whole backend: what does not lie well, or has other channels, is done one after the other.
void WhatDoesNotFitIsDoneInSteps() {
  for (const size_t channels : {7, 20, 2064, 32}) {
    for (const size_t off : {0, 1}) {
      const auto cuda = MakeCudaKernels();
      const Case one({20, channels, 3, 1, {9, 0, 3}}, Format::kBf16);
      const size_t past = 2 * channels, values = 12 * channels;
      Held<Bf16> w(*cuda, one.w->bf16);
      Floats shifted = one.x;
      shifted.insert(shifted.begin(), off, 0.5f);
      Signal x(*cuda, shifted), a(*cuda, one.a), b(*cuda, one.b), tails(*cuda, RandomFloats(2 * past, 8));
      Signal signal = Poison(*cuda, values + 2 * past), y = Poison(*cuda, 12 * 20);
      Convolution convolution = one.convolution;
      convolution.weights.values = w.At();
      convolution.bias = nullptr;
      const Stretch streams[] = {{signal.At(past), 9, tails.At()},
                                 {signal.At(), 0, nullptr},
                                 {signal.At(2 * past + 9 * channels), 3, tails.At(past)}};
      cuda->Wait();
      uint64_t before = cuda->TheRecorder().Counters().nodes;
      cuda->ConvolveSpread(x.At(off), a.At(), b.At(), convolution, streams, 3, y.At());
      cuda->Wait();
      CHECK_EQ(cuda->TheRecorder().Counters().nodes - before <= 2, channels == 32 && off == 0);
      const Floats seen = y.Get(), seen_tails = tails.Get();
      tails.Set(RandomFloats(2 * past, 8));
      cuda->Spread(x.At(off), a.At(), b.At(), channels, streams, 3);
      cuda->ConvolveCausal(convolution, streams, 3, y.At());
      CHECK(SameBits(y.Get(), seen));
      CHECK(tails.Get() == seen_tails);

      // To one row, within bounds: the last convolution.
      Convolution last = convolution;
      last.weights.rows = 1;
      tails.Set(RandomFloats(2 * past, 8));
      Signal clamped = Poison(*cuda, 12);
      cuda->Wait();
      before = cuda->TheRecorder().Counters().nodes;
      cuda->ConvolveClamped(x.At(off), a.At(), b.At(), last, streams, 3, -0.25f, 0.5f, clamped.At());
      cuda->Wait();
      if (channels == 32) CHECK_EQ(cuda->TheRecorder().Counters().nodes - before == 1, off == 0);
      const Floats within = clamped.Get(), clamped_tails = tails.Get();
      tails.Set(RandomFloats(2 * past, 8));
      cuda->ConvolveSpread(x.At(off), a.At(), b.At(), last, streams, 3, clamped.At());
      cuda->Clamp(clamped.At(), 12, -0.25f, 0.5f);
      CHECK(SameBits(clamped.Get(), within) && tails.Get() == clamped_tails);
      CHECK_EQ(*std::min_element(within.begin(), within.end()), -0.25f);
      CHECK_EQ(*std::max_element(within.begin(), within.end()), 0.5f);

      const Matrix square{Format::kBf16, w.At(), nullptr, 20, channels};
      Signal rows(*cuda, shifted), sums = Poison(*cuda, 12 * 20);
      cuda->MultiplySnaked(square, rows.At(off), a.At(), b.At(), 12, {}, sums.At());
      rows.Set(shifted);
      cuda->Snake(rows.At(off), a.At(), b.At(), 12, channels, rows.At(off));
      cuda->Multiply(square, Rows(rows.At(off), 12, channels), {}, y.At());
      CHECK(SameBits(sums.Get(), y.Get()));
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
      {"a convolution has the same bits in one pass", AConvolutionHasTheSameBitsInOnePass},
      {"many positions have the same bits as few", ManyPositionsHaveTheSameBitsAsFew},
      {"terms are prepared on the way", TermsArePreparedOnTheWay},
      {"a convolution to few rows is one grid", AConvolutionToFewRowsIsOneGrid},
      {"rows are snaked as their product reads them", RowsAreSnakedAsTheirProductReadsThem},
      {"what does not fit is done in steps", WhatDoesNotFitIsDoneInSteps},
  });
}
