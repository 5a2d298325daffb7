// Attentive statistics pooling: mean and deviation over time, where each channel
// weighs the moments by an attention of its own.
#ifndef PARLEY_MODEL_ATTENTIVE_STATISTICS_H_
#define PARLEY_MODEL_ATTENTIVE_STATISTICS_H_

#include <cstddef>

#include "kernels/kernels.h"
#include "model/speech/encoder_convolutions.h"
#include "model/shared/staged_work.h"

namespace parley::model {

class AttentiveStatistics {
 public:
  // tensors: "asp".
  AttentiveStatistics(Weights& weights, const NamedTensors& tensors, size_t channels);

  size_t WorkFloats(size_t rows) const;

  // To be done: statistics [2 * channels], the means, then the deviations. work: WorkFloats(rows).
  void Plan(Kernels& kernels, const float* x, size_t rows, float* work, float* statistics, StagedWork* stages) const;

 private:
  struct Work {
    Kernels* kernels;
    const float* x;
    size_t rows;
    float *bias, *inner, *attention, *statistics;
  };
  void Attend(const Work& work, size_t first, size_t count) const;
  void Weigh(const Work& work, size_t first, size_t count) const;
  void TakeStatistics(const Work& work, const float* weights, size_t first, size_t count) const;

  const size_t channels_;
  // The attention sees [x, mean, deviation], the same mean and deviation at all times: their share
  // of the product is computed once, as a bias.
  Matrix of_x_, of_statistics_;
  const float* bias_;
  const SameConvolution scores_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_ATTENTIVE_STATISTICS_H_
