// A codebook of the codec, as its encoder and decoder both read it.
#ifndef PARLEY_MODEL_CODEBOOK_H_
#define PARLEY_MODEL_CODEBOOK_H_

#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"

namespace parley::model {

// [entries, width], f32 always: entry e is the mean of what it stood for in training, sums[e] / max(cluster_usage[e], 1e-5).
// `sums` is the tensor's name. Throws std::invalid_argument with that of the tensor whose entry is no number.
Matrix LoadCodebook(Weights& weights, const NamedTensors& codebook, const char* sums);

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODEBOOK_H_
