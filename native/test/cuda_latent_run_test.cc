// The codec's transformer as one grid that stays: the bits of its layers done piece by piece, on the emulated GPU, where its blocks wait for each
// other as on a real one, or, where PARLEY_CUDA_FILE names the backend, on that.
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "test/cuda_backend.h"
#include "test/random_layers.h"

namespace parley::test {
namespace {

bool AreSame(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Layer scales, a window that rolls through its cache, on as many blocks as there are.
void SameLatents(Layers* layers, const std::vector<Stand>& streams) {
  const std::vector<float> pieces = layers->Run(streams, false), whole = layers->Run(streams, true);
  CHECK(AreSame(whole, pieces));
  CHECK(!std::isnan(whole.front()) && !std::isnan(whole[511]));
}

std::unique_ptr<Kernels> MakeLatentBackend(cuda::emulator::Order order = cuda::emulator::Order::kForward) {
  if (CudaFile() != nullptr) return MakeBackend(false);
  cuda::emulator::DeviceOptions device;
  device.multiprocessors = 64;
  device.rules.order = order;
  return MakeCudaKernels({}, device);
}

void TheCodecsTransformerGivesTheBitsOfItsPieces() {
  const auto kernels = MakeLatentBackend();
  Layers layers(*kernels, LatentSizes(1), false), two(*kernels, LatentSizes(2), false);
  SameLatents(&layers, {{250, 3}});                    // a window of two chunks of positions
  SameLatents(&layers, {{10'000, 1}, {75, 1}, {0, 1}});  // far, where a window sees no more; where it leaves its first positions behind
  SameLatents(&two, {{79 * 4 - 2, 3}});                // the cache rolls over among the rows
  SameLatents(&layers, {{5, 2}, {300, 1}});
}

// Grids of other shapes, of one block on the emulator, share with them what is told.
void BlocksMayComeInAnyOrder() {
  for (const auto order : {cuda::emulator::Order::kBackward, cuda::emulator::Order::kShuffled}) {
    const auto kernels = MakeLatentBackend(order);
    Layers layers(*kernels, LatentSizes(1), false), tiny(*kernels, {256, 256, 2, 1, 2, Format::kF32}, true);
    SameLatents(&layers, {{100, 1}, {7, 1}});
    CHECK(AreSame(tiny.Run(2, 1, 9, true), tiny.Run(2, 1, 9, false)));
    SameLatents(&layers, {{400, 2}});
  }
}

void WhatIsNoCodecsTransformerIsLeftToTheGrids() {
  const auto kernels = MakeLatentBackend(), small = MakeBackend(false);
  CHECK(!Layers(*kernels, LatentSizes(1), false).Takes(4, 9));
  Sizes plain = LatentSizes(1);
  plain.scaled = false;
  CHECK(!Layers(*kernels, plain, false).Takes(1, 9));
  if (CudaFile() == nullptr) CHECK(!Layers(*small, LatentSizes(1), false).Takes(1, 9));  // few multiprocessors
}

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({{"the codec's transformer gives the bits of its pieces", TheCodecsTransformerGivesTheBitsOfItsPieces},
              {"blocks that wait for each other may come in any order", BlocksMayComeInAnyOrder},
              {"what is no codec's transformer is left to the grids", WhatIsNoCodecsTransformerIsLeftToTheGrids}});
}
