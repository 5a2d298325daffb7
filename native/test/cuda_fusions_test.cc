// A whole model with each fusion of the CUDA backend gives the sound that it gives without it, bit by bit: the trial that an engine makes when it loads,
// on the emulator, or on the GPU where PARLEY_CUDA_FILE names the backend.
#include <string>
#include <utility>
#include <vector>

#include "runtime/fusion_trial.h"
#include "runtime/qwen_frame_model.h"
#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/golden_cases.h"

namespace parley::test {
namespace {

using namespace runtime;

void EachGivesTheSoundThatIsHeardWithoutIt() {
  QwenFrameModel::Parts parts;
  parts.codec = parts.cache = Format::kBf16;
  std::string problem;
  const auto model = QwenFrameModel::Open(kGolden + "/tiny-customvoice", parts, size_t{1} << 30, MakeBackend(false), &problem);
  CHECK_EQ(problem, "");
  const std::vector<TriedFusion> tried = TryFusions(*model, {{1}, 3}, 1);
  CHECK_EQ(tried.size(), cuda::kFusedCount);
  for (const TriedFusion& one : tried) {
    CHECK_EQ(one.times.size(), 1u);
    CHECK(one.is_right);
  }
  for (size_t n = 0; n < tried.size(); n++) CHECK_EQ(model->Fusions()[n].on, tried[n].facts.on);
}

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({{"each gives the sound that is heard without it", EachGivesTheSoundThatIsHeardWithoutIt}});
}
