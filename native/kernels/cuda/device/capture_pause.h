// When graphs are made again after there was no memory for one.
//
// Each try in vain takes as long as a step, and waits for the GPU. Half of the graphs went for the first, so that there should be memory now: the next is
// tried at once. Where that one fails too, the memory is another's.
#ifndef PARLEY_KERNELS_CUDA_CAPTURE_PAUSE_H_
#define PARLEY_KERNELS_CUDA_CAPTURE_PAUSE_H_

#include <algorithm>
#include <cstdint>

namespace parley::cuda {

class CapturePause {
 public:
  // Lists that are to be graphs and run without one until the next try, twice as many each time: of 130 a second, all of them with 1000 listeners and no
  // graph left, a quarter of a second to a minute. Where most have a graph it is longer, and what it costs as little.
  static constexpr uint64_t kFirst = 32, kLongest = 8192;

  // Of each list that runs without a graph, though one is wanted.
  bool IsOver() {
    if (left_ == 0) return true;
    left_--;
    return false;
  }
  void Failed() {
    failures_++;
    if (failures_ > 1) left_ = std::min(kFirst << std::min<uint64_t>(failures_ - 2, 32), kLongest);
  }
  void Succeeded() { failures_ = 0; }

 private:
  uint64_t failures_ = 0;  // since the last one that was made
  uint64_t left_ = 0;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CAPTURE_PAUSE_H_
