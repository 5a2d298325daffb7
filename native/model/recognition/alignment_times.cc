#include "model/recognition/alignment_times.h"

#include <algorithm>
#include <cstddef>

namespace parley::model {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kShortRun = 2;  // of times out of order: longer ones are spread between their neighbours

// The end of a subsequence: its length, and of those with this length the first.
struct Best {
  size_t length = 0, index = kNone;

  void Take(const Best& other) {
    if (other.length > length || (other.length == length && other.index < index)) *this = other;
  }
};

// The best of all values up to one (Fenwick's tree).
class BestUpTo {
 public:
  explicit BestUpTo(size_t values) : tree_(values + 1) {}
  Best Of(size_t rank) const {
    Best best;
    for (size_t n = rank + 1; n > 0; n -= n & (~n + 1)) best.Take(tree_[n]);
    return best;
  }
  void Add(size_t rank, const Best& best) {
    for (size_t n = rank + 1; n < tree_.size(); n += n & (~n + 1)) tree_[n].Take(best);
  }

 private:
  std::vector<Best> tree_;
};

// True for the members of the subsequence. Of the predecessors that make it longest the first is taken, and
// of the ends that have its length the first.
std::vector<bool> LongestRising(const std::vector<int64_t>& times) {
  std::vector<int64_t> values = times;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  BestUpTo ends(values.size());
  std::vector<size_t> parents(times.size());
  Best end;
  for (size_t i = 0; i < times.size(); i++) {
    const auto rank =
        static_cast<size_t>(std::lower_bound(values.begin(), values.end(), times[i]) - values.begin());
    const Best before = ends.Of(rank);
    parents[i] = before.index;
    const Best own{before.length + 1, i};
    ends.Add(rank, own);
    end.Take(own);
  }
  std::vector<bool> is_member(times.size());
  for (size_t i = end.index; i != kNone; i = parents[i]) is_member[i] = true;
  return is_member;
}

// The run [first, last) of times out of order. `left` and `right`: the places of its neighbours, or kNone.
void Repair(const std::vector<int64_t>& times, size_t first, size_t last, size_t left, size_t right,
            std::vector<int64_t>* repaired) {
  const size_t count = last - first;
  for (size_t k = first; k < last; k++) {
    if (left == kNone || right == kNone) {
      (*repaired)[k] = times[left == kNone ? right : left];
    } else if (count <= kShortRun) {
      (*repaired)[k] = k - (first - 1) <= last - k ? times[left] : times[right];
    } else {
      const double step = static_cast<double>(times[right] - times[left]) / static_cast<double>(count + 1);
      (*repaired)[k] =
          static_cast<int64_t>(static_cast<double>(times[left]) + step * static_cast<double>(k - first + 1));
    }
  }
}

}  // namespace

std::vector<int64_t> RisingTimes(const std::vector<int64_t>& times) {
  const std::vector<bool> is_member = LongestRising(times);
  std::vector<int64_t> repaired = times;
  size_t left = kNone;
  for (size_t i = 0; i < times.size(); i++) {
    if (is_member[i]) {
      left = i;
      continue;
    }
    size_t last = i;
    while (last < times.size() && !is_member[last]) last++;
    Repair(times, i, last, left, last < times.size() ? last : kNone, &repaired);
    i = last - 1;
  }
  return repaired;
}

}  // namespace parley::model
