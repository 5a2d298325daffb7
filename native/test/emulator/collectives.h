// Synchronisation of an emulated block's threads. Only code inside a kernel may call these functions.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_COLLECTIVES_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_COLLECTIVES_H_

#include <cstddef>
#include <cstdint>

namespace parley::cuda::emulator {

// Combines the operands of a warp's lanes: lanes[l] of lane l, null if l is not in the mask.
using Join = void (*)(void* const lanes[32], uint32_t mask);

// kOrdered: the threads that synchronise see what the others wrote before. Only race checks read it.
enum class Memory : uint8_t { kAsItIs, kOrdered };

// Returns when every lane of `mask` (the caller's among them) has come here with the same word and mask; the
// last of them joins what was laid down. Throws, in every thread's place, when that can never be.
void WarpCollective(const char* word, uint32_t mask, void* laid_down, Join join,
                    Memory memory = Memory::kAsItIs);

// Waits for all threads of the block that have not ended; returns the sum of their votes (0 or 1).
uint32_t BlockBarrier(uint32_t vote);

// Waits for the first `threads` threads of the block, none of which may have ended.
void NamedBarrier(uint32_t barrier, uint32_t threads);

// For race checks alone: the thread's products of tiles so far are a group; all but the last `left` such
// groups of its warpgroup's threads, which meet here, are done; and stores of several threads of the same
// words, which are refused if they are not. Bytes: a multiple of 4, as is `to`.
void CommitTiles();
void AwaitTiles(uint32_t left);
void StoreSame(void* to, const void* value, size_t bytes);

// The lane's number in its warp.
uint32_t Lane();

unsigned char* SharedMemory();
void MarkAwaited();

// Copies that are asked for are made as late as they may be, so that a missing wait shows.
void RequestCopy(void* to, const void* from, bool valid);
void CommitRequested();
void MakeCopies(uint32_t groups_left);

[[noreturn]] void Refuse(const char* what);

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_COLLECTIVES_H_
