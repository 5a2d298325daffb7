// Norms, rotary positions and sums over time on the emulated GPU: as on the CPU, within the rounding of a sum
// in another order.
#include <cmath>
#include <functional>
#include <vector>

#include "kernels/cuda/codec/statistics.cuh"
#include "kernels/cuda/norms.cuh"
#include "test/check.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using cuda::Queue;
using cuda::emulator::Order;

constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kShuffled};

// Runs on the GPU in every order; each must give the CPU's values, y poisoned before.
void CheckBoth(size_t count, double bound, const std::function<void(Kernels&, float*)>& cpu,
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
          x.size(), 4e-6, [&](Kernels& k, float* y) { k.RmsNorm(x.data(), w.data(), rows, width, 1e-6f, y); },
          [&](Queue& q, float* y) {
            cuda::EnqueueNorm(q, x.data(), w.data(), nullptr, rows, width, 1e-6f, y);
          });
      CheckBoth(
          x.size(), 4e-6,
          [&](Kernels& k, float* y) { k.LayerNorm(x.data(), w.data(), b.data(), rows, width, 1e-5f, y); },
          [&](Queue& q, float* y) {
            cuda::EnqueueNorm(q, x.data(), w.data(), b.data(), rows, width, 1e-5f, y);
          });
      CheckBoth(
          x.size(), 4e-6, [&](Kernels& k, float* y) { k.RmsNorm(y, w.data(), rows, width, 1e-6f, y); },
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
        angles.size(), 1e-7, [&](Kernels& k, float* y) { k.Angles(positions.data(), 5, dim, 1e6, y); },
        [&](Queue& q, float* y) { cuda::EnqueueAngles(q, positions.data(), 5, dim, 1e6, y); });
    CheckBoth(
        x.size(), 3e-7, [&](Kernels& k, float* y) { k.Rotate(y, 5, 3, dim, angles.data()); },
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
            [&](Kernels& k, float* y) {
              k.Statistics(x.data(), w, rows, channels, stride, 1e-6f, y, y + channels);
            },
            [&](Queue& q, float* y) {
              cuda::EnqueueStatistics(q, x.data(), w, rows, channels, stride, 1e-6f, y, y + channels);
            });
      }
      CheckBoth(
          x.size(), 1e-7, [&](Kernels& k, float* y) { k.SoftmaxOverTime(y, rows, channels, stride); },
          [&](Queue& q, float* y) { cuda::EnqueueSoftmaxOverTime(q, y, rows, channels, stride); }, x);
      const auto y0 = RandomFloats(rows * channels, 23);
      CheckBoth(
          y0.size(), 0, [&](Kernels& k, float* y) { k.AddScaled(y, x.data(), gain.data(), rows, channels); },
          [&](Queue& q, float* y) { cuda::EnqueueAddScaled(q, y, x.data(), gain.data(), rows, channels); },
          y0);
    }
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_norms) {
  using namespace parley::test;
  return Run({
      {"norms are the CPU's", NormsAreTheCpus},
      {"a row's norm is the same at any address and in any batch",
       ARowsNormIsTheSameAtAnyAddressAndInAnyBatch},
      {"rotation is the CPU's", RotationIsTheCpus},
      {"sums over time are the CPU's", SumsOverTimeAreTheCpus},
  });
}
