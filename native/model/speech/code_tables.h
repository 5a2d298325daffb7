// The codebooks of the codec: codes to the vectors that they stand for.
#ifndef PARLEY_MODEL_CODE_TABLES_H_
#define PARLEY_MODEL_CODE_TABLES_H_

#include <vector>

#include "model/speech/codec_config.h"
#include "model/shared/layer_weights.h"
#include "model/shared/weights.h"

namespace parley::model {

// z = first projection of table 0's row + rest projection of the sum of the other tables' rows.
// Tables (LoadCodebook) and their sum are f32 always.
class CodeTables {
 public:
  // "rvq_first" and "rvq_rest" of `tensors`.
  CodeTables(Weights& weights, const NamedTensors& tensors, const CodecDecoderConfig& config, Format format);

  size_t quantizers() const { return tables_.size(); }
  size_t entries() const { return tables_.front().rows; }
  size_t width() const { return first_.rows; }         // of z
  size_t table_width() const { return first_.columns; }

  // codes: [frames, quantizers] in the backend's memory, each below entries(). z [frames, width()]; sums:
  // room for frames * table_width().
  void Sum(Kernels& kernels, const int32_t* codes, size_t frames, float* sums, float* z);

 private:
  std::vector<Matrix> tables_;
  Matrix first_, rest_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODE_TABLES_H_
