// Shows what the stages of a network compute: for tests against the golden vectors,
// and to find where two backends part.
#ifndef PARLEY_MODEL_TAP_H_
#define PARLEY_MODEL_TAP_H_

#include <cstddef>
#include <functional>
#include <string>

namespace parley::model {

// Callback for intermediate results: a stage, named after its tensors, and its result [rows, channels] in the
// backend's memory. The result is valid until the tap returns. Stages computed in pieces are shown in pieces.
using Tap = std::function<void(const std::string& stage, const float* values, size_t rows, size_t channels)>;

inline void Show(const Tap& tap, const std::string& stage, const float* values, size_t rows,
                 size_t channels) {
  if (tap) tap(stage, values, rows, channels);
}

}  // namespace parley::model

#endif  // PARLEY_MODEL_TAP_H_
