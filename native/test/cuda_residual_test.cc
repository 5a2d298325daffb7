// Checks that the codec's residual units in two grids give the bits of separate steps, on the emulated GPU
// or, if PARLEY_CUDA_FILE names the backend's library, on a real one. Counts the grids of a frame of the
// full-size codec on an idle device.
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/codec/residual_unit.cuh"
#include "kernels/cuda/codec/signals.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "model/shared/codec_state.h"
#include "model/speech/codec_decoder.h"
#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/cuda_room.h"
#include "test/emulator/emulator.h"
#include "test/emulator/idle_device.h"
#include "test/kernel_inputs.h"
#include "test/random_codec.h"

namespace parley::test {
namespace {

using namespace cuda;
using Floats = std::vector<float>;

// Runs grids at once, and counts them.
class CountingQueue final : public emulator::Immediate {
 public:
  using Immediate::Immediate;
  size_t grids = 0;

 protected:
  void Add(const KernelEntry& entry, const Grid& grid, const void* args) override {
    grids++;
    Immediate::Add(entry, grid, args);
  }
};

struct Shape {
  size_t channels, dilation;
  std::vector<size_t> counts;
  size_t taps = 7;
};

// A residual unit, its input, and its output.
struct Case {
  Shape shape;
  std::unique_ptr<StoredMatrix> dilated, pointwise;
  Floats bias, pointwise_bias, snakes[4], x, y;
  std::vector<Floats> rooms, tails;
  std::vector<Stretch> streams;
  ResidualUnit unit;
  size_t positions = 0;

  Case(const Shape& one, Format format)
      : shape(one),
        dilated(MakeMatrix(format, one.channels, one.channels * one.taps, 3)),
        pointwise(MakeMatrix(format, one.channels, one.channels, 4)),
        bias(RandomFloats(one.channels, 5)),
        pointwise_bias(RandomFloats(one.channels, 6)) {
    for (uint64_t i = 0; i < 4; i++) snakes[i] = RandomFloats(one.channels, 10 + i);
    for (const size_t count : one.counts) positions += count;
    x = RandomFloats(positions * one.channels, 7);
    y = Floats(x.size(), NAN);
    unit = {{snakes[0].data(), snakes[1].data()},
            {dilated->matrix, bias.data(), one.channels, one.taps, one.dilation, 1},
            {snakes[2].data(), snakes[3].data()},
            pointwise->matrix,
            pointwise_bias.data()};
    const size_t past = unit.dilated.History() * one.channels;
    for (const size_t count : one.counts) {
      rooms.emplace_back(past + count * one.channels, NAN);
      tails.push_back(RandomFloats(past, 200 + tails.size()));
    }
    for (size_t s = 0; s < rooms.size(); s++)
      streams.push_back({rooms[s].data() + past, one.counts[s], tails[s].data()});
  }

  InputSignal From() const {
    return {x.data(), unit.first.a, unit.first.b, static_cast<uint32_t>(shape.channels)};
  }

  void AddStepByStep(const ProductRules& rules) {
    emulator::Immediate queue;
    TestRoom room;
    room.rules = rules;
    EnqueueSpread(queue, x.data(), unit.first.a, unit.first.b, shape.channels, streams.data(),
                  streams.size());
    EnqueueConvolveCausal(queue, room, unit.dilated, streams.data(), streams.size(), y.data());
    const Stretch whole{y.data(), positions, nullptr};
    EnqueueSpread(queue, y.data(), unit.second.a, unit.second.b, shape.channels, &whole, 1);
    EnqueueMultiply(queue, room, unit.pointwise, Rows(y.data(), positions, shape.channels),
                    {unit.pointwise_bias, nullptr, true}, x.data());
  }
};

// Enough of them that no unit is left to steps.
std::vector<size_t> Streams(std::vector<size_t> counts) {
  counts.resize(16, counts.back());
  return counts;
}

void CheckUnit(const Shape& shape, uint32_t multiprocessors, emulator::Order order) {
  const ProductRules rules{false, true, multiprocessors};
  Case wanted(shape, Format::kBf16), seen(shape, Format::kBf16);
  wanted.AddStepByStep(rules);
  CountingQueue queue({order, 7});
  TestRoom room;
  room.rules = rules;
  CHECK(EnqueueUnit(queue, room, seen.unit, seen.From(), seen.streams.data(), seen.streams.size(),
                    seen.x.data()));
  CHECK_EQ(queue.grids, 2u);
  CHECK(SameBits(seen.x, wanted.x));
  CHECK(seen.tails == wanted.tails);
}

void AUnitHasTheSameBitsInTwoGrids() {
  for (const size_t dilation : {1, 3, 9}) CheckUnit({96, dilation, {128}}, 132, emulator::Order::kForward);
  CheckUnit({96, 9, {130, 130}}, 3, emulator::Order::kBackward);
  CheckUnit({96, 3, {60, 0, 100, 70}}, 1, emulator::Order::kShuffled);
  CheckUnit({96, 9, {5}}, 132, emulator::Order::kShuffled);
  CheckUnit({96, 9, {1024}}, 1, emulator::Order::kForward);
  CheckUnit({192, 1, Streams({130})}, 132, emulator::Order::kForward);
  CheckUnit({192, 9, Streams({20, 0, 12, 17})}, 5, emulator::Order::kBackward);
  // A block goes through all stages of its ring more than once.
  CheckUnit({192, 3, Streams({40})}, 3, emulator::Order::kShuffled);
}

void OtherUnitsAreLeftToSteps() {
  const auto is_taken = [](const Shape& shape, Format format, const ProductRules& rules) {
    Case one(shape, format);
    const Floats before = one.x;
    CountingQueue queue;
    TestRoom room;
    room.rules = rules;
    const bool taken =
        EnqueueUnit(queue, room, one.unit, one.From(), one.streams.data(), one.streams.size(), one.x.data());
    if (!taken) CHECK(queue.grids == 0 && SameBits(one.x, before));
    return taken;
  };
  const std::vector<size_t> counts{20};
  CHECK(is_taken({96, 3, counts}, Format::kBf16, {false, true}));
  CHECK(!is_taken({96, 3, counts}, Format::kBf16, {false, false}));
  CHECK(!is_taken({96, 3, counts}, Format::kBf16, {true, true}));
  for (const Format format : {Format::kF32, Format::kF16, Format::kInt8})
    CHECK(!is_taken({96, 3, counts}, format, {false, true}));
  CHECK(!is_taken({192, 3, counts}, Format::kBf16, {false, true}));
  CHECK(is_taken({192, 3, Streams(counts)}, Format::kBf16, {false, true}));
  CHECK(!is_taken({128, 3, counts}, Format::kBf16, {false, true}));
  CHECK(!is_taken({96, 10, counts}, Format::kBf16, {false, true}));
  CHECK(!is_taken({96, 3, counts, 5}, Format::kBf16, {false, true}));
  // So uneven that their room would be larger than twice what they have.
  CHECK(!is_taken({96, 1, {200, 1, 1, 1}}, Format::kBf16, {false, true}));
}

// The whole backend, in any cut of a stream's positions.
void AStreamHasTheSameBitsHoweverItIsCut() {
  for (const size_t channels : {96, 64, 40}) {
    const Case one({channels, 3, {150}}, Format::kBf16);
    const size_t past = one.unit.dilated.History() * channels;
    const auto cuda = MakeBackend(false);
    Held<Bf16> dilated(*cuda, one.dilated->bf16), pointwise(*cuda, one.pointwise->bf16);
    Signal bias(*cuda, one.bias), pointwise_bias(*cuda, one.pointwise_bias),
        y = Poison(*cuda, one.x.size()), room = Poison(*cuda, one.x.size() + past);
    Signal a(*cuda, one.snakes[0]), b(*cuda, one.snakes[1]), second_a(*cuda, one.snakes[2]),
        second_b(*cuda, one.snakes[3]);
    ResidualUnit unit = one.unit;
    unit.first = {a.At(), b.At()};
    unit.second = {second_a.At(), second_b.At()};
    unit.dilated.weights.values = dilated.At();
    unit.dilated.bias = bias.At();
    unit.pointwise.values = pointwise.At();
    unit.pointwise_bias = pointwise_bias.At();
    const auto added = [&](const std::vector<size_t>& cut) {
      Signal x(*cuda, one.x), tail(*cuda, one.tails[0]);
      size_t begin = 0;
      for (const size_t count : cut) {
        const Stretch stream{room.At(past), count, tail.At()};
        cuda->AddResidual(unit, &stream, 1, count, x.At(begin * channels), y.At());
        begin += count;
      }
      Floats all = x.Get();
      const Floats last = tail.Get();
      all.insert(all.end(), last.begin(), last.end());
      return all;
    };
    const Floats whole = added({150});
    CHECK(SameBits(added({1, 128, 21}), whole));
    if (CudaFile() != nullptr) continue;  // its sines are others than the host's
    Case steps({channels, 3, {150}}, Format::kBf16);
    steps.AddStepByStep(ProductRules{false, true});
    steps.x.insert(steps.x.end(), steps.tails[0].begin(), steps.tails[0].end());
    CHECK(SameBits(steps.x, whole));
  }
}

// The number of grids of a frame, on an idle device as large as an H200. A grid costs a few streams some 4
// µs.

class Codec {
 public:
  Codec()
      : files_({1024, 512, 1536, 512, 1024, 8, 16, 16, 64, 72, {2, 2}, {8, 5, 4, 3}}, kBlank),
        checkpoint_(files_.Open()),
        kernels_(std::make_unique<cuda::emulator::IdleDevice>(), {}),
        decoder_(kernels_, *checkpoint_, Format::kBf16) {}

  // Number of grids in a pass of `streams` with `frames` each, after its graph was captured.
  uint64_t Grids(size_t streams, size_t frames) {
    std::vector<std::unique_ptr<model::CodecState>> states;
    std::vector<model::CodecDecoder::Job> jobs;
    const std::vector<int32_t> codes(frames * 16);
    std::vector<float> samples(streams * frames * decoder_.frame_samples());
    for (size_t n = 0; n < streams; n++) {
      states.push_back(decoder_.NewState());
      jobs.push_back({states.back().get(), codes.data(), frames,
                      samples.data() + n * frames * decoder_.frame_samples()});
    }
    uint64_t before = 0;
    for (int n = 0; n < 3; n++) {
      before = kernels_.TheRecorder().Counters().nodes;
      decoder_.Decode(jobs.data(), jobs.size());
    }
    return kernels_.TheRecorder().Counters().nodes - before;
  }

 private:
  const RandomCodec files_;
  const std::unique_ptr<const model::SpeechCheckpoint> checkpoint_;
  cuda::CudaKernels kernels_;
  model::CodecDecoder decoder_;
};

void AFrameOfOneStreamTakesFewGrids() {
  Codec codec;
  CHECK_EQ(codec.Grids(1, 1), 117u);
  CHECK_EQ(codec.Grids(2, 1), 117u);
  CHECK_EQ(codec.Grids(1, 2), 125u);
  CHECK_EQ(codec.Grids(3, 1), 119u);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_residual) {
  using namespace parley::test;
  return Run({
      {"a unit has the same bits in two grids", AUnitHasTheSameBitsInTwoGrids},
      {"other units are left to steps", OtherUnitsAreLeftToSteps},
      {"a stream has the same bits however it is cut", AStreamHasTheSameBitsHoweverItIsCut},
      {"a frame of one stream takes few grids", AFrameOfOneStreamTakesFewGrids},
  });
}
