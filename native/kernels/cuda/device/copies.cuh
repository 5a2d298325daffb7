// Batches many small copies into one grid.
#ifndef PARLEY_KERNELS_CUDA_COPIES_CUH_
#define PARLEY_KERNELS_CUDA_COPIES_CUH_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/copy_run.h"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"

namespace parley::cuda {

constexpr uint32_t kCopyThreads = 128;
constexpr size_t kBytesOfCopyBlock = kCopyThreads * 16;

struct CopyArgs {
  const CopyPiece* pieces;
  const uint32_t* count;
};

template <class Unit>
__device__ __forceinline__ void CopyUnits(const CopyPiece& piece) {
  const auto* const from = static_cast<const Unit*>(piece.from);
  auto* const to = static_cast<Unit*>(piece.to);
  const uint64_t units = piece.bytes / sizeof(Unit);
  const uint64_t step = gridDim.x * kCopyThreads;
  uint64_t i = blockIdx.x * kCopyThreads + threadIdx.x;
  for (; i + 3 * step < units; i += 4 * step) {
    const Unit a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    to[i] = a, to[i + step] = b, to[i + 2 * step] = c, to[i + 3 * step] = d;
  }
  for (; i < units; i += step) to[i] = from[i];
}

static __global__ void __launch_bounds__(kCopyThreads) CopyPieces(const CopyArgs args) {
  LaunchDependents();
  // Entries past the count are loaded too, since the array has room for them; so this load need not wait for
  // the count.
  const CopyPiece piece = args.pieces[blockIdx.y];
  const bool is_one = blockIdx.y < *args.count;
  GridDependencyWait();
  if (!is_one) return;
  const uint64_t places =
      reinterpret_cast<uintptr_t>(piece.to) | reinterpret_cast<uintptr_t>(piece.from) | piece.bytes;
  if (places % 16 == 0) CopyUnits<uint4>(piece);
  else if (places % 4 == 0) CopyUnits<uint32_t>(piece);
  else CopyUnits<unsigned char>(piece);
}

// Places for `count` copies, rounded up to 1, 4, 16, 64, ..., so that lists repeat: the number of joining
// streams differs from step to step. Unused places cost little.
constexpr uint32_t CopyPlaces(size_t count) {
  uint32_t places = 1;
  while (places < count) places *= 4;
  return places;
}
static_assert(CopyPlaces(kMostCopies) == kMostCopies);

// All copies of the run, which then has none.
inline void EnqueueCopies(Queue& queue, CopyRun* run) {
  if (run->IsEmpty()) return;
  const auto count = static_cast<uint32_t>(run->Pieces().size());
  Grid grid;
  grid.threads = kCopyThreads;
  // Few sizes: as many bytes as there are streams should not make another list for another number of them.
  grid.x = run->Longest() <= kBytesOfCopyBlock ? 1 : run->Longest() <= 16 * kBytesOfCopyBlock ? 8 : 64;
  grid.y = CopyPlaces(count);
  queue.Launch<&CopyPieces>(grid,
                            CopyArgs{queue.Data(run->Pieces().data(), count, grid.y), queue.Data(count)});
  run->Forget();
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_COPIES_CUH_
