// Lists of the tensors that the engine reads of each part of the model, made from the configuration. Other
// tensors of a file are ignored.
#ifndef PARLEY_MODEL_MODEL_TENSORS_H_
#define PARLEY_MODEL_MODEL_TENSORS_H_

#include <vector>

#include "model/files/tensor.h"
#include "model/speech/codec_config.h"
#include "model/speech/model_config.h"

namespace parley::model {

// Tensors of model.safetensors: talker, predictor and, if present, the speaker encoder. Published as BF16.
std::vector<ExpectedTensor> TensorsOf(const ModelConfig& config);

// Tensors of speech_tokenizer/model.safetensors: the decoder and, if configured, the encoder. Published as
// F32.
std::vector<ExpectedTensor> TensorsOf(const CodecConfig& config);

}  // namespace parley::model

#endif  // PARLEY_MODEL_MODEL_TENSORS_H_
