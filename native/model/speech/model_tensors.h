// The tensors that the engine reads of each part of the model, as lists made
// from the configuration. What a file holds beyond them is left alone.
#ifndef PARLEY_MODEL_MODEL_TENSORS_H_
#define PARLEY_MODEL_MODEL_TENSORS_H_

#include <vector>

#include "model/files/tensor.h"
#include "model/speech/codec_config.h"
#include "model/speech/model_config.h"

namespace parley::model {

// Of model.safetensors: talker, predictor and, where there is one, the speaker encoder.
// Published as BF16.
std::vector<ExpectedTensor> TensorsOf(const ModelConfig& config);

// Of speech_tokenizer/model.safetensors: the decoder and, where the
// configuration has it, the encoder. Published as F32.
std::vector<ExpectedTensor> TensorsOf(const CodecConfig& config);

}  // namespace parley::model

#endif  // PARLEY_MODEL_MODEL_TENSORS_H_
