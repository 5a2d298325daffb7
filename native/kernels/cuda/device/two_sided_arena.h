// Device memory and its staging image on the host, at the same offsets: data for a list, or its results.
//
// The image is double-buffered, so that one list can be written while another runs. Device memory exists
// once, because lists run one after the other. A list that needs more gets further pieces for itself; the
// arena grows before the next list begins.
#ifndef PARLEY_KERNELS_CUDA_TWO_SIDED_ARENA_H_
#define PARLEY_KERNELS_CUDA_TWO_SIDED_ARENA_H_

#include <cstddef>
#include <vector>

#include "kernels/cuda/device/device.h"

namespace parley::cuda {

class TwoSidedArena {
 public:
  struct Place {
    void* host;
    void* device;
  };

  TwoSidedArena(Device& device, size_t bytes);
  ~TwoSidedArena();
  TwoSidedArena(const TwoSidedArena&) = delete;
  TwoSidedArena& operator=(const TwoSidedArena&) = delete;

  // Begins the next list, with host image `turn` (0 or 1). The list that used this image last must be done.
  // If the arena grows, both images are replaced.
  void Begin(int turn);
  // Aligned to 16 bytes; until its turn begins again.
  Place Take(size_t bytes);
  // All that was taken, to the device or back.
  void Send();
  void Fetch();

  // Whether Begin() will give up the images of both turns for larger ones.
  bool WillGrow() const { return wanted_ > main_.bytes; }
  size_t Bytes() const { return main_.bytes; }
  bool IsEmpty() const { return main_.used == 0 && more_[turn_].empty(); }

 private:
  struct Piece {
    char* device = nullptr;
    char* host[2] = {};  // an additional piece has only its turn's
    size_t bytes = 0, used = 0;
  };

  Piece Allocate(size_t bytes, bool both);
  void Free(Piece* piece);
  static bool Fits(const Piece& piece, size_t bytes);

  Device& device_;
  int turn_ = 0;
  Piece main_;
  std::vector<Piece> more_[2];
  size_t wanted_ = 0;  // size of the largest list so far, in bytes
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_TWO_SIDED_ARENA_H_
