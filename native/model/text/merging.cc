// Vocabulary::Encode: the merges of one piece.
//
// The symbols are a doubly linked list over an array. A heap holds the pairs
// that can merge, by rank and place; all places of one rank are taken before
// the pairs that they make are looked at, so that the order is exactly that of
// merging one pair everywhere, then the next.
#include <algorithm>
#include <functional>

#include "model/text/vocabulary.h"

namespace parley::model {
namespace {

constexpr int32_t kEnd = -1;

struct Symbol {
  int32_t id;        // kEnd once it was joined to the one before
  int32_t before, after;
};

struct Candidate {
  uint32_t rank;
  int32_t at;        // of the left symbol
  int32_t left, right, joined;  // as they were when it was found

  bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
};

}  // namespace

void Vocabulary::Encode(std::string_view piece, std::vector<int32_t>* ids) const {
  std::vector<Symbol> symbols;
  const auto count = static_cast<int32_t>(piece.size());
  symbols.reserve(piece.size());
  for (int32_t n = 0; n < count; n++) {
    const int32_t id = byte_ids_[static_cast<uint8_t>(piece[static_cast<size_t>(n)])];
    symbols.push_back({id, n - 1, n + 1 < count ? n + 1 : kEnd});
  }
  std::vector<Candidate> heap;
  const auto consider = [&](int32_t at) {
    if (at == kEnd || symbols[at].after == kEnd) return;
    const int32_t left = symbols[at].id, right = symbols[symbols[at].after].id;
    const Merge* const merge = Find(left, right);
    if (merge == nullptr) return;
    heap.push_back({merge->rank, at, left, right, merge->joined});
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (int32_t n = 0; n < count; n++) consider(n);
  std::vector<int32_t> joined;  // places, of one rank
  while (!heap.empty()) {
    const uint32_t rank = heap.front().rank;
    joined.clear();
    while (!heap.empty() && heap.front().rank == rank) {
      const Candidate one = heap.front();
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      heap.pop_back();
      Symbol& left = symbols[one.at];
      if (left.id != one.left || left.after == kEnd || symbols[left.after].id != one.right) continue;
      Symbol& right = symbols[left.after];
      left.id = one.joined;
      left.after = right.after;
      right.id = kEnd;
      if (left.after != kEnd) symbols[left.after].before = one.at;
      joined.push_back(one.at);
    }
    for (const int32_t at : joined) {
      if (symbols[at].id == kEnd) continue;
      consider(symbols[at].before);
      consider(at);
    }
  }
  for (int32_t at = count > 0 ? 0 : kEnd; at != kEnd; at = symbols[at].after) ids->push_back(symbols[at].id);
}

}  // namespace parley::model
