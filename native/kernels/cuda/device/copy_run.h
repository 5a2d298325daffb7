// Copies that a device may make in any order.
#ifndef PARLEY_KERNELS_CUDA_COPY_RUN_H_
#define PARLEY_KERNELS_CUDA_COPY_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley::cuda {

constexpr size_t kMostCopies = 1024;  // per grid

struct CopyPiece {
  void* to;
  const void* from;
  uint64_t bytes;
};

// Copies that none of them depends on another of: what is written is neither read nor written by another. Not
// overlapping themselves.
class CopyRun {
 public:
  bool Clashes(const CopyPiece& piece) const {
    if (!Overlap(piece.to, piece.bytes, all_read_) && !Overlap(piece.to, piece.bytes, all_written_) &&
        !Overlap(piece.from, piece.bytes, all_written_)) {
      return false;
    }
    return std::any_of(pieces_.begin(), pieces_.end(), [&](const CopyPiece& one) {
      const Extent written = ExtentOf(one.to, one.bytes);
      return Overlap(piece.to, piece.bytes, written) || Overlap(piece.from, piece.bytes, written) ||
             Overlap(piece.to, piece.bytes, ExtentOf(one.from, one.bytes));
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

  const std::vector<CopyPiece>& Pieces() const { return pieces_; }
  size_t Longest() const { return longest_; }

 private:
  struct Extent {
    uintptr_t begin = UINTPTR_MAX, end = 0;
  };

  static Extent ExtentOf(const void* memory, uint64_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    return {begin, begin + bytes};
  }
  static bool Overlap(const void* memory, uint64_t bytes, const Extent& other) {
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

#endif  // PARLEY_KERNELS_CUDA_COPY_RUN_H_
