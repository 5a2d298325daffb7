#include "model/speech/generation_config.h"

#include <string>

namespace parley::model {
namespace {

double RealOr(const ConfigReader& reader, const std::string& key, double least, double most, double otherwise) {
  return reader.Has(key) ? reader.Real(key, least, most) : otherwise;
}

void ReadDraw(const ConfigReader& reader, const std::string& prefix, const char* sample_key, DrawConfig* draw) {
  if (reader.Has(sample_key)) draw->sample = reader.Bool(sample_key);
  draw->temperature = RealOr(reader, prefix + "temperature", 1e-3, 100, draw->temperature);
  draw->top_k = reader.WholeOr(prefix + "top_k", 0, 1 << 20, draw->top_k);
  draw->top_p = RealOr(reader, prefix + "top_p", 1e-6, 1, draw->top_p);
}

}  // namespace

GenerationConfig ReadGenerationConfig(const ConfigReader& reader) {
  GenerationConfig config;
  ReadDraw(reader, "", "do_sample", &config.talker);
  ReadDraw(reader, "subtalker_", "subtalker_dosample", &config.predictor);
  config.repetition_penalty = RealOr(reader, "repetition_penalty", 1e-2, 100, config.repetition_penalty);
  config.max_new_tokens = reader.WholeOr("max_new_tokens", 1, 1 << 20, config.max_new_tokens);
  return config;
}

}  // namespace parley::model
