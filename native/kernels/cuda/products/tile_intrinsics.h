// Words for products of tiles in shared memory (see intrinsics.h), of GPUs of 9.0 alone; and on the emulator:
//
//   kHasTiles                   whether the target that is compiled for has them; without, they may not be called
//   Barrier                     in shared memory, of so many arrivals and the bytes that are expected: its phases 0, 1, 0 .. end when all are there
//   InitBarrier(barrier, arrivals)     by one thread; then FenceBarriers() and __syncthreads()
//   Arrive(barrier), ArriveExpecting(barrier, bytes)     the latter before the copies that bring them
//   ArriveIf(barrier, does)            without a branch, which would end what tensor cores have under way
//   AwaitPhase(barrier, parity)        until the phase of that parity has ended; the one before the first counts as of parity 1
//   AwaitPhaseOrTrap(barrier, parity)  the same, with a bound of some seconds
//   CopyTile(to, map, c0, c1, c2, c3, barrier)     a box from these coordinates on, by one thread; its bytes arrive at the barrier. `to`: at a multiple of eight of the tile's rows
//   CopyBulk(to, from, bytes, barrier)     so many neighbouring bytes, a multiple of 16 from and to multiples of 16; they arrive at the barrier
//   MmaTiles<kRow>(d, a, b, step, from_zero)     d += a b, or d = a b, by all four warps of a warpgroup, each of which has 16 of the 64 rows of a:
//                               d[n] as Mma's of the rows 8 n .. 8 n + 7 of b. a and b: tiles as CopyTile lays rows of kRow bytes, b from a
//                               multiple of 8 rows on, a from any row; the columns 16 step .. 16 step + 15
//   TilePlace, BarrierPlace     PlaceOf(tile), PlaceOf(barrier), which the words above take too: found once, and kept in a register. Beyond(place, bytes)
//   SwizzledByte<kRow>(byte)    where CopyTile lays that byte of a tile that begins at a multiple of 8 rows
//   ShowTiles()                 after this thread wrote to a tile itself, before it meets those whose MmaTiles read it
//   MmaRows<kRow>(d, a, b, step, from_zero)     the same of 64 rows a that are in registers, those of a warp as Mma has them, and a tile b. They
//                               pass HoldRows(a) when they are written, before FenceTiles, and are not written again before the product is done
//   SharedPlace(at)             where it lies in shared memory, as a number; TwoBytesAt(place): two neighbouring bytes there, the first in the lower eight bits
//   FenceTiles(), CommitTiles(), AwaitTiles<left>()      before the first MmaTiles of some and after d was written; after the last of some; until all but
//                               the last `left` of such groups are done, and d and the tiles may be used again
//   TakeRegisters<n>(), LeaveRegisters<n>()     by all warps of a warpgroup: it has n registers a thread from here on
//
//   PARLEY_CLUSTER(n)           of a kernel, before __launch_bounds__: n neighbouring blocks run together; its Args say so too, by their kCluster. Such a kernel
//                               has no __shared__ arrays
//   MeetCluster()               all threads of these blocks: what they wrote to shared memory before is there for all of them
//   LoadOfPeer(at, rank)        the four floats that the block `rank` of these has where this one has `at`
//
// No wait is for ever. Of each kernel somebody waits with a bound for what all others there depend on, and the trap at its end makes the device a lost
// one, which the host sees:
//   - Who asks for tiles, or fills the ring of a grid that stays, waits so for room; the former also, at last, until all that it asked for was used. Who
//     multiplies does not: a bound in that loop, of whatever kind, takes it off the compiler's own way to wait (its addresses leave the uniform registers,
//     and a residual unit of 192 channels spills).
//   - Where all threads multiply, they wait with the bound themselves. Words of other blocks are waited for with one too (told.cuh).
//   - The instructions behind __syncthreads, MeetCluster, AwaitInputs, AwaitCopies and AwaitTiles know none. They wait for threads of the cluster, for grids
//     before this one, which are under the same rules, or for the GPU itself; for one that does not answer the host has its own bound (gpu_device.h).
// The emulator refuses a wait that nobody ends.
#ifndef PARLEY_KERNELS_CUDA_TILE_WORDS_H_
#define PARLEY_KERNELS_CUDA_TILE_WORDS_H_

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

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TILE_WORDS_H_
