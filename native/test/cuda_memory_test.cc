// Checks memory of the CUDA backend: the order and the number of grids of its copies, and its memory pool.
#include <cstdint>
#include <map>
#include <new>
#include <numeric>
#include <vector>

#include "kernels/cuda/device/memory_pool.h"
#include "media/random.h"
#include "test/check.h"
#include "test/cuda_backend.h"

namespace parley::test {
namespace {

std::vector<uint8_t> Counted(size_t count, uint8_t first = 1) {
  std::vector<uint8_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

void MemoryIsZeroedAndAligned() {
  const auto kernels = MakeCudaKernels();
  for (const size_t count : {1, 1000, 300'000}) {
    Held<uint8_t> memory(*kernels, count);
    CHECK_EQ(reinterpret_cast<uintptr_t>(memory.At()) % 256, uintptr_t{0});
    CHECK(memory.Get() == std::vector<uint8_t>(count));
  }
  kernels->Free(nullptr);
}

void WhatGoesUpComesDown() {
  const auto kernels = MakeCudaKernels();
  for (const size_t count : {1, 3, 4, 16, 17, 5000, 262'143, 262'144, 700'001}) {
    Held<uint8_t> memory(*kernels, count);
    const auto values = Counted(count, static_cast<uint8_t>(count));
    memory.Set(values);
    CHECK(memory.Get() == values);
  }
}

void WhatLiesOnTheHostIsReadAtOnce() {
  const auto kernels = MakeCudaKernels();
  Held<uint8_t> memory(*kernels, 8);
  std::vector<uint8_t> values = Counted(8);
  memory.Set(values);
  values.assign(8, 0);
  CHECK(memory.Get() == Counted(8));
}

void ManySmallCopiesAreOneGrid() {
  const auto kernels = MakeCudaKernels();
  constexpr size_t kCount = 300;
  Held<uint8_t> from(*kernels, Counted(kCount * 7)), to(*kernels, kCount * 16);
  kernels->Wait();
  const uint64_t before = kernels->TheRecorder().Counters().nodes;
  for (size_t i = 0; i < kCount; i++) kernels->Copy(to.At(i * 16 + i % 3), from.At(i * 7), 1 + i % 7);
  kernels->Wait();
  CHECK_EQ(kernels->TheRecorder().Counters().nodes, before + 1);
  const auto seen = to.Get(), wanted = Counted(kCount * 7);
  for (size_t i = 0; i < kCount; i++) {
    for (size_t k = 0; k < 1 + i % 7; k++) CHECK_EQ(int{seen[i * 16 + i % 3 + k]}, int{wanted[i * 7 + k]});
    CHECK_EQ(int{seen[i * 16 + 15]}, 0);
  }
}

// Copies run in order: each reads what the previous one wrote, and nothing is overwritten before it was read.
void CopiesTakeEffectInTheirOrder() {
  const auto kernels = MakeCudaKernels();
  Held<uint8_t> a(*kernels, Counted(16)), b(*kernels, 16), c(*kernels, 16);
  kernels->Copy(b.At(), a.At(), 16);
  kernels->Copy(c.At(), b.At(), 16);
  kernels->Copy(a.At(), c.At(4), 8);
  kernels->Upload(b.At(), Counted(4, 100).data(), 4);
  kernels->Upload(b.At(), Counted(2, 200).data(), 2);
  CHECK(c.Get() == Counted(16));
  CHECK(a.Get() == std::vector<uint8_t>({5, 6, 7, 8, 9, 10, 11, 12, 9, 10, 11, 12, 13, 14, 15, 16}));
  CHECK(b.Get() == std::vector<uint8_t>({200, 201, 102, 103, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
}

void ACopyMayOverlapItself() {
  const auto kernels = MakeCudaKernels();
  for (const size_t count : {100, 3'000'000}) {
    for (const int64_t shift : {-40, 40}) {
      Held<uint8_t> memory(*kernels, Counted(count + 40));
      auto wanted = Counted(count + 40);
      const size_t from = shift < 0 ? 40 : 0, to = shift < 0 ? 0 : 40;
      kernels->Copy(memory.At(to), memory.At(from), count);
      std::memmove(wanted.data() + to, wanted.data() + from, count);
      CHECK(memory.Get() == wanted);
    }
  }
}

void AFrameOfCopiesIsAGraph() {
  const auto kernels = MakeCudaKernels();
  Held<uint8_t> memory(*kernels, 64);
  kernels->Wait();
  for (uint8_t i = 0; i < 4; i++) {
    kernels->Upload(memory.At(i), Counted(3 + i % 2, i).data(), 3u + i % 2);  // rooms of 16 bytes both
    std::vector<uint8_t> seen(4);
    kernels->Download(seen.data(), memory.At(i), 3);
    kernels->Wait();
    CHECK_EQ(int{seen[2]}, i + 2);
  }
  CHECK_EQ(kernels->TheRecorder().Counters().eager, 1u);
  CHECK_EQ(kernels->TheRecorder().Counters().launches, 3u);
}

void WhatCannotBeHadThrows() {
  cuda::emulator::DeviceOptions device;
  device.memory = 16 << 20;
  const auto kernels = MakeCudaKernels({}, device);
  bool thrown = false;
  try {
    kernels->Allocate(17 << 20);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
  Held<uint8_t> memory(*kernels, Counted(100));
  CHECK(memory.Get() == Counted(100));
}

// A part is cleared after the work of whoever had it before, which is still to be done.
void APoolGivesPartsOfOnePiece() {
  cuda::CudaOptions options;
  options.pool = 1 << 20;
  const auto kernels = MakeCudaKernels(options);
  CHECK_EQ(kernels->Figures().memory_free, size_t{1} << 20);
  Held<uint8_t> kept(*kernels, 600);
  void* before = kernels->Allocate(1000);
  kernels->Upload(before, Counted(1000).data(), 1000);
  kernels->Copy(kept.At(), before, 600);
  kernels->Free(before);
  Held<uint8_t> after(*kernels, 1000);
  CHECK(static_cast<void*>(after.At()) == before);
  CHECK(after.Get() == std::vector<uint8_t>(1000));
  CHECK(kept.Get() == Counted(600));
  CHECK_EQ(kernels->Figures().memory_in_use, size_t{768 + 1024});
  bool thrown = false;
  try {
    kernels->Allocate(1 << 20);
  } catch (const std::bad_alloc&) {
    thrown = true;
  }
  CHECK(thrown);
}

void ItSaysWhatItIs() {
  const auto kernels = MakeCudaKernels();
  CHECK_EQ(std::string(kernels->Name()), std::string("cuda emulated, 4 multiprocessors"));
  CHECK(!kernels->ReadsHostMemory());
  CHECK(!kernels->AnswersAtOnce());
}

// --- the memory pool: parts never overlap, and returned memory can be allocated again as a whole

using cuda::MemoryPool;

// Nothing is read or written there.
void* const kBase = reinterpret_cast<void*>(uintptr_t{1} << 40);

void PartsAreAlignedAndApart() {
  MemoryPool pool(kBase, 10'000);
  CHECK_EQ(pool.bytes(), size_t{9984});
  void* const a = pool.Take(1);
  void* const b = pool.Take(300);
  CHECK(a == kBase);
  CHECK(static_cast<char*>(b) - static_cast<char*>(a) == 256);
  CHECK_EQ(pool.InUse(), size_t{768});
  CHECK(pool.Take(9984) == nullptr);
  CHECK(pool.Take(SIZE_MAX) == nullptr);
  CHECK(pool.Take(9216) != nullptr);
  CHECK(pool.Take(0) == nullptr);
  CHECK_EQ(pool.LargestGap(), size_t{0});
}

void TheSmallestGapThatHoldsItIsTaken() {
  MemoryPool pool(kBase, 256 * 20);
  std::vector<void*> parts;
  for (const size_t blocks : {4, 1, 2, 1, 6, 1, 5}) parts.push_back(pool.Take(256 * blocks));
  CHECK(pool.Give(parts[0]));
  CHECK(pool.Give(parts[2]));
  CHECK(pool.Give(parts[4]));
  CHECK(pool.Take(512) == parts[2]);
  CHECK(pool.Take(256 * 3) == parts[0]);
}

void NeighboursThatAreGivenBackBecomeOne() {
  MemoryPool pool(kBase, 256 * 9);
  for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
    void* parts[3];
    for (void*& part : parts) part = pool.Take(256 * 3);
    for (const size_t n : order) CHECK(pool.Give(parts[n]));
    CHECK_EQ(pool.LargestGap(), size_t{256 * 9});
  }
}

void WhatIsNoPartIsRefused() {
  MemoryPool pool(kBase, 1 << 20);
  void* const part = pool.Take(1000);
  int elsewhere = 0;
  CHECK(!pool.Give(&elsewhere));
  CHECK(!pool.Give(static_cast<char*>(part) + 256));
  CHECK(pool.Give(part));
  CHECK(!pool.Give(part));
}

// Ten thousand streams that come and go.
void ManyComeAndGoWithoutGrowthOrOverlap() {
  Random random(3);
  MemoryPool pool(kBase, 1 << 28);
  std::map<char*, size_t> live;
  for (int turn = 0; turn < 20'000; turn++) {
    if (live.size() < 40 && random.Unit() < 0.6) {
      const auto bytes = static_cast<size_t>(1 + random.Unit() * 6e6);
      auto* const part = static_cast<char*>(pool.Take(bytes));
      if (part == nullptr) continue;
      const auto next = live.lower_bound(part);
      if (next != live.end()) CHECK(part + bytes <= next->first);
      if (next != live.begin()) CHECK(std::prev(next)->first + std::prev(next)->second <= part);
      live[part] = bytes;
    } else if (!live.empty()) {
      auto one = live.begin();
      std::advance(one, static_cast<long>(random.Unit() * static_cast<double>(live.size())));
      CHECK(pool.Give(one->first));
      live.erase(one);
    }
  }
  for (const auto& [part, bytes] : live) CHECK(pool.Give(part));
  CHECK_EQ(pool.InUse(), size_t{0});
  CHECK_EQ(pool.LargestGap(), pool.bytes());
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_memory) {
  using namespace parley::test;
  return Run({
      {"memory is zeroed and aligned", MemoryIsZeroedAndAligned},
      {"what goes up comes down", WhatGoesUpComesDown},
      {"what lies on the host is read at once", WhatLiesOnTheHostIsReadAtOnce},
      {"many small copies are one grid", ManySmallCopiesAreOneGrid},
      {"copies take effect in their order", CopiesTakeEffectInTheirOrder},
      {"a copy may overlap itself", ACopyMayOverlapItself},
      {"a frame of copies is a graph", AFrameOfCopiesIsAGraph},
      {"what cannot be had throws", WhatCannotBeHadThrows},
      {"a pool gives parts of one piece", APoolGivesPartsOfOnePiece},
      {"it says what it is", ItSaysWhatItIs},
      {"parts are aligned and apart", PartsAreAlignedAndApart},
      {"the smallest gap that holds it is taken", TheSmallestGapThatHoldsItIsTaken},
      {"neighbours that are given back become one", NeighboursThatAreGivenBackBecomeOne},
      {"what is no part is refused", WhatIsNoPartIsRefused},
      {"many come and go without growth or overlap", ManyComeAndGoWithoutGrowthOrOverlap},
  });
}
