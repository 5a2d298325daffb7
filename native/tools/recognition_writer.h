// Plans and writes a checkpoint directory of random weights that model::RecognitionCheckpoint opens.
#ifndef PARLEY_TOOLS_RECOGNITION_WRITER_H_
#define PARLEY_TOOLS_RECOGNITION_WRITER_H_

#include <string>
#include <vector>

#include "model/files/tensor.h"
#include "model/recognition/recognition_config.h"
#include "tools/checkpoint_writer.h"

namespace parley::tools {

struct RecognitionSizes {
  model::RecognitionConfig config;  // its ids are those of the vocabulary below
  int64_t text_entries = 0;         // of the vocabulary, without added tokens
};

// "0.6b", "1.7b" (recogniser alone) or "tiny". Throws std::invalid_argument for others.
RecognitionSizes RecognitionSizesNamed(const std::string& size, model::RecognitionKind kind);

struct RecognitionPlan {
  std::string model_config, generation_config, preprocessor_config, tokenizer_config;  // the files' text
  std::vector<model::ExpectedTensor> tensors;                                          // by name
};

// The tensors that the engine reads, and the stored copy of a tied head, which the published files hold.
RecognitionPlan PlanOf(const RecognitionSizes& sizes, model::Dtype dtype = model::Dtype::kBf16);

// As WriteCheckpoint of checkpoint_writer.h.
void WriteCheckpoint(const RecognitionSizes& sizes, const std::string& directory,
                     const WriteOptions& options);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_RECOGNITION_WRITER_H_
