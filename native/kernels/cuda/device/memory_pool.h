// Suballocates one large piece of device memory, so that a stream that begins or ends makes no driver call.
//
// Parts are reused in the order of the device's work: a part's new owner comes later in the queue than its
// previous one.
#ifndef PARLEY_KERNELS_CUDA_MEMORY_POOL_H_
#define PARLEY_KERNELS_CUDA_MEMORY_POOL_H_

#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace parley::cuda {

class MemoryPool {
 public:
  static constexpr size_t kAlignment = 256;

  // Manages `bytes` at `base`, and never dereferences it.
  MemoryPool(void* base, size_t bytes);

  // The smallest gap that holds it, or null. `bytes` of 0 take as much as 1.
  void* Take(size_t bytes);
  // False: it is no part of this pool.
  bool Give(void* part);

  size_t bytes() const { return bytes_; }
  size_t InUse() const { return in_use_; }
  size_t LargestGap() const { return gaps_by_size_.empty() ? 0 : gaps_by_size_.rbegin()->first; }

 private:
  void AddGap(size_t place, size_t bytes);
  void DropGap(size_t place, size_t bytes);

  char* const base_;
  const size_t bytes_;
  size_t in_use_ = 0;
  std::map<size_t, size_t> gaps_;                     // place to size; no two touch
  std::set<std::pair<size_t, size_t>> gaps_by_size_;  // size and place
  std::unordered_map<size_t, size_t> parts_;          // place to size
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_MEMORY_POOL_H_
