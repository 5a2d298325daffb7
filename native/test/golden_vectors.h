// The golden checkpoints and vectors, and how they are compared.
#ifndef PARLEY_TEST_GOLDEN_VECTORS_H_
#define PARLEY_TEST_GOLDEN_VECTORS_H_

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "model/files/safetensors.h"
#include "model/speech/speech_checkpoint.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley::test {

inline std::unique_ptr<const model::SpeechCheckpoint> OpenGolden(const std::string& name) {
  return Opened(kGolden + "/" + name);
}

// One file of vectors.
class GoldenVectors {
 public:
  explicit GoldenVectors(const std::string& name, const std::string& folder = "vectors") {
    std::string problem;
    file_ = model::SafetensorsFile::Open(kGolden + "/" + folder + "/" + name + ".safetensors", &problem);
    CHECK_EQ(problem, "");
  }

  bool Has(const std::string& name) const { return file_->Find(name) != nullptr; }
  model::Shape ShapeOf(const std::string& name) const { return file_->Find(name)->shape; }

  template <class Number = float>
  std::vector<Number> Read(const std::string& name) const {
    const model::Tensor* const tensor = file_->Find(name);
    CHECK_EQ(tensor != nullptr ? "" : name, "");
    if (tensor == nullptr) return {};
    std::vector<Number> numbers(tensor->bytes / sizeof(Number));
    std::memcpy(numbers.data(), tensor->data, tensor->bytes);
    return numbers;
  }

  // [rows, columns] as [columns, rows].
  std::vector<float> ReadTransposed(const std::string& name) const {
    const auto rows = static_cast<size_t>(ShapeOf(name)[0]), columns = static_cast<size_t>(ShapeOf(name)[1]);
    const std::vector<float> values = Read(name);
    std::vector<float> turned(values.size());
    for (size_t i = 0; i < values.size(); i++) turned[i % columns * rows + i / columns] = values[i];
    return turned;
  }

 private:
  std::unique_ptr<const model::SafetensorsFile> file_;
};

// The largest difference, divided by the peak of what was wanted. Infinite for what cannot be compared.
inline double PeakError(const std::vector<float>& seen, const std::vector<float>& wanted) {
  if (seen.size() != wanted.size() || wanted.empty()) return INFINITY;
  double peak = 0, worst = 0;
  for (size_t i = 0; i < wanted.size(); i++) {
    if (!std::isfinite(seen[i])) return INFINITY;
    peak = std::max(peak, std::fabs(static_cast<double>(wanted[i])));
    worst = std::max(worst, std::fabs(static_cast<double>(wanted[i]) - seen[i]));
  }
  return peak > 0 ? worst / peak : INFINITY;
}

// RMS of the errors, relative to the RMS of the expected values.
inline double RmsError(const std::vector<float>& seen, const std::vector<float>& wanted) {
  if (seen.size() != wanted.size() || wanted.empty()) return INFINITY;
  double error = 0, power = 0;
  for (size_t i = 0; i < wanted.size(); i++) {
    const double difference = static_cast<double>(wanted[i]) - seen[i];
    error += difference * difference;
    power += static_cast<double>(wanted[i]) * wanted[i];
  }
  return std::isfinite(error) && power > 0 ? std::sqrt(error / power) : INFINITY;
}

// Checks the tolerance that golden/README.md sets for an engine in float32.
inline void CheckNear(const std::vector<float>& seen, const std::vector<float>& wanted,
                      const std::string& what, double tolerance = 2e-5) {
  const double error = PeakError(seen, wanted);
  CHECK_EQ(error <= tolerance ? "" : what + " is off by " + std::to_string(error) + " of the peak", "");
}

}  // namespace parley::test

#endif  // PARLEY_TEST_GOLDEN_VECTORS_H_
