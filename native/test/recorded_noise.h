// Noise for the steps of a chunk of Pocket TTS, as a file of vectors has it.
#ifndef PARLEY_TEST_RECORDED_NOISE_H_
#define PARLEY_TEST_RECORDED_NOISE_H_

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/pocket/noise.h"

namespace parley::test {

// The rows of a tensor, one for each step.
class RecordedNoise final : public model::Noise {
 public:
  explicit RecordedNoise(std::vector<float> rows) : rows_(std::move(rows)) {}

  void Draw(size_t step, float* x, size_t count) const override {
    if ((step + 1) * count > rows_.size()) throw std::out_of_range("no noise was recorded for this step");
    std::copy_n(rows_.begin() + static_cast<ptrdiff_t>(step * count), count, x);
  }

 private:
  const std::vector<float> rows_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_RECORDED_NOISE_H_
