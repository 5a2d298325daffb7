// Random values for the tensors of a checkpoint, scaled by what each is for, so that activations stay
// near 1 through the whole model, nothing overflows, and the waveform neither vanishes nor clips.
//
// A value depends on the seed, the tensor's name and its place alone: not on the files around
// it, nor on how much is made at a time.
#ifndef PARLEY_TOOLS_RANDOM_WEIGHTS_H_
#define PARLEY_TOOLS_RANDOM_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "model/files/expected_tensor.h"

namespace parley::tools {

class RandomWeights {
 public:
  RandomWeights(uint64_t seed, const model::ExpectedTensor& tensor);

  // The next values in the order of the file. `count` is a multiple of four except at the end.
  void Next(float* values, size_t count);

  float mean() const { return mean_; }
  float deviation() const { return deviation_; }

 private:
  const uint64_t seed_;
  const uint64_t stream_;  // of the tensor
  uint64_t step_ = 0;      // four values each
  float mean_ = 0, deviation_ = 0;
};

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_RANDOM_WEIGHTS_H_
