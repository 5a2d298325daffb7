// Many small copies as one grid.
#ifndef PARLEY_KERNELS_CUDA_COPIES_CUH_
#define PARLEY_KERNELS_CUDA_COPIES_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/queue.h"
#include "kernels/cuda/words.h"

namespace parley::cuda {

constexpr uint32_t kCopyThreads = 128;
constexpr size_t kBytesOfCopyBlock = kCopyThreads * 16;
constexpr size_t kMostCopies = 1024;  // of a grid

struct CopyPiece {
  void* to;
  const void* from;
  uint64_t bytes;
};

struct CopyArgs {
  const CopyPiece* pieces;
  const uint32_t* count;
};

template <class Unit>
__device__ __forceinline__ void CopyUnits(const CopyPiece& piece) {
  const auto* const from = static_cast<const Unit*>(piece.from);
  auto* const to = static_cast<Unit*>(piece.to);
  const uint64_t units = piece.bytes / sizeof(Unit);
  for (uint64_t i = blockIdx.x * kCopyThreads + threadIdx.x; i < units; i += gridDim.x * kCopyThreads) to[i] = from[i];
}

static __global__ void __launch_bounds__(kCopyThreads) CopyPieces(const CopyArgs args) {
  AwaitInputs();
  LetNextBegin();
  if (blockIdx.y >= *args.count) return;
  const CopyPiece piece = args.pieces[blockIdx.y];
  const uint64_t places = reinterpret_cast<uintptr_t>(piece.to) | reinterpret_cast<uintptr_t>(piece.from) | piece.bytes;
  if (places % 16 == 0) CopyUnits<uint4>(piece);
  else if (places % 4 == 0) CopyUnits<uint32_t>(piece);
  else CopyUnits<unsigned char>(piece);
}

// Copies that none of them depends on another of: what is written is neither read nor written by another. Not overlapping
// themselves.
class CopyRun {
 public:
  bool Clashes(const CopyPiece& piece) const {
    if (!Meet(piece.to, piece.bytes, all_read_) && !Meet(piece.to, piece.bytes, all_written_) &&
        !Meet(piece.from, piece.bytes, all_written_)) {
      return false;
    }
    return std::any_of(pieces_.begin(), pieces_.end(), [&](const CopyPiece& one) {
      const Extent written = ExtentOf(one.to, one.bytes);
      return Meet(piece.to, piece.bytes, written) || Meet(piece.from, piece.bytes, written) ||
             Meet(piece.to, piece.bytes, ExtentOf(one.from, one.bytes));
    });
  }

  void Add(const CopyPiece& piece) {
    pieces_.push_back(piece);
    Widen(&all_written_, ExtentOf(piece.to, piece.bytes));
    Widen(&all_read_, ExtentOf(piece.from, piece.bytes));
    longest_ = std::max<size_t>(longest_, piece.bytes);
  }

  bool IsFull() const { return pieces_.size() == kMostCopies; }
  bool IsEmpty() const { return pieces_.empty(); }
  void Forget() {
    pieces_.clear();
    all_written_ = all_read_ = {};
    longest_ = 0;
  }

  // All of them; then there are none.
  void Enqueue(Queue& queue) {
    if (pieces_.empty()) return;
    const auto count = static_cast<uint32_t>(pieces_.size());
    Grid grid;
    grid.threads = kCopyThreads;
    grid.x = static_cast<uint32_t>(BucketOf((longest_ + kBytesOfCopyBlock - 1) / kBytesOfCopyBlock));
    grid.y = static_cast<uint32_t>(BucketOf(count));
    queue.Launch<&CopyPieces>(grid, CopyArgs{queue.Data(pieces_.data(), count, grid.y), queue.Data(count)});
    Forget();
  }

 private:
  struct Extent {
    uintptr_t begin = UINTPTR_MAX, end = 0;
  };

  static Extent ExtentOf(const void* memory, uint64_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    return {begin, begin + bytes};
  }
  static bool Meet(const void* memory, uint64_t bytes, const Extent& other) {
    const Extent mine = ExtentOf(memory, bytes);
    return mine.begin < other.end && other.begin < mine.end;
  }
  static void Widen(Extent* all, const Extent& one) {
    all->begin = std::min(all->begin, one.begin);
    all->end = std::max(all->end, one.end);
  }

  std::vector<CopyPiece> pieces_;
  Extent all_written_, all_read_;
  size_t longest_ = 0;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_COPIES_CUH_
