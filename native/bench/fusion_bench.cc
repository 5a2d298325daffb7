// What each fusion of the CUDA backend saves of a frame, on this GPU: the trial that an engine makes when it loads, as a table.
//
//   fusion_bench <parley_cuda.so> <directory of a checkpoint> [streams: 1,2,3,8,16] [weights: none|int8|int8-talker|fp8]
//
// Each fusion is added to those before it that proved themselves, and its sound is compared bit by bit with the sound without it: the bench
// fails where that is another. Milliseconds of a frame, talker to samples, the best of twelve at most.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/weights_option.h"
#include "kernels/cuda/plugin.h"
#include "runtime/fusion_trial.h"
#include "runtime/qwen_frame_model.h"

namespace parley::bench {
namespace {

using namespace runtime;

std::vector<size_t> SizesIn(const std::string& list) {
  std::vector<size_t> sizes;
  std::istringstream in(list);
  for (std::string size; std::getline(in, size, ',');) sizes.push_back(static_cast<size_t>(std::atoi(size.c_str())));
  if (sizes.empty() || std::count(sizes.begin(), sizes.end(), size_t{0}) > 0) throw std::runtime_error("streams are numbers with commas between");
  return sizes;
}

std::unique_ptr<FrameModel> Load(const std::string& file, const std::string& directory, model::Quantize quantize) {
  std::string problem;
  auto kernels = cuda::OpenPlugin(file, {}, &problem);
  if (kernels == nullptr) throw std::runtime_error(problem);
  std::printf("%s\n\n", kernels->Name());
  QwenFrameModel::Parts parts;
  parts.quantize = quantize;
  parts.codec = parts.cache = Format::kBf16;
  const size_t memory = kernels->Figures().memory_free;
  auto model = QwenFrameModel::Open(directory, parts, memory, std::move(kernels), &problem);
  if (model == nullptr) throw std::runtime_error(problem);
  return model;
}

void Say(const std::vector<TriedFusion>& tried) {
  std::printf("| fusion | streams | without it | with it | saved us | |\n| --- | --- | --- | --- | --- | --- |\n");
  for (const TriedFusion& one : tried) {
    for (const auto& [streams, without_ms, with_ms] : one.times) {
      std::printf("| %s | %zu | %.3f | %.3f | %.0f | %s |\n", one.facts.name.c_str(), streams, without_ms, with_ms, 1e3 * (without_ms - with_ms),
                  one.facts.why.c_str());
    }
    if (one.times.empty()) std::printf("| %s | | | | | %s |\n", one.facts.name.c_str(), one.facts.why.c_str());
  }
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  using namespace parley::bench;
  if (count < 3) return std::fprintf(stderr, "fusion_bench <parley_cuda.so> <directory> [streams] [none|int8|int8-talker|fp8]\n"), 2;
  try {
    const std::vector<size_t> sizes = SizesIn(count > 3 ? arguments[3] : "1,2,3,8,16");
    auto quantize = parley::model::Quantize::kNone;
    if (count > 4 && !ReadQuantize(arguments[4], &quantize)) throw std::runtime_error("weights are none, int8, int8-talker or fp8");
    const auto model = Load(arguments[1], arguments[2], quantize);
    const std::vector<TriedFusion> tried = TryFusions(*model, {sizes, kMostWarmFrames, Clock::now}, *std::max_element(sizes.begin(), sizes.end()));
    Say(tried);
    const bool all_tried = std::all_of(tried.begin(), tried.end(), [](const TriedFusion& one) { return !one.times.empty(); });
    const bool is_right = std::all_of(tried.begin(), tried.end(), [](const TriedFusion& one) { return one.is_right; });
    if (!all_tried || !is_right) std::fprintf(stderr, "fusion_bench: %s\n", is_right ? "a fusion was not tried" : "a fusion is wrong");
    return all_tried && is_right ? 0 : 1;
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "fusion_bench: %s\n", error.what()), 1;
  }
}
