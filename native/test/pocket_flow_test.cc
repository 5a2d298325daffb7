// The flow net of Pocket TTS against the official package's vectors.
#include "model/pocket/flow_net.h"

#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

constexpr double kTolerance = 2e-5;  // relative to the peak
constexpr const char* kModels[] = {"tiny-current", "tiny-first"};

std::unique_ptr<const PocketCheckpoint> CheckpointOf(const std::string& model) {
  std::string problem;
  auto checkpoint = PocketCheckpoint::Open(kGolden + "/pocket/" + model, &problem);
  CHECK_EQ(problem, "");
  return checkpoint;
}

void NoiseBecomesTheLatentsOfThePackage() {
  const auto kernels = MakeKernels(cpu::ChooseVariant(), 2);
  for (const char* const model : kModels) {
    const auto checkpoint = CheckpointOf(model);
    const GoldenVectors golden(std::string(model) + "__flow", "pocket");
    const auto hidden = golden.Read("c"), noise = golden.Read("x");
    for (const size_t steps : {1, 2, 5}) {
      auto x = noise;
      FlowNet(*kernels, *checkpoint, steps).Sample(hidden.data(), 5, x.data());
      CHECK(PeakError(x, golden.Read("decode" + std::to_string(steps))) < kTolerance);
    }
  }
}

void GenerationsHaveTheirLatents() {
  const auto kernels = MakeKernels(cpu::ChooseVariant(), 2);
  for (const char* const model : kModels) {
    const auto checkpoint = CheckpointOf(model);
    const GoldenVectors golden(std::string(model) + "__gen_short", "pocket");
    const auto hidden = golden.Read("c0_hidden");
    auto x = golden.Read("c0_noise");
    const auto count = static_cast<size_t>(golden.ShapeOf("c0_noise")[0]);
    FlowNet(*kernels, *checkpoint).Sample(hidden.data(), count, x.data());
    CHECK(PeakError(x, golden.Read("c0_latents")) < kTolerance);
  }
}

void BatchedIsAlone() {
  const auto kernels = MakeKernels(cpu::ChooseVariant(), 2);
  const auto checkpoint = CheckpointOf("tiny-current");
  FlowNet net(*kernels, *checkpoint, 2);
  const auto hidden = RandomFloats(size_t{7} * 64, 1);
  auto together = RandomFloats(size_t{7} * 12, 2), alone = together;
  net.Sample(hidden.data(), 7, together.data());
  for (size_t n = 0; n < 7; n++) net.Sample(hidden.data() + n * 64, 1, alone.data() + n * 12);
  CHECK(together == alone);
}

void StepsHaveALimit() {
  const auto kernels = MakeKernels(cpu::ChooseVariant(), 1);
  const auto checkpoint = CheckpointOf("tiny-current");
  for (const size_t steps : {size_t{0}, FlowNet::kMaxSteps + 1}) {
    CHECK_EQ(RefusalOf([&] { FlowNet(*kernels, *checkpoint, steps); }),
             "a latent takes 1 to 64 steps, not " + std::to_string(steps));
  }
}

}  // namespace

TEST_GROUP(pocket_flow) {
  return Run({
      {"noise becomes the latents of the package", NoiseBecomesTheLatentsOfThePackage},
      {"generations have their latents", GenerationsHaveTheirLatents},
      {"batched is alone", BatchedIsAlone},
      {"steps have a limit", StepsHaveALimit},
  });
}

}  // namespace parley::test
