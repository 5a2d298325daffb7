// A source that has its whole sound at once.
#ifndef PARLEY_TEST_WHOLE_SOUND_H_
#define PARLEY_TEST_WHOLE_SOUND_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/recogniser.h"

namespace parley::test {

class WholeSound final : public runtime::SoundSource {
 public:
  // If `ends` is false, the source stays open after its last sample.
  explicit WholeSound(std::vector<float> samples, bool ends = true)
      : samples_(std::move(samples)), ends_(ends) {}
  size_t Read(float* samples, size_t most) override {
    const size_t count = std::min(most, samples_.size() - read_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(read_), count, samples);
    read_ += count;
    return count;
  }
  bool Ended(std::string*) override { return ends_ && read_ == samples_.size(); }

 private:
  const std::vector<float> samples_;
  const bool ends_;
  size_t read_ = 0;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_WHOLE_SOUND_H_
