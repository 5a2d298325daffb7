// Lists that were run before, and the graphs of those that were run again.
#ifndef PARLEY_KERNELS_CUDA_KNOWN_LISTS_H_
#define PARLEY_KERNELS_CUDA_KNOWN_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "kernels/cuda/device.h"

namespace parley::cuda {

struct KnownList {
  List list;
  uint64_t hash = 0;
  std::unique_ptr<Graph> graph;  // none: it was run once
};

// The least recently used goes when there are too many.
class KnownLists {
 public:
  explicit KnownLists(size_t most) : most_(most), kept_(most) {}

  // The one of the same bytes, or null.
  KnownList* Find(const List& list);
  // One that Find() did not find. What goes for it may not be under way.
  KnownList* Remember(const List& list);
  // There was no memory for a graph: the half that was used last is kept, and about as many from now on. What goes may not be under way.
  void Halve();
  // There was: one more is kept, up to as many as before.
  void Grow() { kept_ += kept_ < most_ ? 1 : 0; }
  bool IsFull() const { return lists_.size() >= kept_; }
  size_t Count() const { return lists_.size(); }

 private:
  using Places = std::list<KnownList>;

  void ForgetLast();

  size_t most_, kept_;
  Places lists_;  // the last one used first
  std::unordered_multimap<uint64_t, Places::iterator> by_hash_;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_KNOWN_LISTS_H_
