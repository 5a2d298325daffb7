// A block of the speaker encoder: parts of the channels, each convolved together with
// what came of the one before, then a gate per channel, from the mean over time.
#ifndef PARLEY_MODEL_RES2NET_BLOCK_H_
#define PARLEY_MODEL_RES2NET_BLOCK_H_

#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "model/speech/encoder_convolutions.h"
#include "model/shared/staged_work.h"

namespace parley::model {

class Res2NetBlock {
 public:
  // tensors: "blocks.N"; `parts` divides `channels`.
  Res2NetBlock(Weights& weights, const NamedTensors& tensors, size_t channels, size_t parts, size_t dilation);

  size_t MinRows() const { return convolutions_.front().MinRows(); }
  size_t WorkFloats(size_t rows) const;

  // To be done: x [rows, channels] += the gated block of it. work: WorkFloats(rows).
  void Plan(Kernels& kernels, float* x, size_t rows, float* work, StagedWork* stages) const;

 private:
  struct Work {
    Kernels* kernels;
    size_t rows;
    float *hidden, *joined, *part, *result, *padded, *mean, *gate, *squeezed;
  };
  Work Laid(Kernels& kernels, float* work, size_t rows) const;
  void PlanParts(const Work& work, StagedWork* stages) const;
  void PlanGate(const Work& work, StagedWork* stages) const;
  void Widen(const Work& work, const float* x, size_t first, size_t count) const;
  void Gather(const Work& work, size_t n, size_t first, size_t count) const;
  void Convolve(const Work& work, size_t n, size_t first, size_t count) const;
  void Gate(const Work& work) const;

  const size_t channels_, part_;  // part_: channels of a part
  const SameConvolution first_;
  std::vector<SameConvolution> convolutions_;  // of every part but the first
  const SameConvolution last_, squeeze_, excite_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RES2NET_BLOCK_H_
