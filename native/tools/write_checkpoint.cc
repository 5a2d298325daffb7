// Writes a checkpoint of random weights in the published layout: for benches and tests, since real
// weights cannot be part of the project.
//
// `write_checkpoint --help` tells its options.
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "tools/checkpoint_writer.h"
#include "tools/options.h"
#include "tools/pocket_writer.h"
#include "tools/recognition_writer.h"

namespace parley::tools {
namespace {

constexpr const char* kUsage =
    "write_checkpoint --size 0.6b|1.7b|tiny --type custom_voice|voice_design|base|asr|aligner --out DIR\n"
    "write_checkpoint --size 100m|336m|tiny --type pocket --out DIR\n"
    "                 [--seed N] [--shards K] [--dtype bf16|f16|f32] [--codec-dtype f32|f16|bf16]\n";

model::ModelType TypeNamed(const std::string& name) {
  for (const auto type :
       {model::ModelType::kCustomVoice, model::ModelType::kVoiceDesign, model::ModelType::kBase}) {
    if (name == model::NameOf(type)) return type;
  }
  throw std::invalid_argument("the type is custom_voice, voice_design, base, asr, aligner or pocket, not \"" +
                              name + "\"");
}

model::Dtype DtypeNamed(const Options& options, const std::string& option, model::Dtype published) {
  if (!options.Has(option)) return published;
  const std::string name = options.Required(option);
  if (name == "bf16") return model::Dtype::kBf16;
  if (name == "f16") return model::Dtype::kF16;
  if (name == "f32") return model::Dtype::kF32;
  throw std::invalid_argument("--" + option + " is bf16, f16 or f32, not \"" + name + "\"");
}

std::string Described(const std::vector<model::ExpectedTensor>& tensors) {
  char text[64];
  std::snprintf(text, sizeof text, "%zu tensors of %.1f MB", tensors.size(),
                static_cast<double>(BytesOf(tensors)) / 1e6);
  return text;
}

// Returns what was written.
std::string WriteRecognition(const Options& options, const std::string& directory, const WriteOptions& how) {
  if (options.Has("codec-dtype")) throw std::invalid_argument("a recogniser has no codec");
  const auto kind = options.Required("type") == "asr" ? model::RecognitionKind::kRecogniser
                                                      : model::RecognitionKind::kAligner;
  const RecognitionSizes sizes = RecognitionSizesNamed(options.Required("size"), kind);
  WriteCheckpoint(sizes, directory, how);
  return Described(PlanOf(sizes, how.dtypes.model).tensors);
}

std::string WriteSpeech(const Options& options, const std::string& directory, const WriteOptions& how) {
  const CheckpointSizes sizes = SizesNamed(options.Required("size"), TypeNamed(options.Required("type")));
  WriteCheckpoint(sizes, directory, how);
  const CheckpointPlan plan = PlanOf(sizes, how.dtypes);
  return Described(plan.model) + ", codec " + Described(plan.codec);
}

std::string WritePocket(const Options& options, const std::string& directory, const WriteOptions& how) {
  if (options.Has("codec-dtype")) throw std::invalid_argument("the codec of Pocket TTS is in the one file");
  const PocketSizes sizes = PocketSizesNamed(options.Required("size"));
  WriteCheckpoint(sizes, directory, how);
  return Described(PlanOf(sizes, how.dtypes.model).tensors);
}

std::string WriteKind(const Options& options, const std::string& directory, const WriteOptions& how) {
  const std::string type = options.Required("type");
  if (type == "pocket") return WritePocket(options, directory, how);
  if (type == "asr" || type == "aligner") return WriteRecognition(options, directory, how);
  return WriteSpeech(options, directory, how);
}

void Write(const Options& options) {
  if (!options.positional().empty())
    throw std::invalid_argument("what is \"" + options.positional().front() + "\"?");
  const std::string directory = options.Required("out");
  WriteOptions how;
  how.seed = options.Whole("seed", 0, UINT64_MAX, 1);
  how.shards = options.Whole("shards", 1, 1000, 1);
  how.dtypes = {DtypeNamed(options, "dtype", how.dtypes.model),
                DtypeNamed(options, "codec-dtype", how.dtypes.codec)};
  const auto start = std::chrono::steady_clock::now();
  const std::string written = WriteKind(options, directory, how);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  std::printf("%s: %s, in %.1f s\n", directory.c_str(), written.c_str(), elapsed.count());
}

}  // namespace
}  // namespace parley::tools

int main(int count, char** arguments) {
  if (parley::tools::AsksForHelp(count, arguments)) return std::fputs(parley::tools::kUsage, stdout) < 0;
  try {
    parley::tools::Write(
        {count, arguments, {"size", "type", "out", "seed", "shards", "dtype", "codec-dtype"}});
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "write_checkpoint: %s (write_checkpoint --help)\n", problem.what());
    return 1;
  }
}
