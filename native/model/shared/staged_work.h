// Work on a whole recording, done in pieces between the frames of live streams. It consists of stages, one
// after the other, each of units that do not depend on one another.
#ifndef PARLEY_MODEL_STAGED_WORK_H_
#define PARLEY_MODEL_STAGED_WORK_H_

#include <cstddef>
#include <functional>
#include <vector>

namespace parley::model {

// Costs are in multiply-accumulates of a product of many rows. The AVX2 kernels compute 20 of these per
// nanosecond on one processor. Other operations that matter cost, in these units:
inline constexpr size_t kValueCost = 16;      // a value that is read, added or copied
inline constexpr size_t kFunctionCost = 256;  // an exponential, a tangent
// Channels that are gone through together over all rows, at least: a cache line.
inline constexpr size_t kChannelGranule = 16;
// Largest cost of a piece: 50 ms.
inline constexpr size_t kPieceCost = 1'000'000'000;

class StagedWork {
 public:
  // `count` units, `first` being the first of them.
  using Units = std::function<void(size_t first, size_t count)>;

  // A stage of `units`, each of about `cost`. They are done in their order, in runs that end at multiples
  // of `granule` or at the last unit.
  void Add(size_t units, size_t cost, Units work, size_t granule = 1);
  // A stage that is one unit.
  void Add(size_t cost, std::function<void()> work);

  // Units of `most` together, or the next run alone where it costs more. False: none was left.
  // After an exception this is good for nothing but to be destroyed.
  bool Advance(size_t most);

 private:
  struct Stage {
    size_t units, cost, granule;
    Units work;

    // The number of units from `done` on that fit into `left`.
    size_t Fitting(size_t done, size_t left) const;
  };

  std::vector<Stage> stages_;
  size_t stage_ = 0, done_ = 0;  // the one that is worked on; its units that are done
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_STAGED_WORK_H_
