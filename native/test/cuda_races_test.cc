// Race checks of the emulator under ThreadSanitizer; the test counts its reports. Each mistake in a kernel
// must give at least one, the same kernel without it none.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "check.h"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "test/emulator/emulator.h"

namespace parley::cuda {
namespace {

int reports = 0;

struct Values {
  float* x;
  float* y;
};

constexpr uint32_t kShared = 32768;  // bytes

// True if there was a report. ThreadSanitizer reports a race of two places in the code once: each kernel runs
// once.
template <auto kKernel>
bool IsReported(uint32_t threads, uint32_t blocks = 1) {
  alignas(16) float x[1024] = {}, y[1024] = {};
  const int before = reports;
  emulator::Immediate queue;
  queue.Launch<kKernel>({blocks, 1, 1, threads, kShared}, Values{x, y});
  return reports > before;
}

// That one thread arrives at, and all know of; `at` bytes of shared memory from the first.
Barrier* BarrierOfOne(uint32_t at) {
  auto* const barrier = reinterpret_cast<Barrier*>(SharedBytes() + at);
  if (threadIdx.x == 0) InitBarrier(barrier, 1);
  __syncthreads();
  return barrier;
}

template <bool kSynchronizes>
__global__ void ReadsWhatAnotherWrote(Values v) {
  auto* const shared = reinterpret_cast<float*>(SharedBytes());
  GridDependencyWait();
  shared[threadIdx.x] = v.x[threadIdx.x];
  if (kSynchronizes) __syncthreads();
  v.y[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
template <bool kSynchronizes>
__global__ void WritesWhatAnotherRead(Values v) {
  GridDependencyWait();
  v.y[threadIdx.x] = v.x[(threadIdx.x + 1) % blockDim.x];
  if (kSynchronizes) NamedBarrier<64, 2>();
  v.x[threadIdx.x] = 1;
}

void ABlockThatDoesNotMeetIsReported() {
  CHECK(IsReported<ReadsWhatAnotherWrote<false>>(64));
  CHECK(!IsReported<ReadsWhatAnotherWrote<true>>(64));
  CHECK(IsReported<WritesWhatAnotherRead<false>>(64));
  CHECK(!IsReported<WritesWhatAnotherRead<true>>(64));
}

template <bool kSynchronizes>
__global__ void WritesForItsWarp(Values v) {
  GridDependencyWait();
  v.x[threadIdx.x] = 2;
  if (kSynchronizes) __syncwarp();
  else __shfl_xor_sync(0xffffffffu, 1, 1);
  v.y[threadIdx.x] = v.x[threadIdx.x ^ 1];
}
template <bool kSays>
__global__ void WritesWhatWentIntoAShuffle(Values v) {
  GridDependencyWait();
  const float other = __shfl_xor_sync(0xffffffffu, v.x[threadIdx.x ^ 1], 1);
  if (kSays) LanesHaveLoaded();
  v.x[threadIdx.x] = other;
}

void AShuffleDoesNotOrder() {
  CHECK(IsReported<WritesForItsWarp<false>>(32));
  CHECK(!IsReported<WritesForItsWarp<true>>(32));
  CHECK(IsReported<WritesWhatWentIntoAShuffle<false>>(32));
  CHECK(!IsReported<WritesWhatWentIntoAShuffle<true>>(32));
}

// Thread 0 brings four floats by a copy of some kind.
template <bool kSynchronizes>
__global__ void ReadsACopy(Values v) {
  auto* const shared = reinterpret_cast<float*>(SharedBytes());
  GridDependencyWait();
  if (threadIdx.x == 0) CopyAsync16(shared, v.x, true);
  CommitCopies();
  AwaitCopies<0>();  // which is for the thread's own alone
  if (kSynchronizes) __syncthreads();
  v.y[threadIdx.x] = shared[threadIdx.x % 4];
}
template <bool kAwaits>
__global__ void ReadsABulkCopy(Values v) {
  auto* const shared = reinterpret_cast<float*>(SharedBytes());
  GridDependencyWait();
  Barrier* const barrier = BarrierOfOne(64);
  if (threadIdx.x == 0) {
    ArriveExpecting(barrier, 16);
    CopyBulk(shared, v.x, 16, barrier);
  }
  if (kAwaits || threadIdx.x == 0) AwaitPhase(barrier, 0);
  v.y[threadIdx.x] = shared[threadIdx.x % 4];
}

void ACopyThatIsNotAwaitedIsReported() {
  CHECK(IsReported<ReadsACopy<false>>(32));
  CHECK(!IsReported<ReadsACopy<true>>(32));
  CHECK(IsReported<ReadsABulkCopy<false>>(32));
  CHECK(!IsReported<ReadsABulkCopy<true>>(32));
}

// Thread 0 writes for those that wait at a barrier. It arrives before it has written, or after.
template <bool kBefore>
__global__ void WritesForThoseThatWait(Values v) {
  GridDependencyWait();
  Barrier* const barrier = BarrierOfOne(0);
  if (threadIdx.x == 0) {
    if (kBefore) Arrive(barrier);
    v.x[0] = 3;
    if (!kBefore) Arrive(barrier);
  }
  AwaitPhase(barrier, 0);
  v.y[threadIdx.x] = v.x[0];
}

void WhatFollowsAnArrivalIsNotOrderedByIt() {
  CHECK(IsReported<WritesForThoseThatWait<true>>(32));
  CHECK(!IsReported<WritesForThoseThatWait<false>>(32));
}

// A warpgroup multiplies tiles, and one of its threads says that they may be overwritten: when all products
// but the last kLeft are done.
template <int kLeft>
__global__ void OverwritesTiles(Values) {
  unsigned char* const tiles = SharedBytes();  // a: 64 rows, b: 8 rows, of 128 bytes
  GridDependencyWait();
  for (uint32_t i = threadIdx.x; i < 72 * 32; i += blockDim.x) reinterpret_cast<uint32_t*>(tiles)[i] = 0;
  FenceAsyncProxy();
  Barrier* const barrier = BarrierOfOne(16384);
  if (threadIdx.x < 128) {
    float d[1][4];
    FenceTiles();
    MmaTiles<128>(d, tiles, tiles + 64 * 128, 0, true);
    CommitTiles();
    AwaitTiles<kLeft>();
    if (threadIdx.x == 0) Arrive(barrier);
    AwaitTiles<0>();
  } else {
    AwaitPhase(barrier, 0);
    for (uint32_t i = threadIdx.x - 128; i < 64 * 32; i += 32) reinterpret_cast<uint32_t*>(tiles)[i] = 1;
  }
}

void ProductsThatAreUnderWayAreReported() {
  CHECK(IsReported<OverwritesTiles<1>>(160));
  CHECK(!IsReported<OverwritesTiles<0>>(160));
}

template <bool kSynchronizes>
__global__ void AllStoreTheSame(Values v) {
  GridDependencyWait();
  StoreSame(v.x, 5.0f);
  if (kSynchronizes) __syncthreads();
  v.y[threadIdx.x] = v.x[0];
}
__global__ void AllStoreWithoutSayingSo(Values v) {
  GridDependencyWait();
  v.x[0] = 5;
}
__global__ void AllStoreTheirOwn(Values v) {
  GridDependencyWait();
  StoreSame(v.x, static_cast<float>(threadIdx.x));
}

void StoresOfTheSameMustBeSo() {
  CHECK(IsReported<AllStoreTheSame<false>>(64));
  CHECK(!IsReported<AllStoreTheSame<true>>(64));
  CHECK(IsReported<AllStoreWithoutSayingSo>(64));
  std::string refused;
  try {
    IsReported<AllStoreTheirOwn>(64);
  } catch (const emulator::Refused& refusal) {
    refused = refusal.what();
  }
  CHECK_EQ(
      refused,
      std::string(
          "AllStoreTheirOwn: thread 1 stores another value than the others to where all store the same, block 0,0,0"));
}

template <bool kOrdered>
__global__ void CountsThoseThatWrote(Values v) {
  GridDependencyWait();
  auto* const count = reinterpret_cast<uint32_t*>(v.x);
  if (threadIdx.x > 0) v.y[threadIdx.x] = 1;
  const uint32_t before = kOrdered ? atomicAdd(count, 1u) : threadIdx.x;
  if (before == 31) v.y[0] = v.y[1] + v.y[2];
}

void AtomicsOrder() {
  CHECK(IsReported<CountsThoseThatWrote<false>>(32));
  CHECK(!IsReported<CountsThoseThatWrote<true>>(32));
}

}  // namespace
}  // namespace parley::cuda

extern "C" __attribute__((visibility("default"))) void __tsan_on_report(void*) { parley::cuda::reports++; }
namespace __tsan {
// Reports are wanted here: the exit code is main's.
__attribute__((visibility("default"))) bool OnFinalize(bool) { return false; }
}  // namespace __tsan

TEST_GROUP(cuda_races) {
  using namespace parley::cuda;
  if (!emulator::races::kAreChecked) {
    std::fprintf(stderr, "races are looked for under ThreadSanitizer alone\n");
    return 1;
  }
  return parley::test::Run({
      {"a block that does not meet is reported", ABlockThatDoesNotMeetIsReported},
      {"a shuffle does not order", AShuffleDoesNotOrder},
      {"a copy that is not awaited is reported", ACopyThatIsNotAwaitedIsReported},
      {"what follows an arrival is not ordered by it", WhatFollowsAnArrivalIsNotOrderedByIt},
      {"products that are under way are reported", ProductsThatAreUnderWayAreReported},
      {"stores of the same must be so", StoresOfTheSameMustBeSo},
      {"atomics order", AtomicsOrder},
  });
}
