// A whole transformer as one grid that stays: the bits of its layers done piece by piece, on the emulated GPU (of one block) or,
// where PARLEY_CUDA_FILE names its backend, on a real one, where the sizes of the models are tried too.
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

void SamePiecesAndWhole(Kernels& kernels, const Sizes& sizes, bool has_norms, std::initializer_list<size_t> counts) {
  Layers layers(kernels, sizes, has_norms);
  for (const size_t streams : counts) {
    for (const size_t before : {size_t{0}, size_t{9}}) {
      const std::vector<float> pieces = layers.Run(streams, 1, before, false);
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));  // what was told before is still there
    }
  }
  CHECK(AreSame(layers.Run(1, 2, 0, true), layers.Run(1, 2, 0, false)));
}

constexpr Format kRunFormats[] = {Format::kBf16, Format::kInt8, Format::kFp8};

void WeightsOf8BitsGiveTheBitsOfTheirPieces() {
  const auto kernels = MakeBackend(false);
  for (const Format format : {Format::kInt8, Format::kFp8}) {
    SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 2, Format::kF32, format}, true, {1, 2, 3});
    SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 1, Format::kF32, format}, false, {2});
    if (CudaFile() == nullptr) continue;
    SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 3, Format::kBf16, format}, true, {1, 3});
    SamePiecesAndWhole(*kernels, {2048, 6144, 16, 8, 3, Format::kBf16, format}, true, {1, 2, 3});
  }
  if (CudaFile() != nullptr) SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 5, Format::kF32, Format::kInt8}, true, {1, 2, 3});
}

// On the emulator one block does it all, with as much memory as its sums take.
void LayersOfTheModelsSizesGiveTheBitsOfTheirPieces() {
  const auto kernels = MakeBackend(false, size_t{2} << 20);
  for (const Sizes& sizes : {Sizes{2048, 6144, 16, 8, 1, Format::kBf16, Format::kBf16}, Sizes{2048, 6144, 16, 8, 1, Format::kBf16, Format::kInt8},
                             Sizes{1024, 3072, 16, 8, 1, Format::kBf16, Format::kFp8}}) {
    Layers layers(*kernels, sizes, true);
    CHECK(AreSame(layers.Run(2, 1, 3, true), layers.Run(2, 1, 3, false)));
  }
}

// Whether the layers of `sizes` are still taken when the matrix of one is another.
bool TakesWith(Kernels& kernels, const Sizes& sizes, Matrix LayerWeights::*matrix, const Sizes& of_other) {
  Layers layers(kernels, sizes, true), others(kernels, of_other, true);
  layers.All().back().*matrix = others.All().back().*matrix;
  return layers.Takes(1, 0);
}

void LayersAreOfOneFormat() {
  const auto kernels = MakeBackend(false);
  const auto of = [](Format format) { return Sizes{256, 256, 2, 1, 2, Format::kF32, format}; };
  for (const Format format : kRunFormats) {
    for (const Format other : kRunFormats) {
      for (const auto matrix : {&LayerWeights::o, &LayerWeights::gate, &LayerWeights::up, &LayerWeights::down}) {
        CHECK(format == other || !TakesWith(*kernels, of(format), matrix, of(other)));
      }
    }
  }
  // A code predictor is never loaded in fp8.
  CHECK(!Layers(*kernels, {1024, 3072, 16, 8, 1, Format::kF32, Format::kFp8}, true).Takes(1, 0));
}

void WhatDoesNotFitIsLeftToTheGrids() {
  const auto kernels = MakeBackend(false);
  Layers layers(*kernels, {256, 256, 2, 1, 1, Format::kF32}, true);
  CHECK(!layers.Takes(4, 0));
  CHECK(!layers.Takes(1, 5000));
  CHECK(!Layers(*kernels, {256, 512, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
  CHECK(!Layers(*kernels, {256, 256, 2, 1, 1, Format::kF16}, true).Takes(1, 0));
  const auto full = MakeBackend(true);
  CHECK(!Layers(*full, {256, 256, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
}

void AWholeTransformerGivesTheBitsOfItsPieces() {
  const auto kernels = MakeBackend(false);
  SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 2, Format::kF32}, true, {1, 2, 3});
  SamePiecesAndWhole(*kernels, {256, 256, 2, 1, 1, Format::kF32}, false, {2});
  Layers near(*kernels, {256, 256, 2, 1, 1, Format::kF32}, true);
  CHECK(AreSame(near.Run(2, 1, 290, true), near.Run(2, 1, 290, false)));  // more than a chunk of positions
  if (CudaFile() == nullptr) return;
  SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 5, Format::kF32}, true, {1, 2, 3});
  SamePiecesAndWhole(*kernels, {1024, 3072, 16, 8, 3, Format::kBf16}, true, {1, 3});
  SamePiecesAndWhole(*kernels, {2048, 6144, 16, 8, 3, Format::kBf16}, true, {1, 2, 3});
  Layers far(*kernels, {2048, 6144, 16, 8, 2, Format::kBf16}, true);
  CHECK(AreSame(far.Run(1, 1, 290, true), far.Run(1, 1, 290, false)));
}

// The codec's transformer: layer scales, a window that rolls through its cache, on as many blocks as there are.
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
  return Run({{"a whole transformer gives the bits of its pieces", AWholeTransformerGivesTheBitsOfItsPieces},
              {"weights of 8 bits give the bits of their pieces", WeightsOf8BitsGiveTheBitsOfTheirPieces},
              {"layers of the models' sizes give the bits of their pieces", LayersOfTheModelsSizesGiveTheBitsOfTheirPieces},
              {"layers are of one format", LayersAreOfOneFormat},
              {"what does not fit is left to the grids", WhatDoesNotFitIsLeftToTheGrids},
              {"the codec's transformer gives the bits of its pieces", TheCodecsTransformerGivesTheBitsOfItsPieces},
              {"blocks that wait for each other may come in any order", BlocksMayComeInAnyOrder},
              {"what is no codec's transformer is left to the grids", WhatIsNoCodecsTransformerIsLeftToTheGrids}});
}
