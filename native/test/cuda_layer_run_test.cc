// A whole transformer as one grid that stays: the bits of its layers done piece by piece, on the emulated GPU (of one block) or,
// where PARLEY_CUDA_FILE names its backend, on a real one, where the sizes of the models are tried too.
#include <cstring>
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

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({{"a whole transformer gives the bits of its pieces", AWholeTransformerGivesTheBitsOfItsPieces},
              {"what does not fit is left to the grids", WhatDoesNotFitIsLeftToTheGrids}});
}
