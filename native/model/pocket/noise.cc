#include "model/pocket/noise.h"

#include <cmath>
#include <stdexcept>

#include "kernels/sampling.h"

namespace parley::model {
namespace {

constexpr double kTurn = 6.283185307179586;

double DeviationOf(float temperature) {
  if (!(temperature >= 0 && temperature <= DrawnNoise::kMaxTemperature))
    throw std::invalid_argument("temperature must be 0 to 100, not " + std::to_string(temperature));
  return std::sqrt(static_cast<double>(temperature));
}

}  // namespace

DrawnNoise::DrawnNoise(float temperature, uint64_t seed, uint32_t sequence)
    : deviation_(DeviationOf(temperature)), seed_(seed), sequence_(sequence) {}

// Two numbers of each pair of draws (Box and Muller, 1958).
void DrawnNoise::Draw(size_t step, float* x, size_t count) const {
  const auto unit = [&](size_t place) {
    return UnitOf({seed_, uint64_t{sequence_} << 32 | static_cast<uint32_t>(place), step});
  };
  for (size_t n = 0; n < count; n += 2) {
    const double radius = deviation_ * std::sqrt(-2 * std::log(1 - unit(n))), angle = kTurn * unit(n + 1);
    x[n] = static_cast<float>(radius * std::cos(angle));
    if (n + 1 < count) x[n + 1] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace parley::model
