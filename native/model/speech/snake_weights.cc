#include "model/speech/snake_weights.h"

#include <cmath>
#include <vector>

namespace parley::model {
namespace {

constexpr double kLeastBeta = 1e-9;  // of the architecture: no configuration has it

}  // namespace

SnakeWeights SnakeWeights::Load(Weights& weights, const NamedTensors& tensors) {
  std::vector<float> a = ToFloats(tensors["alpha"]), b = ToFloats(tensors["beta"]);
  for (float& value : a) value = static_cast<float>(std::exp(static_cast<double>(value)));
  for (float& value : b) value = static_cast<float>(1 / (std::exp(static_cast<double>(value)) + kLeastBeta));
  return {weights.Floats(a), weights.Floats(b)};
}

}  // namespace parley::model
