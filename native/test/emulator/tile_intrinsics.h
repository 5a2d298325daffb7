// See kernels/cuda/products/tile_intrinsics.h: the words of products of tiles, for the host's compiler.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_TILE_WORDS_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_TILE_WORDS_H_

#include <cstdint>

#include "kernels/cuda/products/tile_map.h"
#include "test/emulator/intrinsics.h"
#include "test/emulator/race_check.h"

#define PARLEY_CLUSTER(blocks)

namespace parley::cuda {

constexpr bool kHasTiles = true;

struct Barrier {
  uint32_t arrivals : 15, pending : 16, parity : 1;  // parity of the phase that is under way
  int32_t bytes;                                     // that are still expected of it
};
static_assert(sizeof(Barrier) == 8);

void InitBarrier(Barrier* barrier, uint32_t arrivals);
inline void FenceBarriers() {}
void Arrive(Barrier* barrier);
inline void ArriveIf(Barrier* barrier, bool does) {
  if (does) Arrive(barrier);
}
void ArriveExpecting(Barrier* barrier, uint32_t bytes);
void AwaitPhase(Barrier* barrier, uint32_t parity);
inline void AwaitPhaseOrTrap(Barrier* barrier, uint32_t parity) { AwaitPhase(barrier, parity); }
// The emulator makes both as late as it may: when a thread waits for them.
void CopyTile(void* to, const TileMap& map, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3,
              Barrier* barrier);
void CopyBulk(void* to, const void* from, uint32_t bytes, Barrier* barrier);

// A lane's operands of a tile product whose rows have `row` bytes: d [octets][4].
struct TileProduct {
  float* d;
  const uint32_t* held;        // its four registers of a, or none: then a is a tile
  const unsigned char *a, *b;  // a: the warp's 16 rows; b: all octets
  uint32_t octets, row, step;
};
void TileCollective(TileProduct* mine);
// To race checks a lane reads its share of what its warp does.
inline void ReadsOfLane(const unsigned char* from, uint32_t bytes) {
  emulator::races::Reads(from + threadIdx.x % 32 * (bytes / 32), bytes / 32);
}

template <uint32_t kRow, int kOctets>
void MmaTiles(float (&d)[kOctets][4], const unsigned char* a, const unsigned char* b, uint32_t step,
              bool from_zero) {
  for (int n = 0; from_zero && n < kOctets; n++) d[n][0] = d[n][1] = d[n][2] = d[n][3] = 0;
  TileProduct mine{d[0], nullptr, a + threadIdx.x / 32 % 4 * 16 * kRow, b, kOctets, kRow, step};
  ReadsOfLane(mine.a, 16 * kRow);
  ReadsOfLane(b, kOctets * 8 * kRow);
  TileCollective(&mine);
}
template <uint32_t kRow, int kOctets>
void MmaRows(float (&d)[kOctets][4], const uint32_t (&a)[4], const unsigned char* b, uint32_t step,
             bool from_zero) {
  for (int n = 0; from_zero && n < kOctets; n++) d[n][0] = d[n][1] = d[n][2] = d[n][3] = 0;
  TileProduct mine{d[0], a, nullptr, b, kOctets, kRow, step};
  ReadsOfLane(b, kOctets * 8 * kRow);
  TileCollective(&mine);
}
uint32_t SharedPlace(const void* at);
uint32_t TwoBytesAt(uint32_t place);
inline void HoldRows(uint32_t (&)[4]) {}

struct TilePlace {
  unsigned char* at;
};
struct BarrierPlace {
  Barrier* at;
};
inline TilePlace PlaceOf(unsigned char* tile) { return {tile}; }
inline BarrierPlace PlaceOf(Barrier* barrier) { return {barrier}; }
inline TilePlace Beyond(const TilePlace& place, uint32_t bytes) { return {place.at + bytes}; }
inline BarrierPlace Beyond(const BarrierPlace& place, uint32_t bytes) {
  return {place.at + bytes / sizeof(Barrier)};
}
inline void Arrive(const BarrierPlace& barrier) { Arrive(barrier.at); }
inline void ArriveExpecting(const BarrierPlace& barrier, uint32_t bytes) {
  ArriveExpecting(barrier.at, bytes);
}
inline void AwaitPhase(const BarrierPlace& barrier, uint32_t parity) { AwaitPhase(barrier.at, parity); }
inline void AwaitPhaseOrTrap(const BarrierPlace& barrier, uint32_t parity) { AwaitPhase(barrier.at, parity); }
inline void CopyTile(const TilePlace& to, const TileMap& map, uint32_t c0, uint32_t c1, uint32_t c2,
                     uint32_t c3, const BarrierPlace& barrier) {
  CopyTile(to.at, map, c0, c1, c2, c3, barrier.at);
}
template <uint32_t kRow, int kOctets>
void MmaTiles(float (&d)[kOctets][4], const TilePlace& a, const TilePlace& b, uint32_t step, bool from_zero) {
  MmaTiles<kRow>(d, a.at, b.at, step, from_zero);
}

// The blocks of a cluster meet at every barrier of one.
inline void ClusterBarrier() { __syncthreads(); }
float4 LoadOfPeer(const float* at, uint32_t rank);
inline void FenceTiles() {}
inline void FenceAsyncProxy() {}
inline void CommitTiles() {
  if (emulator::races::kAreChecked) emulator::CommitTiles();
}
template <int kLeft>
void AwaitTiles() {
  if (emulator::races::kAreChecked) emulator::AwaitTiles(kLeft);
}
template <int kRegisters>
void IncreaseRegisters() {}
template <int kRegisters>
void DecreaseRegisters() {}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_TILE_WORDS_H_
