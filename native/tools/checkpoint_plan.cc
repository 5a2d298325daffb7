#include "tools/checkpoint_plan.h"

#include <algorithm>
#include <stdexcept>

#include "model/speech/model_tensors.h"
#include "tools/checkpoint_configs.h"

namespace parley::tools {
namespace {

using model::ExpectedTensor;
using model::ExpectedTensors;

// `read` takes a ConfigReader and gives the configuration.
template <class Read>
auto Validated(const char* file, const std::string& text, Read read) {
  std::string problem;
  const auto document = model::JsonDocument::Parse(text, &problem);
  if (!document) throw std::invalid_argument(std::string(file) + ": " + problem);
  auto config = read(model::ConfigReader(file, document->root(), &problem));
  if (!problem.empty()) throw std::invalid_argument(problem);
  return config;
}

// Tensors of the published file that the engine does not read: projections that only training needs, and the
// codebooks' initialisation flags.
void AddUnread(const model::CodecConfig& config, std::vector<ExpectedTensor>* list) {
  const ExpectedTensors all(model::Dtype::kF32, list);
  const model::CodecDecoderConfig& d = config.decoder;
  for (const char* const half : {"rvq_first", "rvq_rest"}) {
    all.Under("decoder.quantizer")
        .Under(half)
        .Add("input_proj.weight", {d.table_width(), d.codebook_width, 1});
  }
  const model::CodecEncoderConfig& e = *config.encoder;
  for (const bool semantic : {true, false}) {
    const ExpectedTensors half =
        all.Under("encoder.quantizer")
            .Under(semantic ? "semantic_residual_vector_quantizer" : "acoustic_residual_vector_quantizer");
    half.Add("output_proj.weight", {e.transformer.hidden, e.codebook_width, 1});
    for (int64_t n = 0; n < (semantic ? 1 : e.quantizers - 1); n++) {
      half.Under("layers", n).Add("codebook.initialized", {1});
    }
  }
}

void Finish(model::Dtype dtype, std::vector<ExpectedTensor>* list) {
  for (ExpectedTensor& tensor : *list) tensor.dtype = dtype;
  std::sort(list->begin(), list->end(),
            [](const ExpectedTensor& a, const ExpectedTensor& b) { return a.name < b.name; });
}

}  // namespace

CheckpointPlan PlanOf(const CheckpointSizes& sizes, const CheckpointDtypes& dtypes) {
  CheckpointPlan plan;
  plan.model_config = ModelConfigJson(sizes);
  plan.codec_config = CodecConfigJson(sizes);
  plan.generation_config = GenerationConfigJson();
  plan.tokenizer_config = TokenizerConfigJson(sizes);
  if (sizes.text_vocabulary < sizes.text_entries + static_cast<int64_t>(kAddedTokens)) {
    throw std::invalid_argument(
        "the text embedding has fewer rows than the vocabulary has entries and added tokens");
  }
  plan.model = TensorsOf(Validated("config.json", plan.model_config, model::ReadModelConfig));
  model::CodecConfig codec =
      Validated("speech_tokenizer/config.json", plan.codec_config,
                [](const model::ConfigReader& reader) { return model::ReadCodecConfig(reader, true); });
  codec.encoder->quantizers = sizes.encoder.quantizers;  // the file's, not only those in use
  plan.codec = TensorsOf(codec);
  AddUnread(codec, &plan.codec);
  Finish(dtypes.model, &plan.model);
  Finish(dtypes.codec, &plan.codec);
  return plan;
}

uint64_t BytesOf(const ExpectedTensor& tensor) {
  uint64_t bytes = model::FactsOf(tensor.dtype).bytes;
  for (const int64_t size : tensor.shape) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

uint64_t BytesOf(const std::vector<ExpectedTensor>& tensors) {
  uint64_t bytes = 0;
  for (const ExpectedTensor& tensor : tensors) bytes += BytesOf(tensor);
  return bytes;
}

}  // namespace parley::tools
