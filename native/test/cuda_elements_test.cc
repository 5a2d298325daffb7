// Compares the CUDA backend's element-wise kernels (signals and tables) with the CPU's portable kernels.
// If both write the same operations, the bits must match; otherwise the test states a bound.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/cuda/codec/statistics.cuh"
#include "kernels/cuda/norms.cuh"
#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

std::vector<float> Wide(size_t count, uint64_t seed, float scale) {
  auto values = RandomFloats(count, seed);
  for (float& value : values) value *= scale;
  return values;
}

// Within `bound` of each other; no number only where the other is none.
bool Near(const std::vector<float>& a, const std::vector<float>& b, float bound) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return false;
    if (!std::isnan(a[i]) && a[i] != b[i] && !(std::fabs(a[i] - b[i]) <= bound)) return false;
  }
  return true;
}

void ActivationsAreThoseOfTheCpu() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const Activation activation :
       {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kElu, Activation::kRelu,
        Activation::kTanh, Activation::kSigmoid}) {
    for (const size_t count : {1, 3, 4, 1023, 2050}) {
      auto x = Wide(count, count, 20);
      x[0] = NAN;
      if (count > 3) x[1] = 200, x[2] = -200;
      Signal y(*cuda, x);
      cuda->Activate(activation, y.At(), count);
      cpu->Activate(activation, x.data(), count);
      CHECK(Near(y.Get(), x,
                 activation == Activation::kSilu || activation == Activation::kRelu ? 0.0f : 1e-6f));
    }
  }
  cuda->Activate(Activation::kRelu, nullptr, 0);
}

void SumsAndLimitsAreThoseOfTheCpu() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const size_t count : {1, 5, 1024, 4099}) {
    auto y = Wide(count, 1, 3);
    const auto x = Wide(count, 2, 3);
    y[0] = NAN;
    if (count > 2) y[1] = INFINITY, y[2] = -INFINITY;
    Signal held(*cuda, y), other(*cuda, x), odd(*cuda, count + 1);
    cuda->Add(held.At(), other.At(), count);
    cuda->Clamp(held.At(), count, -1, 1.5f);
    cuda->Copy(odd.At(1), other.At(), count * sizeof(float));
    cuda->Add(odd.At(1), other.At(), count);  // lies at no multiple of 16 bytes
    cpu->Add(y.data(), x.data(), count);
    cpu->Clamp(y.data(), count, -1, 1.5f);
    CHECK(Near(held.Get(), y, 0));
    auto twice = x;
    cpu->Add(twice.data(), x.data(), count);
    twice.insert(twice.begin(), 0.0f);
    CHECK(SameBits(odd.Get(), twice));
  }
}

void SnakeHasTheBitsOfTheCpu() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const size_t channels : {1, 3, 8, 33, 96}) {
    const size_t rows = 27;
    auto x = Wide(rows * channels, channels, 30);
    x[0] = 1e20f;
    const auto a = Wide(channels, 2, 3), b = Wide(channels, 3, 2);
    Signal held(*cuda, x), as(*cuda, a), bs(*cuda, b), y = Poison(*cuda, x.size());
    cuda->Snake(held.At(), as.At(), bs.At(), rows, channels, y.At());
    cuda->Snake(held.At(), as.At(), bs.At(), rows, channels, held.At());
    std::vector<float> wanted(x.size());
    cpu->Snake(x.data(), a.data(), b.data(), rows, channels, wanted.data());
    CHECK(SameBits(y.Get(), wanted));
    CHECK(SameBits(held.Get(), wanted));
  }
}

// Channels of four and not, planes of one frame, and values at no multiple of 16 bytes.
void WindowsOfPlanesAreThoseOfTheCpu() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const Planes& one :
       {Planes{3, 100, 16, 1}, {2, 7, 5, 3}, {5, 4, 8, 20}, {1, 1, 1, 4}, {2, 2, 9, 16}}) {
    const size_t plane = one.frames * one.bands * one.channels;
    const size_t windows =
        Kernels::HalfOf(one.frames) * Kernels::HalfOf(one.bands) * Kernels::PlaneColumns(one.channels);
    const auto x = Wide(one.count * plane, 4, 3);
    std::vector<float> wanted(one.count * windows, NAN);
    cpu->GatherPlanes(x.data(), one, wanted.data());
    for (size_t n = 0; n < one.count; n++) {
      std::vector<float> alone(windows, NAN);
      cpu->GatherPlanes(x.data() + n * plane, {1, one.frames, one.bands, one.channels}, alone.data());
      CHECK(
          std::equal(alone.begin(), alone.end(), wanted.begin() + static_cast<std::ptrdiff_t>(n * windows)));
    }
    for (const size_t odd : {0, 1}) {
      Signal held(*cuda, x.size() + odd), y = Poison(*cuda, wanted.size());
      cuda->Upload(held.At(odd), x.data(), x.size() * sizeof(float));
      cuda->GatherPlanes(held.At(odd), one, y.At());
      CHECK(SameBits(y.Get(), wanted));
    }
  }
  cuda->GatherPlanes(nullptr, {0, 100, 128, 1}, nullptr);
}

// Streams of several lengths, one of them empty: one grid.
void SpreadPutsEveryStreamInItsPlace() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  const size_t counts[] = {3, 0, 40, 1};
  for (const size_t channels : {5, 32}) {
    const auto x = Wide(44 * channels, 4, 3), a = Wide(channels, 5, 3), b = Wide(channels, 6, 1);
    Signal held(*cuda, x), as(*cuda, a), bs(*cuda, b);
    for (const bool snakes : {false, true}) {
      std::vector<Signal> places;
      std::vector<std::vector<float>> wanted;
      std::vector<Stretch> streams, host;
      for (const size_t count : counts) {
        places.push_back(Poison(*cuda, count * channels + 1));
        wanted.emplace_back(count * channels + 1, NAN);
      }
      for (size_t s = 0; s < 4; s++) {
        streams.push_back({places[s].At(), counts[s], nullptr});
        host.push_back({wanted[s].data(), counts[s], nullptr});
      }
      cuda->Wait();
      const uint64_t before = cuda->TheRecorder().Counters().nodes;
      cuda->Spread(held.At(), snakes ? as.At() : nullptr, bs.At(), channels, streams.data(), 4);
      cuda->Wait();
      CHECK_EQ(cuda->TheRecorder().Counters().nodes, before + 1);
      cpu->Spread(x.data(), snakes ? a.data() : nullptr, b.data(), channels, host.data(), 4);
      for (size_t s = 0; s < 4; s++) CHECK(Near(places[s].Get(), wanted[s], 0));
    }
  }
}

// So many values that a thread has several fours of them.
void ManyValuesAreSpreadAsFewAre() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  constexpr size_t kStreams = 1024, kChannels = 12, kRows = 400;
  const auto x = Wide(kRows * kChannels, 4, 3), a = Wide(kChannels, 5, 3), b = Wide(kChannels, 6, 1);
  std::vector<float> wanted(x.size());
  cpu->Snake(x.data(), a.data(), b.data(), kRows, kChannels, wanted.data());
  // One long stream, and so many short ones that the grid is a large one.
  Signal as(*cuda, a), bs(*cuda, b), y = Poison(*cuda, x.size() + 1);
  std::vector<Stretch> streams(kStreams, {y.At(), 1, nullptr});
  std::vector<float> rest((kStreams - 1) * kChannels, 0.5f);
  std::vector<float> all = x;
  all.insert(all.end(), rest.begin(), rest.end());
  Signal together(*cuda, all), others(*cuda, rest.size());
  streams[0].count = kRows;
  for (size_t s = 1; s < kStreams; s++) streams[s].x = others.At((s - 1) * kChannels);
  cuda->Spread(together.At(), as.At(), bs.At(), kChannels, streams.data(), kStreams);
  wanted.push_back(NAN);
  CHECK(Near(y.Get(), wanted, 0));
}

void ColumnsAndPaddingAreThoseOfTheCpu() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  const size_t rows = 21, channels = 7;
  const auto x = Wide(rows * channels, 7, 1);
  Signal held(*cuda, x);
  std::vector<float> wanted(rows * 12, 0.5f);
  Signal columns(*cuda, wanted);
  cuda->CopyColumns(held.At(), channels, 2, columns.At(), 12, 5, 4, rows);
  cpu->CopyColumns(x.data(), channels, 2, wanted.data(), 12, 5, 4, rows);
  CHECK(SameBits(columns.Get(), wanted));
  CHECK_EQ(RefusalOf([&] { cuda->CopyColumns(held.At(), channels, 4, columns.At(), 12, 0, 4, rows); }),
           std::string("columns outside the signal"));
  for (const Padding padding : {Padding::kZero, Padding::kReplicate, Padding::kReflect}) {
    for (const size_t left : {0, 1, 20}) {
      std::vector<float> padded((rows + left + 3) * channels, NAN);
      Signal y = Poison(*cuda, padded.size());
      cuda->Pad(held.At(), rows, channels, left, 3, padding, y.At());
      cpu->Pad(x.data(), rows, channels, left, 3, padding, padded.data());
      CHECK(SameBits(y.Get(), padded));
    }
  }
  CHECK_EQ(RefusalOf([&] { cuda->Pad(held.At(), 3, channels, 3, 0, Padding::kReflect, held.At()); }),
           std::string("a signal is reflected over fewer rows than it has"));
  CHECK_EQ(RefusalOf([&] { cuda->Pad(held.At(), 0, channels, 3, 0, Padding::kReplicate, held.At()); }),
           std::string("nothing to replicate"));
}

// Ids every third place; -1 is the row of zeros; beyond the table there is no number.
void RowsAreGatheredFromTablesOfEveryFormat() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const Format format : kFormats) {
    for (const size_t columns : {1, 33, 200, 2056}) {
      const auto stored = MakeMatrix(format, 9, columns, 8);
      Matrix table = stored->matrix;
      Held<uint8_t> values(*cuda, table.Bytes());
      cuda->Upload(values.At(), table.values, table.Bytes());
      Signal scales(*cuda, HasScales(format) ? stored->bytes.scales : std::vector<float>(1));
      const std::vector<int32_t> ids = {8, 0, 0, -1, 0, 0, 0, 0, 0, 3, 0, 0, 8};
      Held<int32_t> held(*cuda, ids);
      for (const bool add : {false, true}) {
        auto wanted = Wide(5 * columns, 9, 1);
        Signal y(*cuda, wanted);
        cpu->Gather(table, {ids.data(), 3}, 5, add, wanted.data());
        Matrix there = table;
        there.values = values.At();
        there.scales = HasScales(format) ? scales.At() : nullptr;
        cuda->Gather(there, {held.At(), 3}, 5, add, y.At());
        CHECK(SameBits(y.Get(), wanted));
      }
    }
  }
  Matrix table{Format::kInt8, nullptr, nullptr, 2, 2};
  CHECK_EQ(RefusalOf([&] { cuda->Gather(table, {nullptr, 1}, 1, false, nullptr); }),
           std::string("a table of 8 bits has no scales"));
  Signal values(*cuda, std::vector<float>(4, 1.0f)), y(*cuda, 2);
  Held<int32_t> beyond(*cuda, std::vector<int32_t>{2});
  cuda->Gather({Format::kF32, values.At(), nullptr, 2, 2}, {beyond.At(), 1}, 1, false, y.At());
  CHECK(std::isnan(y.Get()[1]));
}

// Three tables of different sizes for a row's three ids, as one grid where they are of one kind.
void RowsOfSeveralTablesAreSummedInTheirOrder() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const Format format : kFormats) {
    for (const size_t columns : {7, 40, 1048}) {
      std::vector<std::unique_ptr<StoredMatrix>> stored;
      std::vector<Held<uint8_t>> values;
      std::vector<Signal> scales;
      std::vector<Matrix> host, there;
      for (const size_t rows : {9, 5, 7}) {
        stored.push_back(MakeMatrix(format, rows, columns, rows));
        host.push_back(stored.back()->matrix);
        values.emplace_back(*cuda, host.back().Bytes());
        cuda->Upload(values.back().At(), host.back().values, host.back().Bytes());
        scales.emplace_back(*cuda, HasScales(format) ? stored.back()->bytes.scales : std::vector<float>(1));
        there.push_back(host.back());
        there.back().values = values.back().At();
        there.back().scales = HasScales(format) ? scales.back().At() : nullptr;
      }
      const std::vector<int32_t> ids = {8, 4, 6, -1, 0, -1, -1, -1, -1, 0, -1, 0};
      Held<int32_t> held(*cuda, ids);
      for (const bool add : {false, true}) {
        auto wanted = Wide(4 * columns, 9, 1);
        Signal y(*cuda, wanted);
        cuda->Wait();
        const uint64_t before = cuda->TheRecorder().Counters().nodes;
        cuda->GatherSum(there.data(), 3, {held.At(), 3}, 4, add, y.At());
        cuda->Wait();
        CHECK_EQ(cuda->TheRecorder().Counters().nodes, before + 1);
        cpu->GatherSum(host.data(), 3, {ids.data(), 3}, 4, add, wanted.data());
        CHECK(SameBits(y.Get(), wanted));
      }
    }
  }
}

void TheNearestRowsAreThoseOfTheCpu() {
  const auto cpu = MakeKernels();
  const auto cuda = MakeCudaKernels();
  for (const size_t columns : {1, 8, 50}) {
    auto rows = Wide(37 * columns, 10, 1);
    std::copy_n(rows.begin() + 5 * columns, columns, rows.begin() + 21 * columns);  // equals: the first
    std::copy_n(rows.begin() + 5 * columns, columns, rows.begin() + 6 * columns);
    auto x = Wide(6 * columns, 11, 1);
    std::copy_n(rows.begin() + 5 * columns, columns, x.begin());
    Signal table(*cuda, rows), held(*cuda, x);
    std::vector<int32_t> ids(6, -7), wanted(6);
    cuda->TakeNearest({Format::kF32, table.At(), nullptr, 37, columns}, held.At(), 6, ids.data());
    cpu->TakeNearest({Format::kF32, rows.data(), nullptr, 37, columns}, x.data(), 6, wanted.data());
    CHECK_EQ(ids[0], -7);
    CHECK(SameBits(held.Get(), x));  // waits
    CHECK(ids == wanted);
    CHECK_EQ(ids[0], 5);
  }
  CHECK_EQ(
      RefusalOf([&] { cuda->TakeNearest({Format::kBf16, nullptr, nullptr, 2, 2}, nullptr, 1, nullptr); }),
      std::string("a codebook is a table of f32"));
}

// Every order of blocks and threads gives the same bits.
void NothingDependsOnTheOrderOfThreads() {
  std::vector<float> first;
  for (const auto order : {cuda::emulator::Order::kForward, cuda::emulator::Order::kBackward,
                           cuda::emulator::Order::kShuffled}) {
    cuda::emulator::DeviceOptions device;
    device.rules.order = order;
    const auto cuda = MakeCudaKernels({}, device);
    Signal table(*cuda, Wide(37 * 50, 10, 1)), x(*cuda, Wide(6 * 50, 11, 1)), y(*cuda, 6 * 50);
    std::vector<int32_t> ids(6);
    cuda->TakeNearest({Format::kF32, table.At(), nullptr, 37, 50}, x.At(), 6, ids.data());
    cuda->Copy(y.At(), x.At(), 6 * 50 * sizeof(float));
    cuda->Copy(x.At(10), x.At(), 280 * sizeof(float));
    cuda->Activate(Activation::kTanh, x.At(), 300);
    cuda->Add(y.At(), x.At(), 300);
    const auto seen = y.Get();
    if (first.empty()) first = seen;
    CHECK(SameBits(seen, first));
  }
}

// --- norms, rotary positions and sums over time: as on the CPU, within the rounding of another order of sums

using cuda::Queue;
using cuda::emulator::Order;

constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kShuffled};

// Runs on the GPU in every order; each must give the CPU's values, y poisoned before.
void CheckBoth(size_t count, double bound, const std::function<void(SpeechKernels&, float*)>& cpu,
               const std::function<void(Queue&, float*)>& gpu, const std::vector<float>& before = {}) {
  std::vector<float> wanted = before.empty() ? std::vector<float>(count, NAN) : before;
  cpu(*MakeKernels(), wanted.data());
  for (const Order order : kOrders) {
    cuda::emulator::Immediate queue({order, 5});
    std::vector<float> seen = before.empty() ? std::vector<float>(count, NAN) : before;
    gpu(queue, seen.data());
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
      const double off = std::fabs(static_cast<double>(seen[i]) - wanted[i]);
      worst = std::isnan(seen[i]) ? INFINITY : std::fmax(worst, off);
    }
    CHECK(worst <= bound);
  }
}

void NormsAreTheCpus() {
  for (const size_t width : {1u, 7u, 20u, 64u, 130u, 1024u, 2048u, 2100u}) {
    for (const size_t rows : {1u, 5u, 9u}) {
      const auto x = RandomFloats(rows * width, width), w = RandomFloats(width, 2),
                 b = RandomFloats(width, 3);
      CheckBoth(
          x.size(), 4e-6,
          [&](SpeechKernels& k, float* y) { k.RmsNorm(x.data(), w.data(), rows, width, 1e-6f, y); },
          [&](Queue& q, float* y) {
            cuda::EnqueueNorm(q, x.data(), w.data(), nullptr, rows, width, 1e-6f, y);
          });
      CheckBoth(
          x.size(), 4e-6,
          [&](SpeechKernels& k, float* y) {
            k.LayerNorm(x.data(), w.data(), b.data(), rows, width, 1e-5f, y);
          },
          [&](Queue& q, float* y) {
            cuda::EnqueueNorm(q, x.data(), w.data(), b.data(), rows, width, 1e-5f, y);
          });
      CheckBoth(
          x.size(), 4e-6, [&](SpeechKernels& k, float* y) { k.RmsNorm(y, w.data(), rows, width, 1e-6f, y); },
          [&](Queue& q, float* y) { cuda::EnqueueNorm(q, y, w.data(), nullptr, rows, width, 1e-6f, y); }, x);
    }
  }
}

void ARowsNormIsTheSameAtAnyAddressAndInAnyBatch() {
  constexpr size_t kWidth = 132;
  const auto x = RandomFloats(11 * kWidth, 4), w = RandomFloats(kWidth, 5);
  std::vector<float> together(x.size()), shifted(x.size() + 1), alone(kWidth);
  std::copy(x.begin(), x.end(), shifted.begin() + 1);
  cuda::emulator::Immediate queue;
  cuda::EnqueueNorm(queue, x.data(), w.data(), nullptr, 11, kWidth, 1e-6f, together.data());
  cuda::EnqueueNorm(queue, x.data() + 3 * kWidth, w.data(), nullptr, 1, kWidth, 1e-6f, alone.data());
  CHECK(SameBits(alone, std::vector<float>(together.begin() + 3 * kWidth, together.begin() + 4 * kWidth)));
  cuda::EnqueueNorm(queue, shifted.data() + 1, w.data(), nullptr, 11, kWidth, 1e-6f, shifted.data() + 1);
  CHECK(SameBits(std::vector<float>(shifted.begin() + 1, shifted.end()), together));
  const auto b = RandomFloats(kWidth, 6);
  std::copy(x.begin(), x.end(), shifted.begin() + 1);
  cuda::EnqueueNorm(queue, x.data(), w.data(), b.data(), 11, kWidth, 1e-6f, together.data());
  cuda::EnqueueNorm(queue, shifted.data() + 1, w.data(), b.data(), 11, kWidth, 1e-6f, shifted.data() + 1);
  CHECK(SameBits(std::vector<float>(shifted.begin() + 1, shifted.end()), together));
}

void RotationIsTheCpus() {
  const std::vector<uint64_t> positions = {0, 1, 17, 2047, 10'000'019};
  for (const size_t dim : {2u, 20u, 128u}) {
    const auto x = RandomFloats(5 * 3 * dim, 8);
    std::vector<float> angles(5 * dim);
    MakeKernels()->Angles(positions.data(), 5, dim, 1e6, angles.data());
    CheckBoth(
        angles.size(), 1e-7, [&](SpeechKernels& k, float* y) { k.Angles(positions.data(), 5, dim, 1e6, y); },
        [&](Queue& q, float* y) { cuda::EnqueueAngles(q, positions.data(), 5, dim, 1e6, y); });
    CheckBoth(
        x.size(), 3e-7, [&](SpeechKernels& k, float* y) { k.Rotate(y, 5, 3, dim, angles.data()); },
        [&](Queue& q, float* y) { cuda::EnqueueRotate(q, y, 5, 3, dim, angles.data()); }, x);
  }
}

void SumsOverTimeAreTheCpus() {
  for (const size_t channels : {1u, 33u, 70u}) {
    for (const size_t rows : {1u, 9u, 50u}) {
      const size_t stride = channels + 3;
      const auto x = RandomFloats(rows * stride, 20), weights = RandomFloats(rows * stride, 21),
                 gain = RandomFloats(channels, 22);
      for (const float* w : {static_cast<const float*>(nullptr), weights.data()}) {
        CheckBoth(
            2 * channels, 1e-7,
            [&](SpeechKernels& k, float* y) {
              k.Statistics(x.data(), w, rows, channels, stride, 1e-6f, y, y + channels);
            },
            [&](Queue& q, float* y) {
              cuda::EnqueueStatistics(q, x.data(), w, rows, channels, stride, 1e-6f, y, y + channels);
            });
      }
      CheckBoth(
          x.size(), 1e-7, [&](SpeechKernels& k, float* y) { k.SoftmaxOverTime(y, rows, channels, stride); },
          [&](Queue& q, float* y) { cuda::EnqueueSoftmaxOverTime(q, y, rows, channels, stride); }, x);
      const auto y0 = RandomFloats(rows * channels, 23);
      CheckBoth(
          y0.size(), 0,
          [&](SpeechKernels& k, float* y) { k.AddScaled(y, x.data(), gain.data(), rows, channels); },
          [&](Queue& q, float* y) { cuda::EnqueueAddScaled(q, y, x.data(), gain.data(), rows, channels); },
          y0);
    }
  }
}

void AdaptiveNormsAreTheCpus() {
  for (const size_t width : {1u, 48u, 300u}) {
    for (const size_t rows : {1u, 7u}) {
      const size_t stride = 2 * width + 1;
      const auto x = RandomFloats(rows * width, 30), terms = RandomFloats(rows * stride, 31),
                 y0 = RandomFloats(rows * width, 32);
      const float *const shift = terms.data(), *const scale = shift + width;
      CheckBoth(
          y0.size(), 1e-7,
          [&](SpeechKernels& k, float* y) { k.Modulate(shift, scale, rows, width, stride, y); },
          [&](Queue& q, float* y) { cuda::EnqueueModulate(q, shift, scale, rows, width, stride, y); }, y0);
      CheckBoth(
          y0.size(), 1e-7,
          [&](SpeechKernels& k, float* y) { k.AddGated(x.data(), scale, rows, width, stride, y); },
          [&](Queue& q, float* y) { cuda::EnqueueAddGated(q, x.data(), scale, rows, width, stride, y); }, y0);
    }
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_elements) {
  using namespace parley::test;
  return Run({
      {"activations are those of the CPU", ActivationsAreThoseOfTheCpu},
      {"sums and limits are those of the CPU", SumsAndLimitsAreThoseOfTheCpu},
      {"snake has the bits of the CPU", SnakeHasTheBitsOfTheCpu},
      {"spread puts every stream in its place", SpreadPutsEveryStreamInItsPlace},
      {"many values are spread as few are", ManyValuesAreSpreadAsFewAre},
      {"columns and padding are those of the CPU", ColumnsAndPaddingAreThoseOfTheCpu},
      {"rows are gathered from tables of every format", RowsAreGatheredFromTablesOfEveryFormat},
      {"rows of several tables are summed in their order", RowsOfSeveralTablesAreSummedInTheirOrder},
      {"the nearest rows are those of the CPU", TheNearestRowsAreThoseOfTheCpu},
      {"nothing depends on the order of threads", NothingDependsOnTheOrderOfThreads},
      {"windows of planes are those of the CPU", WindowsOfPlanesAreThoseOfTheCpu},
      {"norms are the CPU's", NormsAreTheCpus},
      {"adaptive norms are the CPU's", AdaptiveNormsAreTheCpus},
      {"a row's norm is the same at any address and in any batch",
       ARowsNormIsTheSameAtAnyAddressAndInAnyBatch},
      {"rotation is the CPU's", RotationIsTheCpus},
      {"sums over time are the CPU's", SumsOverTimeAreTheCpus},
  });
}
