// Signals that are joined with their past on their way to a product, on the emulator: bit for bit as when
// they are spread, joined and prepared one after the other.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/codec/signals.cuh"
#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/cuda_room.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace cuda;
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

struct Shape {
  size_t rows, channels, taps, dilation;
  std::vector<size_t> counts;
  bool snakes = true;
};

// A convolution of a format, and what it meets.
struct Case {
  Shape shape;
  std::unique_ptr<StoredMatrix> w;
  Floats bias, a, b, x;
  Convolution convolution;
  size_t positions = 0;

  Case(const Shape& one, Format format)
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
  const auto first = [](const Shape& shape, Format format, const ProductRules& rules) {
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
        for (const Shape& shape :
             {Shape{1, 96, 7, 1, counts}, Shape{8, 8, 3, 1, counts, false}, Shape{2, 40, 5, 16, counts},
              Shape{3, 24, 7, 9, counts}, Shape{0, 32, 3, 1, counts}, Shape{2, 16, 1, 1, counts}}) {
          CHECK_EQ(CheckJoined(Case(shape, format), {}, {order, 5}).size(), 1u);
        }
      }
    }
  }
  // A past that is longer than what a block has; more rows; and channels too many for shared memory.
  for (const Shape& shape :
       {Shape{1, 16, 6, 13, {70, 3}}, Shape{9, 16, 3, 1, {70, 3}}, Shape{2, 512, 3, 1, {70, 3}}}) {
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

TEST_GROUP(cuda_joined_input) {
  using namespace parley::test;
  return Run({
      {"a convolution has the same bits in one pass", AConvolutionHasTheSameBitsInOnePass},
      {"many positions have the same bits as few", ManyPositionsHaveTheSameBitsAsFew},
      {"terms are prepared on the way", TermsArePreparedOnTheWay},
      {"a convolution to few rows is one grid", AConvolutionToFewRowsIsOneGrid},
      {"rows are snaked as their product reads them", RowsAreSnakedAsTheirProductReadsThem},
      {"what does not fit is done in steps", WhatDoesNotFitIsDoneInSteps},
  });
}
