// Intrinsics for products of tiles in shared memory (see intrinsics.h): TMA copies, mbarriers, wgmma and
// thread block clusters of compute capability 9.0, or their emulation:
//
//   - kHasTiles: whether the compilation target has them; without, they may not be called
//   - Barrier: an mbarrier in shared memory, with a number of arrivals and of expected bytes. Its phases 0,
//     1, 0 .. end when all have arrived
//   - InitBarrier(barrier, arrivals): by one thread; then FenceBarriers() and __syncthreads()
//   - Arrive(barrier), ArriveExpecting(barrier, bytes): the latter before the copies that bring them
//   - ArriveIf(barrier, does): without a branch, which would wait for pending tensor core work
//   - AwaitPhase(barrier, parity): until the phase of that parity has ended; the one before the first has
//     parity 1
//   - AwaitPhaseOrTrap(barrier, parity): the same, with a timeout of some seconds
//   - CopyTile(to, map, c0, c1, c2, c3, barrier): a box from these coordinates on, by one thread; its bytes
//     arrive at the barrier. `to`: at a multiple of eight of the tile's rows
//   - CopyBulk(to, from, bytes, barrier): adjacent bytes, a multiple of 16, between multiples of 16; they
//     arrive at the barrier
//   - MmaTiles<kRow>(d, a, b, step, from_zero): d += a b, or d = a b, by all four warps of a warpgroup, each
//     of which has 16 of the 64 rows of a: d[n] as Mma's of the rows 8 n .. 8 n + 7 of b. a and b: tiles as
//     CopyTile lays rows of kRow bytes, b from a multiple of 8 rows on, a from any row; the columns 16 step
//     .. 16 step + 15
//   - TilePlace, BarrierPlace: PlaceOf(tile), PlaceOf(barrier), which the functions above also accept:
//     computed once and kept in a register. Beyond(place, bytes)
//   - SwizzledByte<kRow>(byte): where CopyTile puts that byte of a tile that begins at a multiple of 8 rows
//   - FenceAsyncProxy(): after this thread wrote to a tile itself, before a barrier with the threads whose
//     MmaTiles read it
//   - MmaRows<kRow>(d, a, b, step, from_zero): the same for 64 rows a in registers, a warp's rows as Mma has
//     them, and a tile b. Call HoldRows(a) after writing them and before FenceTiles; do not write them again
//     before the product is done
//   - SharedPlace(at): its address in shared memory, as a number; TwoBytesAt(place): two adjacent bytes
//     there, the first in the lower eight bits
//   - FenceTiles(), CommitTiles(), AwaitTiles<left>(): before the first MmaTiles of a group and after d was
//     written; after the last of a group; until all but the last `left` groups are done, and d and the tiles
//     may be used again
//   - IncreaseRegisters<n>(), DecreaseRegisters<n>(): by all warps of a warpgroup, which has n registers a
//     thread from then on
//
//   - PARLEY_CLUSTER(n): of a kernel, before __launch_bounds__: n adjacent blocks form a cluster, as its Args
//     also state by their kCluster. Such a kernel has no __shared__ arrays
//   - ClusterBarrier(): cluster barrier: shared memory written before it is visible to all threads of the
//     cluster
//   - LoadOfPeer(at, rank): the four floats that the cluster's block `rank` has where this one has `at`
//
// Every wait is bounded. In each kernel at least one thread waits with a timeout for the event that all
// others depend on. The trap at its end makes the device a lost one, which the host detects:
//   - The thread that requests tiles, or that fills the ring of a persistent grid, waits for room with a
//     timeout. The former also waits so, at last, until everything that it requested was used. The threads
//     that multiply have no timeout: a bound in that loop, of whatever kind, makes the compiler give up its
//     own form of waiting (addresses leave the uniform registers, and a residual unit of 192 channels
//     spills).
//   - Where all threads multiply, they wait with the timeout themselves. Waits for words of other blocks have
//     one too (layer_run_args.h).
//   - The instructions behind __syncthreads, ClusterBarrier, GridDependencyWait, AwaitCopies and AwaitTiles
//     have no timeout. They wait for threads of the cluster, for earlier grids, to which the same rules
//     apply, or for the GPU itself. If the GPU does not answer, the host has its own timeout (device.h).
// The emulator reports a wait that never ends as an error.
#ifndef PARLEY_KERNELS_CUDA_TILE_WORDS_H_
#define PARLEY_KERNELS_CUDA_TILE_WORDS_H_

#include "kernels/cuda/device/intrinsics.h"
#ifdef __CUDACC__
#include "kernels/cuda/products/gpu_tile_intrinsics.h"
#else
#include "test/emulator/tile_intrinsics.h"
#endif

namespace parley::cuda {

// Bits 4 and up change by those from bit 7 on.
template <uint32_t kRow>
__device__ __forceinline__ uint32_t SwizzledByte(uint32_t byte) {
  return byte ^ ((byte >> 7 & (kRow / 16 - 1)) << 4);
}

// Ring buffer of tile stages in shared memory: a producer fills places again and again, and consumers follow
// it.

// The next place, and the parity of the phase that its barrier is in then.
template <uint32_t kPlaces>
struct RingTurn {
  uint32_t place = 0, parity = 0;

  __device__ __forceinline__ void Next() {
    if (++place < kPlaces) return;
    place = 0;
    parity ^= 1;
  }
  // The one before. Before the first it is of a phase that counts as ended.
  __device__ __forceinline__ RingTurn Before() const {
    return place == 0 ? RingTurn{kPlaces - 1, parity ^ 1} : RingTurn{place - 1, parity};
  }
};

// Start of the block's tiles, at a multiple of 1024 bytes. The launch requests 1024 bytes more for it.
__device__ __forceinline__ unsigned char* TilesBegin() {
  return SharedBytes() + (1024 - reinterpret_cast<uintptr_t>(SharedBytes()) % 1024) % 1024;
}

// The barriers of as many places: one asks for what fills a place, so many say when they are done with it.
// One thread's; then FenceBarriers().
template <uint32_t kPlaces>
__device__ __forceinline__ void InitRing(Barrier* full, Barrier* empty, uint32_t users) {
  for (uint32_t place = 0; place < kPlaces; place++) {
    InitBarrier(full + place, 1);
    InitBarrier(empty + place, users);
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILE_WORDS_H_
