// The codebooks of the codec: codes to the vectors that they stand for.
#ifndef PARLEY_MODEL_CODEBOOKS_H_
#define PARLEY_MODEL_CODEBOOKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"
#include "model/speech/model_config.h"

namespace parley::model {

// Vectors to codes: the nearest row of each codebook is subtracted before the next codebook is searched.
// Two quantizers, each with a projection of its own: the semantic one of a single codebook, and the acoustic
// one. The second starts from the same vector, not from what the first left over.
class ResidualQuantizer {
 public:
  // tensors: "quantizer"; `codebooks` of both together are used.
  ResidualQuantizer(SpeechKernels& kernels, Weights& weights, const NamedTensors& tensors, size_t codebooks);

  size_t codebooks() const { return tables_.size(); }
  size_t WorkBytes(size_t rows) const { return rows * semantic_.rows * sizeof(float); }

  // x [rows, the projections' columns]; codes [rows, codebooks] on the host.
  void Encode(const float* x, size_t rows, int32_t* codes);

 private:
  SpeechKernels& kernels_;
  const Matrix semantic_, acoustic_;  // the projections
  std::vector<Matrix> tables_;        // f32; the first is the semantic one
  Workspace work_;
  std::vector<int32_t> ids_;
};

// Loads a codebook that the codec's encoder and decoder share: [entries, width], f32 always: entry e is the
// mean of what it stood for in training, sums[e] / max(cluster_usage[e], 1e-5). `sums` is the tensor's name.
// Throws std::invalid_argument with that of the tensor whose entry is no number.
Matrix LoadCodebook(Weights& weights, const NamedTensors& codebook, const char* sums);

// z = first projection of table 0's row + rest projection of the sum of the other tables' rows.
// Tables (LoadCodebook) and their sum are f32 always.
class CodeTables {
 public:
  // "rvq_first" and "rvq_rest" of `tensors`.
  CodeTables(Weights& weights, const NamedTensors& tensors, const CodecDecoderConfig& config, Format format);

  size_t quantizers() const { return tables_.size(); }
  size_t entries() const { return tables_.front().rows; }
  size_t width() const { return first_.rows; }  // z's
  size_t table_width() const { return first_.columns; }

  // codes: [frames, quantizers] in the backend's memory, each below entries(). z [frames, width()]; sums:
  // room for frames * table_width().
  void Sum(SpeechKernels& kernels, const int32_t* codes, size_t frames, float* sums, float* z);

 private:
  std::vector<Matrix> tables_;
  Matrix first_, rest_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODEBOOKS_H_
