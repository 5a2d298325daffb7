// A whole transformer as one grid that stays: the bits of its layers done piece by piece, on the emulated GPU
// (of one block, or of as many as a real one has) or, where PARLEY_CUDA_FILE names its backend, on a real
// one, where the sizes of the models are tried too.
#include <cstring>
#include <vector>

#include "test/cuda_backend.h"
#include "test/emulator/race_check.h"
#include "test/random_layers.h"

namespace parley::test {
namespace {

bool AreSame(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void SamePiecesAndWhole(Kernels& kernels, const Sizes& sizes, bool has_norms,
                        std::initializer_list<size_t> counts) {
  Layers layers(kernels, sizes, has_norms);
  for (const size_t streams : counts) {
    for (const size_t before : {size_t{0}, size_t{9}}) {
      const std::vector<float> pieces = layers.Run(streams, 1, before, false);
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));
      CHECK(AreSame(layers.Run(streams, 1, before, true), pieces));  // with the first run's tagged words
    }
  }
  CHECK(AreSame(layers.Run(1, 2, 0, true), layers.Run(1, 2, 0, false)));
}

// On the emulator one block does it all, with as much memory as its sums take.
void LayersOfTheModelsSizesGiveTheBitsOfTheirPieces() {
  const auto kernels = MakeBackend(false, size_t{2} << 20);
  for (const size_t hidden : {1024, 2048}) {
    Layers layers(*kernels, {hidden, 3 * hidden, 16, 8, 1, Format::kBf16}, true);
    CHECK(AreSame(layers.Run(2, 1, 3, true), layers.Run(2, 1, 3, false)));
  }
}

// Whether the layers of `sizes` are still taken when the matrix of one is another.
bool TakesWith(Kernels& kernels, const Sizes& sizes, Matrix LayerWeights::* matrix, const Sizes& of_other) {
  Layers layers(kernels, sizes, true), others(kernels, of_other, true);
  layers.All().back().*matrix = others.All().back().*matrix;
  return layers.Takes(1, 0);
}

// Weights of 8 bits are multiplied grid by grid.
void LayersAreOfBf16() {
  const auto kernels = MakeBackend(false);
  const auto of = [](Format format) { return Sizes{256, 256, 2, 1, 2, Format::kF32, format}; };
  for (const Format other : {Format::kInt8, Format::kFp8}) {
    CHECK(!Layers(*kernels, of(other), true).Takes(1, 0));
    CHECK(!Layers(*kernels, {1024, 3072, 16, 8, 1, Format::kBf16, other}, true).Takes(1, 0));
    for (const auto matrix :
         {&LayerWeights::o, &LayerWeights::gate, &LayerWeights::up, &LayerWeights::down}) {
      CHECK(!TakesWith(*kernels, of(Format::kBf16), matrix, of(other)));
    }
  }
  for (const auto matrix : {&HeadProjections::q, &HeadProjections::k, &HeadProjections::v}) {
    Layers layers(*kernels, of(Format::kBf16), true), others(*kernels, of(Format::kInt8), true);
    layers.All().back().heads.*matrix = others.All().back().heads.*matrix;
    CHECK(!layers.Takes(1, 0));
  }
}

void WhatDoesNotFitIsLeftToTheGrids() {
  const auto kernels = MakeBackend(false);
  Layers layers(*kernels, {256, 256, 2, 1, 1, Format::kF32}, true);
  CHECK(!layers.Takes(4, 0));
  CHECK(!layers.Takes(1, 5000));
  CHECK(!Layers(*kernels, {256, 512, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
  CHECK(!Layers(*kernels, {256, 256, 2, 1, 1, Format::kF16}, true).Takes(1, 0));
  layers.All().back().mlp_scale = layers.Weight(256);  // as the codec's have
  CHECK(!layers.Takes(1, 0));
  const auto full = MakeBackend(true);
  CHECK(!Layers(*full, {256, 256, 2, 1, 1, Format::kF32}, true).Takes(1, 0));
}

// Nearly as many blocks as a real GPU has, which wait for each other; some have no rows in some steps. Each
// of their threads takes two of the 65,530 memory maps that Linux gives a process by default.
void BlocksMayComeInAnyOrder() {
  if (CudaFile() != nullptr || cuda::emulator::races::kAreChecked)
    return;  // ThreadSanitizer does not tell so many threads apart
  for (const auto order : {cuda::emulator::Order::kForward, cuda::emulator::Order::kBackward,
                           cuda::emulator::Order::kShuffled}) {
    cuda::emulator::DeviceOptions device;
    device.multiprocessors = 96;
    device.rules.order = order;
    const auto kernels = MakeCudaKernels({}, device);
    Layers layers(*kernels, {256, 256, 2, 1, 2, Format::kF32}, true);
    for (const size_t rows : {size_t{2}, size_t{3}})
      CHECK(AreSame(layers.Run(rows, 1, 9, true), layers.Run(rows, 1, 9, false)));
  }
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

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_layer_run) {
  using namespace parley::test;
  return Run({{"a whole transformer gives the bits of its pieces", AWholeTransformerGivesTheBitsOfItsPieces},
              {"layers of the models' sizes give the bits of their pieces",
               LayersOfTheModelsSizesGiveTheBitsOfTheirPieces},
              {"blocks that wait for each other may come in any order", BlocksMayComeInAnyOrder},
              {"layers are of bf16", LayersAreOfBf16},
              {"what does not fit is left to the grids", WhatDoesNotFitIsLeftToTheGrids}});
}
