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

namespace parley::tools {
namespace {

constexpr const char* kUsage =
    "write_checkpoint --size 0.6b|1.7b|tiny --type custom_voice|voice_design|base --out DIR\n"
    "                 [--seed N] [--shards K] [--dtype bf16|f16|f32] [--codec-dtype f32|f16|bf16]\n";

model::ModelType TypeNamed(const std::string& name) {
  for (const auto type :
       {model::ModelType::kCustomVoice, model::ModelType::kVoiceDesign, model::ModelType::kBase}) {
    if (name == model::NameOf(type)) return type;
  }
  throw std::invalid_argument("the type is custom_voice, voice_design or base, not \"" + name + "\"");
}

model::Dtype DtypeNamed(const Options& options, const std::string& option, model::Dtype published) {
  if (!options.Has(option)) return published;
  const std::string name = options.Required(option);
  if (name == "bf16") return model::Dtype::kBf16;
  if (name == "f16") return model::Dtype::kF16;
  if (name == "f32") return model::Dtype::kF32;
  throw std::invalid_argument("--" + option + " is bf16, f16 or f32, not \"" + name + "\"");
}

void Write(const Options& options) {
  if (!options.positional().empty())
    throw std::invalid_argument("what is \"" + options.positional().front() + "\"?");
  const CheckpointSizes sizes = SizesNamed(options.Required("size"), TypeNamed(options.Required("type")));
  const std::string directory = options.Required("out");
  WriteOptions how;
  how.seed = options.Whole("seed", 0, UINT64_MAX, 1);
  how.shards = options.Whole("shards", 1, 1000, 1);
  how.dtypes = {DtypeNamed(options, "dtype", how.dtypes.model),
                DtypeNamed(options, "codec-dtype", how.dtypes.codec)};
  const auto start = std::chrono::steady_clock::now();
  WriteCheckpoint(sizes, directory, how);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const CheckpointPlan plan = PlanOf(sizes, how.dtypes);
  std::printf("%s: %zu tensors of %.1f MB, codec %zu of %.1f MB, in %.1f s\n", directory.c_str(),
              plan.model.size(), static_cast<double>(BytesOf(plan.model)) / 1e6, plan.codec.size(),
              static_cast<double>(BytesOf(plan.codec)) / 1e6, elapsed.count());
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
