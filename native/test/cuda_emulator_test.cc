// The emulator of GPUs: what meets, in which order, and what it refuses.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/tile_intrinsics.h"
#include "test/emulator/emulator.h"

namespace parley::cuda {
namespace {

using emulator::Order;

constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kShuffled};

struct Values {
  const float* x;
  float* y;
  size_t count;
};

template <auto kKernel, class Args>
void RunOnce(const Args& args, const Grid& grid, Order order = Order::kForward, uint64_t seed = 1) {
  emulator::Immediate queue({order, seed});
  queue.Launch<kKernel>(grid, args);
}

template <auto kKernel, class Args>
std::string RefusedAs(const Args& args, const Grid& grid) {
  try {
    RunOnce<kKernel>(args, grid);
  } catch (const emulator::Refused& refusal) {
    return refusal.what();
  }
  return "";
}

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// y[block] = sum of a block's x: by shuffles, then through shared memory.
__global__ void SumBlocks(Values v) {
  __shared__ float sums[32];
  GridDependencyWait();
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float sum = i < v.count ? v.x[i] : 0;
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lanes);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float total = 0;
  for (unsigned w = 0; w < blockDim.x / 32; w++) total += sums[w];
  v.y[blockIdx.x] = total;
}

void ABlockSumsInEveryOrder() {
  std::vector<float> x(1000);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
  for (const Order order : kOrders) {
    std::vector<float> y(4, NAN);
    RunOnce<SumBlocks>(Values{x.data(), y.data(), x.size()}, {4, 1, 1, 256, 0}, order);
    for (size_t b = 0; b < 4; b++) {
      float wanted = 0;
      for (size_t i = b * 256; i < std::min<size_t>(1000, b * 256 + 256); i++)
        wanted += static_cast<float>(i);
      CHECK_EQ(y[b], wanted);
    }
  }
}

// y = x of the block the other way round; without the barrier that it needs unless kBarrier.
template <bool kBarrier>
__global__ void Reverse(Values v) {
  auto* shared = reinterpret_cast<float*>(SharedBytes());
  GridDependencyWait();
  shared[threadIdx.x] = v.x[threadIdx.x];
  if (kBarrier) __syncthreads();
  v.y[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

template <auto kKernel>
bool Reverses(Order order) {
  std::vector<float> x(128), y(128, NAN);
  for (size_t i = 0; i < x.size(); i++) x[i] = static_cast<float>(i);
  RunOnce<kKernel>(Values{x.data(), y.data(), x.size()}, {1, 1, 1, 128, 512}, order);
  for (size_t i = 0; i < x.size(); i++) {
    if (y[i] != x[127 - i]) return false;
  }
  return true;
}

void AMissingBarrierShows() {
  for (const Order order : kOrders) {
    CHECK(Reverses<Reverse<true>>(order));
    if (!emulator::races::kAreChecked) CHECK(!Reverses<Reverse<false>>(order));  // see cuda_races_test.cc
  }
}

__global__ void HalfAtTheBarrier(Values v) {
  GridDependencyWait();
  if (threadIdx.x < 40) __syncthreads();
  else __shfl_xor_sync(0xffffffff, v.count, 1);
}
__global__ void LaneThatEnds(Values) {
  GridDependencyWait();
  if (threadIdx.x % 32 == 7) return;
  __syncwarp();
}
__global__ void LaneOutsideItsMask(Values) {
  GridDependencyWait();
  __syncwarp(0xffff);
}
__global__ void WithoutInputs(Values) {}
__global__ void ReadsBeyondItsMask(Values v) {
  GridDependencyWait();
  const uint32_t half = threadIdx.x < 16 ? 0xffff : 0xffff0000;
  v.y[threadIdx.x] = __shfl_xor_sync(half, 1.0f, 16);
}

void MismatchesAreReportedWithTheKernel() {
  const Values none{};
  std::string text = RefusedAs<HalfAtTheBarrier>(none, {1, 1, 1, 64, 0});
  CHECK(Has(text, "HalfAtTheBarrier"));
  CHECK(Has(text, "of 64 threads that have not ended, 24 wait at __shfl_xor_sync, 40 wait at __syncthreads"));
  text = RefusedAs<LaneThatEnds>(none, {1, 1, 1, 32, 0});
  CHECK(Has(text, "LaneThatEnds: thread 7 ends while its warp waits for it"));
  CHECK(Has(RefusedAs<LaneOutsideItsMask>(none, {1, 1, 1, 32, 0}),
            "thread 16 is not in the mask of its __syncwarp"));
  CHECK(Has(RefusedAs<WithoutInputs>(none, {1, 1, 1, 32, 0}),
            "WithoutInputs: thread 0 ends without GridDependencyWait()"));
  CHECK(Has(RefusedAs<ReadsBeyondItsMask>(none, {1, 1, 1, 32, 0}),
            "a shuffle reads a lane that is not in its mask"));
  CHECK(Has(RefusedAs<WithoutInputs>(none, {1, 1, 1, 2048, 0}), "a block of 2048 threads"));
  CHECK(Has(RefusedAs<WithoutInputs>(none, {1, 1, 1, 32, 300000}), "300000 bytes of shared memory"));
  CHECK(Reverses<Reverse<true>>(Order::kForward));  // nothing is left of those that were given up
}

__global__ void Poisoned(Values v) {
  GridDependencyWait();
  const auto* shared = reinterpret_cast<const uint32_t*>(SharedBytes());
  v.y[blockIdx.x] = shared[threadIdx.x] == 0xffffffff ? 1.0f : 0.0f;
  reinterpret_cast<uint32_t*>(SharedBytes())[threadIdx.x] = 0;
}

void SharedMemoryIsPoisonedBeforeEveryBlock() {
  std::vector<float> y(3);
  RunOnce<Poisoned>(Values{nullptr, y.data(), 0}, {3, 1, 1, 1, 4});
  for (const float one : y) CHECK_EQ(one, 1.0f);
}

// Votes and masks of half a warp each.
__global__ void Votes(Values v) {
  GridDependencyWait();
  const uint32_t lane = threadIdx.x, half = lane < 16 ? 0xffff : 0xffff0000;
  const uint32_t ballot = __ballot_sync(half, lane % 3 == 0);
  const int any = __any_sync(half, lane == 20), all = __all_sync(half, lane < 16);
  const float down = __shfl_down_sync(half, static_cast<float>(lane), 3, 16);
  const int count = __syncthreads_count(lane % 2);
  v.y[lane] = static_cast<float>(ballot % 65536 + ballot / 65536) + 0.25f * static_cast<float>(any) +
              0.5f * static_cast<float>(all);
  v.y[32 + lane] = down;
  v.y[64 + lane] = static_cast<float>(count);
}

void WarpsVoteByTheirMasks() {
  uint32_t low = 0, high = 0;
  for (uint32_t l = 0; l < 16; l++) {
    low |= (l % 3 == 0) << l;
    high |= ((l + 16) % 3 == 0) << l;
  }
  for (const Order order : kOrders) {
    std::vector<float> y(96, NAN);
    RunOnce<Votes>(Values{nullptr, y.data(), 0}, {1, 1, 1, 32, 0}, order);
    for (uint32_t l = 0; l < 32; l++) {
      CHECK_EQ(y[l], l < 16 ? static_cast<float>(low) + 0.5f : static_cast<float>(high) + 0.25f);
      CHECK_EQ(y[32 + l], static_cast<float>(l % 16 + 3 < 16 ? l + 3 : l));
      CHECK_EQ(y[64 + l], 16.0f);
    }
  }
}

struct Tile {
  const uint16_t* a;  // [16, 16]
  const uint16_t* b;  // [16, 8]
  float* d;           // [16, 8]
};

__global__ void MultiplyTile(Tile tile) {
  GridDependencyWait();
  const uint32_t g = threadIdx.x / 4, t = threadIdx.x % 4;
  const auto pair = [](uint16_t low, uint16_t high) { return low | static_cast<uint32_t>(high) << 16; };
  uint32_t a[4], b[2];
  for (uint32_t i = 0; i < 4; i++) {
    const uint16_t* at = tile.a + (g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8;
    a[i] = pair(at[0], at[1]);
  }
  for (uint32_t i = 0; i < 2; i++) {
    const uint16_t* at = tile.b + (2 * t + i * 8) * 8 + g;
    b[i] = pair(at[0], at[8]);
  }
  float d[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  Mma(d, a, b);
  for (uint32_t i = 0; i < 4; i++) tile.d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = d[i];
}

void AProductOfTilesIsThatOfMatrices() {
  std::vector<uint16_t> a(256), b(128);
  for (size_t i = 0; i < a.size(); i++) a[i] = ToBf16(static_cast<float>(i * 7 % 31) - 15.0f).bits;
  for (size_t i = 0; i < b.size(); i++) b[i] = ToBf16(static_cast<float>(i * 5 % 23) - 11.0f).bits;
  std::vector<float> d(128, NAN);
  RunOnce<MultiplyTile>(Tile{a.data(), b.data(), d.data()}, {1, 1, 1, 32, 0}, Order::kShuffled);
  for (size_t r = 0; r < 16; r++) {
    for (size_t c = 0; c < 8; c++) {
      float sum = 0.5f;
      for (size_t k = 0; k < 16; k++) sum += ToFloat(Bf16{a[r * 16 + k]}) * ToFloat(Bf16{b[k * 8 + c]});
      CHECK_EQ(d[r * 8 + c], sum);
    }
  }
}

// Two groups of copies; what is read before its group was waited for is still poison.
__global__ void CopiesGroups(Values v) {
  GridDependencyWait();
  auto* shared = reinterpret_cast<float*>(SharedBytes());
  CopyAsync16(shared, v.x, true);
  CommitCopies();
  CopyAsync16(shared + 4, v.x + 4, false);
  CommitCopies();
  v.y[0] = shared[0];
  AwaitCopies<1>();
  v.y[1] = shared[0];
  v.y[2] = shared[4];
  AwaitCopies<0>();
  v.y[3] = shared[4];
}

void CopiesAreThereWhenTheyWereWaitedFor() {
  alignas(16) const float x[8] = {5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<float> y(4, 1);
  RunOnce<CopiesGroups>(Values{x, y.data(), 0}, {1, 1, 1, 1, 32});
  CHECK(std::isnan(y[0]));
  CHECK_EQ(y[1], 5.0f);
  CHECK(std::isnan(y[2]));
  CHECK_EQ(y[3], 0.0f);
}

struct TileOfMemory {
  TileMap map;
  float* y;
};

// Two rows of 64, of which the second lies beyond the extents; what is read before its barrier is still
// poison.
__global__ void CopiesATile(TileOfMemory of) {
  GridDependencyWait();
  auto* const tile = SharedBytes();
  auto* const barrier = reinterpret_cast<Barrier*>(tile + 1024);
  const auto value = [&](uint32_t byte) { return UnpackBf16(*reinterpret_cast<uint32_t*>(tile + byte)).x; };
  InitBarrier(barrier, 1);
  ArriveExpecting(barrier, 256);
  CopyTile(tile, of.map, 0, 0, 0, 0, barrier);
  of.y[0] = value(0);
  AwaitPhase(barrier, 0);
  of.y[1] = value(0);
  of.y[2] = value(16);        // the second piece of the first row
  of.y[3] = value(128 + 16);  // the first piece of the second row: pieces change places from row to row
}

void TilesAreThereWhenTheirBarrierSaysSo() {
  alignas(16) Bf16 values[64];
  for (size_t i = 0; i < 64; i++) values[i] = ToBf16(static_cast<float>(i) + 1);
  std::vector<float> y(4, 1);
  RunOnce<CopiesATile>(
      TileOfMemory{TileMapOf({values, {64, 1, 1, 1}, {128, 128, 128}, {64, 1, 2, 1}}), y.data()},
      {1, 1, 1, 1, 2048});
  CHECK(std::isnan(y[0]));
  CHECK_EQ(y[1], 1.0f);
  CHECK_EQ(y[2], 9.0f);
  CHECK_EQ(y[3], 0.0f);
}

// One side waits for what the other does not bring: one arrival of two, or bytes that nobody copies.
__global__ void WaitsForNobody(Values v) {
  GridDependencyWait();
  auto* const barrier = reinterpret_cast<Barrier*>(SharedBytes());
  if (threadIdx.x == 0) InitBarrier(barrier, v.count == 0 ? 2 : 1);
  __syncthreads();
  if (threadIdx.x == 0) v.count == 0 ? Arrive(barrier) : ArriveExpecting(barrier, 16);
  if (threadIdx.x < 2) AwaitPhase(barrier, 0);
  else if (threadIdx.x == 2) AwaitPhaseOrTrap(barrier, 0);
}

void ABarrierWhereNobodyArrivesIsRefused() {
  for (const size_t bytes : {0, 16}) {
    const std::string text = RefusedAs<WaitsForNobody>(Values{nullptr, nullptr, bytes}, {1, 1, 1, 32, 16});
    CHECK_EQ(
        text,
        std::string("WaitsForNobody: of 3 threads that have not ended, 3 wait at AwaitPhase, block 0,0,0"));
  }
}

struct Clustered {
  static constexpr uint32_t kCluster = 4;
  float* y;
};

// Every block reads what the next one of its cluster wrote.
__global__ void ReadsItsPeer(Clustered of) {
  GridDependencyWait();
  auto* const mine = reinterpret_cast<float*>(SharedBytes());
  if (threadIdx.x < 4) mine[threadIdx.x] = static_cast<float>(blockIdx.x);
  ClusterBarrier();
  if (threadIdx.x == 0) of.y[blockIdx.x] = LoadOfPeer(mine, (blockIdx.x + 1) % Clustered::kCluster).x;
}

void BlocksOfAClusterReadEachOther() {
  for (const Order order : {Order::kForward, Order::kBackward, Order::kShuffled}) {
    std::vector<float> y(8, NAN);
    RunOnce<ReadsItsPeer>(Clustered{y.data()}, {8, 1, 1, 32, 16}, order);
    CHECK(y == std::vector<float>({1, 2, 3, 0, 5, 6, 7, 4}));
  }
}

__global__ void ReturnsAtOnce(Values v) {
  GridDependencyWait();
  if (size_t{blockIdx.x} * blockDim.x + threadIdx.x >= v.count) return;
  v.y[0] = 1;
}

void ThreadsThatReturnAtOnceAreCheap() {
  std::vector<float> y(1);
  RunOnce<ReturnsAtOnce>(Values{nullptr, y.data(), 1}, {20000, 1, 1, 256, 0});  // five million
  CHECK_EQ(y[0], 1.0f);
}

void DataIsPoisonedBeyondItsCount() {
  emulator::Immediate queue;
  const uint32_t values[3] = {1, 2, 3};
  const uint32_t* data = queue.Data(values, 3, 4);
  CHECK(std::memcmp(data, values, sizeof values) == 0);
  CHECK_EQ(data[3], 0xffffffffu);
  CHECK_EQ(reinterpret_cast<uintptr_t>(data) % 16, 0u);
}

void NumbersKeepTheirFormats() {
  CHECK_EQ(PackBf16(1.0f, -2.0f), 0xc0003f80u);
  CHECK_EQ(PackF16(1.0f, -2.0f), 0xc0003c00u);
  const float2 pair = UnpackBf16(PackBf16(1.00390625f, 1.01171875f));  // halfway: to the even one
  CHECK_EQ(pair.x, 1.0f);
  CHECK_EQ(pair.y, 1.015625f);
  CHECK_EQ(UnpackF16(0x00013c00).y, 5.9604644775390625e-8f);
}

}  // namespace
}  // namespace parley::cuda

TEST_GROUP(cuda_emulator) {
  using namespace parley::cuda;
  return parley::test::Run({
      {"a block sums in every order", ABlockSumsInEveryOrder},
      {"a missing barrier shows", AMissingBarrierShows},
      {"mismatches are reported with the kernel", MismatchesAreReportedWithTheKernel},
      {"shared memory is poisoned before every block", SharedMemoryIsPoisonedBeforeEveryBlock},
      {"warps vote by their masks", WarpsVoteByTheirMasks},
      {"a product of tiles is that of matrices", AProductOfTilesIsThatOfMatrices},
      {"copies are there when they were waited for", CopiesAreThereWhenTheyWereWaitedFor},
      {"tiles are there when their barrier says so", TilesAreThereWhenTheirBarrierSaysSo},
      {"a barrier where nobody arrives is refused", ABarrierWhereNobodyArrivesIsRefused},
      {"blocks of a cluster read each other", BlocksOfAClusterReadEachOther},
      {"threads that return at once are cheap", ThreadsThatReturnAtOnceAreCheap},
      {"data is poisoned beyond its count", DataIsPoisonedBeyondItsCount},
      {"numbers keep their formats", NumbersKeepTheirFormats},
  });
}
