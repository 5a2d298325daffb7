// Loads the layers of Pocket TTS's transformers: the backbone, and those of the codec.
#ifndef PARLEY_MODEL_POCKET_POCKET_LAYERS_H_
#define PARLEY_MODEL_POCKET_POCKET_LAYERS_H_

#include <optional>
#include <vector>

#include "model/files/named_tensors.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"

namespace parley::model {

// The model rotates neighbouring numbers of a head, (2i, 2i + 1); the kernels rotate (i, i + head_dim / 2).
// So the rows of q and k are put in another order when they are loaded, even ones first. Scores are sums over
// a head, which its order does not change. Keys of a file are put in the same order.
//
// From the order of the model to that of the kernels, rows [count, heads, head_dim] of `width` numbers each.
std::vector<float> EvenFirst(const std::vector<float>& rows, size_t head_dim, size_t width);

// "layers.0", "layers.1", ... of `tensors`; the four matrices of a layer in `format`, or without one as the
// file has them. `scaled`: with LayerScale.
std::vector<LayerWeights> LoadPocketLayers(Weights& weights, const NamedTensors& tensors,
                                           const TransformerConfig& config, bool scaled,
                                           Activation activation,
                                           std::optional<Format> format = std::nullopt);

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_LAYERS_H_
