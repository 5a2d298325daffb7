// Memory of the CPU backend: zeroed, aligned, and taken from the machine only where it is touched.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "test/check.h"

// A sanitizer's allocator is to answer as the system's does.
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace parley::test {
namespace {

bool IsZero(const void* memory, size_t bytes) {
  const std::vector<char> zeros(bytes);
  return std::memcmp(memory, zeros.data(), bytes) == 0;
}

void MemoryIsZeroedAndAligned() {
  cpu::CpuKernels kernels(cpu::ThreadPoolOptions{});
  for (int round = 0; round < 3; round++) {  // later rounds reuse the freed memory
    std::vector<void*> pieces;
    for (const size_t bytes : {1, 63, 64, 65, 1000, 100'000, 3'000'000}) {
      void* const memory = kernels.Allocate(bytes);
      CHECK_EQ(reinterpret_cast<uintptr_t>(memory) % 64, uintptr_t{0});
      CHECK(IsZero(memory, bytes));
      std::memset(memory, 0xAB, bytes);
      pieces.push_back(memory);
    }
    for (void* const memory : pieces) kernels.Free(memory);
  }
  kernels.Free(kernels.Allocate(0));
  kernels.Free(nullptr);
}

void WhatCannotBeHadThrows() {
  cpu::CpuKernels kernels(cpu::ThreadPoolOptions{});
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 100, SIZE_MAX / 2}) {
    bool thrown = false;
    try {
      kernels.Free(kernels.Allocate(bytes));
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    CHECK(thrown);
  }
}

size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * 4096;
}

void WhatIsReservedAndNotTouchedCostsNothing() {
  cpu::CpuKernels kernels(cpu::ThreadPoolOptions{});
  constexpr size_t kReserved = size_t{256} << 20;
  const size_t before = ResidentBytes();
  void* const memory = kernels.Allocate(kReserved);
  static_cast<char*>(memory)[kReserved - 1] = 1;
  const size_t grown = ResidentBytes() - before;
  kernels.Free(memory);
  CHECK(before > 0);
  CHECK(grown < kReserved / 2);  // a sanitizer's notes about it take a part
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(kernels_memory) {
  using namespace parley::test;
  return Run({
      {"memory is zeroed and aligned", MemoryIsZeroedAndAligned},
      {"what cannot be had throws", WhatCannotBeHadThrows},
      {"what is reserved and not touched costs nothing", WhatIsReservedAndNotTouchedCostsNothing},
  });
}
