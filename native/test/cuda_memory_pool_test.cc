// Parts of one piece of memory: none overlap, and what was given back can be had again as a whole.
#include "kernels/cuda/device/memory_pool.h"

#include <cstdint>
#include <map>
#include <vector>

#include "media/random.h"
#include "test/check.h"

namespace parley::test {
namespace {

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

TEST_GROUP(cuda_memory_pool) {
  using namespace parley::test;
  return Run({
      {"parts are aligned and apart", PartsAreAlignedAndApart},
      {"the smallest gap that holds it is taken", TheSmallestGapThatHoldsItIsTaken},
      {"neighbours that are given back become one", NeighboursThatAreGivenBackBecomeOne},
      {"what is no part is refused", WhatIsNoPartIsRefused},
      {"many come and go without growth or overlap", ManyComeAndGoWithoutGrowthOrOverlap},
  });
}
