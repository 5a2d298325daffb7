// The noise that the flow net makes a latent of: drawn, or as a caller recorded it.
#ifndef PARLEY_MODEL_POCKET_NOISE_H_
#define PARLEY_MODEL_POCKET_NOISE_H_

#include <cstddef>
#include <cstdint>

namespace parley::model {

class Noise {
 public:
  virtual ~Noise() = default;
  // x [count]: the noise of this step of a chunk. The same step has the same noise each time.
  virtual void Draw(size_t step, float* x, size_t count) const = 0;
};

// A normal distribution whose variance is the temperature. A seed, a sequence and a step give the same
// numbers on every machine whose library rounds logarithm and cosine alike.
class DrawnNoise final : public Noise {
 public:
  static constexpr float kMaxTemperature = 100;

  // `sequence`: of the seed, such as the number of the chunk. Throws std::invalid_argument for a temperature
  // that is not between 0 and kMaxTemperature.
  DrawnNoise(float temperature, uint64_t seed, uint32_t sequence);

  void Draw(size_t step, float* x, size_t count) const override;

 private:
  const double deviation_;
  const uint64_t seed_;
  const uint32_t sequence_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_NOISE_H_
