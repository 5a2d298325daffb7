// Lists that were run before, and the graphs of those that were run again.
//
// A list is kept as it stands, since it is compared byte for byte: on the host, where a step of a large model has some 0.5 MB. What a graph
// takes beside it is the driver's.
#ifndef PARLEY_KERNELS_CUDA_KNOWN_LISTS_H_
#define PARLEY_KERNELS_CUDA_KNOWN_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "kernels/cuda/device/device.h"

namespace parley::cuda {

struct KnownList {
  List list;
  uint64_t hash = 0;
  std::unique_ptr<Graph> graph;  // none: it was run once
};

// The least recently used go when there are too many, or too large together.
class KnownLists {
 public:
  KnownLists(size_t most, size_t most_bytes) : most_(most), most_bytes_(most_bytes), kept_(most) {}

  // The one of the same bytes, or null.
  KnownList* Find(const List& list);
  // One that Find() did not find. What goes for it may not be under way. It is kept however large it is.
  KnownList* Remember(const List& list);
  // There was no memory for a graph: the half that was used last is kept, and about as many from now on. What goes may not be under way.
  void Halve();
  // There was: one more is kept, up to as many as before.
  void Grow() { kept_ += kept_ < most_ ? 1 : 0; }
  // Whether others go for it.
  bool IsFullFor(const List& list) const { return !lists_.empty() && (lists_.size() >= kept_ || bytes_ + BytesOf(list) > most_bytes_); }
  size_t Count() const { return lists_.size(); }
  // Of the host's memory.
  size_t Bytes() const { return bytes_; }

 private:
  using Places = std::list<KnownList>;

  static size_t BytesOf(const List& list) { return list.nodes.size() * sizeof(Node) + list.args.size(); }
  void ForgetLast();

  size_t most_, most_bytes_, kept_;
  size_t bytes_ = 0;
  Places lists_;  // the last one used first
  std::unordered_multimap<uint64_t, Places::iterator> by_hash_;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_KNOWN_LISTS_H_
