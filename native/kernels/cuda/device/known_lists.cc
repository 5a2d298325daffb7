#include "kernels/cuda/device/known_lists.h"

#include <algorithm>
#include <cstring>

namespace parley::cuda {
namespace {

constexpr size_t kRecent = 4;

// However little memory there is for graphs: what a step and the codec run again and again does not go for what comes once.
constexpr size_t kFewest = 64;

bool AreEqual(const List& a, const List& b) {
  return a.nodes.size() == b.nodes.size() && a.args.size() == b.args.size() &&
         (a.nodes.empty() || std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(Node)) == 0) &&
         (a.args.empty() || std::memcmp(a.args.data(), b.args.data(), a.args.size()) == 0);
}

// Both are whole words.
uint64_t Mixed(const void* bytes, size_t count, uint64_t hash) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i + 8 <= count; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

uint64_t HashOf(const List& list) {
  const uint64_t nodes = Mixed(list.nodes.data(), list.nodes.size() * sizeof(Node), list.nodes.size());
  return Mixed(list.args.data(), list.args.size(), nodes);
}

}  // namespace

KnownList* KnownLists::Find(const List& list) {
  // Those of the last few steps need no hash: where they differ from this one, they mostly do so in their lengths.
  auto recent = lists_.begin();
  for (size_t n = 0; n < kRecent && recent != lists_.end(); n++, recent++) {
    if (!AreEqual(recent->list, list)) continue;
    lists_.splice(lists_.begin(), lists_, recent);
    return &lists_.front();
  }
  const auto range = by_hash_.equal_range(HashOf(list));
  for (auto at = range.first; at != range.second; at++) {
    if (!AreEqual(at->second->list, list)) continue;
    lists_.splice(lists_.begin(), lists_, at->second);
    return &lists_.front();
  }
  return nullptr;
}

KnownList* KnownLists::Remember(const List& list) {
  while (IsFullFor(list)) ForgetLast();
  lists_.push_front({list, HashOf(list), nullptr});
  bytes_ += BytesOf(list);
  by_hash_.emplace(lists_.front().hash, lists_.begin());
  return &lists_.front();
}

void KnownLists::Halve() {
  const size_t left = std::max<size_t>(lists_.size() / 2, 1);
  while (lists_.size() > left) ForgetLast();
  kept_ = std::min(most_, std::max(left, kFewest));
}

void KnownLists::ForgetLast() {
  const auto last = std::prev(lists_.end());
  const auto range = by_hash_.equal_range(last->hash);
  for (auto at = range.first; at != range.second; at++) {
    if (at->second != last) continue;
    by_hash_.erase(at);
    break;
  }
  bytes_ -= BytesOf(last->list);
  lists_.erase(last);
}

}  // namespace parley::cuda
