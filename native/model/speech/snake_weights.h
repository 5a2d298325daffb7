// SnakeBeta as the kernels take it; the file has alpha and beta as logarithms.
#ifndef PARLEY_MODEL_SNAKE_WEIGHTS_H_
#define PARLEY_MODEL_SNAKE_WEIGHTS_H_

#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"

namespace parley::model {

struct SnakeWeights {
  const float* a = nullptr;
  const float* b = nullptr;

  // "alpha" and "beta" of `tensors`.
  static SnakeWeights Load(Weights& weights, const NamedTensors& tensors);
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SNAKE_WEIGHTS_H_
