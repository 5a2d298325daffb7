#include "kernels/cuda/device/memory_pool.h"

#include <iterator>

namespace parley::cuda {

MemoryPool::MemoryPool(void* base, size_t bytes)
    : base_(static_cast<char*>(base)), bytes_(bytes / kAlignment * kAlignment) {
  if (bytes_ > 0) AddGap(0, bytes_);
}

void* MemoryPool::Take(size_t bytes) {
  if (bytes > bytes_) return nullptr;
  const size_t wanted = bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto found = gaps_by_size_.lower_bound({wanted, 0});
  if (found == gaps_by_size_.end()) return nullptr;
  const auto [size, place] = *found;
  DropGap(place, size);
  if (size > wanted) AddGap(place + wanted, size - wanted);
  parts_[place] = wanted;
  in_use_ += wanted;
  return base_ + place;
}

bool MemoryPool::Give(void* part) {
  char* const at = static_cast<char*>(part);
  if (at < base_ || at >= base_ + bytes_) return false;
  const auto found = parts_.find(static_cast<size_t>(at - base_));
  if (found == parts_.end()) return false;
  size_t place = found->first, size = found->second;
  parts_.erase(found);
  in_use_ -= size;
  // Neighbouring gaps become one.
  auto next = gaps_.lower_bound(place);
  if (next != gaps_.begin()) {
    const auto [before, its] = *std::prev(next);
    if (before + its == place) {
      DropGap(before, its);
      place = before;
      size += its;
    }
  }
  next = gaps_.lower_bound(place);
  if (next != gaps_.end() && next->first == place + size) {
    const size_t its = next->second;
    DropGap(place + size, its);
    size += its;
  }
  AddGap(place, size);
  return true;
}

void MemoryPool::AddGap(size_t place, size_t bytes) {
  gaps_[place] = bytes;
  gaps_by_size_.insert({bytes, place});
}

void MemoryPool::DropGap(size_t place, size_t bytes) {
  gaps_.erase(place);
  gaps_by_size_.erase({bytes, place});
}

}  // namespace parley::cuda
