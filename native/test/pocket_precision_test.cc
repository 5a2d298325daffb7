// Measures what cheaper number formats of Pocket TTS change, as signal-to-noise ratios against the model in
// float32. bench/pocket_precision_bench.cc has the same of models of full size, which lose less.
#include <cstdio>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "test/forced_pocket.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

const std::string kPocket = kGolden + "/pocket";
constexpr const char* kModels[] = {"tiny-current", "tiny-first"};

ForcedPocket Forced(const std::string& model, const PocketFormats& formats) {
  const auto kernels = MakeKernels(cpu::ChooseVariant(), 2);
  std::string problem;
  const auto checkpoint = PocketCheckpoint::Open(kPocket + "/" + model, &problem);
  CHECK_EQ(problem, "");
  const auto voice = PocketVoice::Open(kPocket + "/" + model + "/embeddings/mono24k.safetensors",
                                       checkpoint->config().backbone, &problem);
  CHECK_EQ(problem, "");
  const GoldenVectors golden(model + "__gen_short", "pocket");
  const PocketScript script{golden.Read<int32_t>("c0_ids"), golden.Read("c0_noise"),
                            golden.Read("c0_latents")};
  const Activation gelu = model == "tiny-first" ? Activation::kGelu : Activation::kGeluTanh;
  return Force(*kernels, *checkpoint, gelu, formats, *voice, script);
}

// dB; infinite where a format changes nothing.
struct Least {
  double hidden, latents, audio;
};

void CheckChange(const PocketFormats& formats, const Least& least) {
  for (const char* const model : kModels) {
    const ForcedPocket exact = Forced(model, {}), seen = Forced(model, formats);
    const double hidden = SignalToNoise(seen.hidden, exact.hidden),
                 latents = SignalToNoise(seen.latents, exact.latents),
                 audio = SignalToNoise(seen.audio, exact.audio);
    std::printf("       %s: hidden %.1f dB, latents %.1f dB, audio %.1f dB\n", model, hidden, latents, audio);
    CHECK(hidden >= least.hidden);
    CHECK(latents >= least.latents);
    CHECK(audio >= least.audio);
  }
}

void KeysAndValuesOfF16ChangeLittle() {
  CheckChange({std::nullopt, std::nullopt, Format::kF16}, {65, 65, 70});
}
void ABackboneOfInt8ChangesLittle() {
  CheckChange({Format::kInt8, std::nullopt, Format::kF32}, {32, 32, INFINITY});
}
void ACodecTransformerOfInt8ChangesLittle() {
  CheckChange({std::nullopt, Format::kInt8, Format::kF32}, {INFINITY, INFINITY, 40});
}
void AllOfThemTogetherChangeNoMore() {
  CheckChange({Format::kInt8, Format::kInt8, Format::kF16}, {32, 32, 40});
}

// The matrices of the layers are most of the backbone: bf16 of the file becomes half of it, plus a scale for
// each row.
void Int8TakesFewerBytes() {
  const auto kernels = MakeKernels(cpu::ChooseVariant(), 1);
  std::string problem;
  const auto checkpoint = PocketCheckpoint::Open(kPocket + "/tiny-current", &problem);
  const Backbone whole(*kernels, *checkpoint, Activation::kGeluTanh);
  const Backbone less(*kernels, *checkpoint, Activation::kGeluTanh, Format::kInt8);
  CHECK(less.WeightBytes() < whole.WeightBytes() * 3 / 4);
  const LatentDecoder decoder(*kernels, *checkpoint, Activation::kGeluTanh);
  const LatentDecoder smaller(*kernels, *checkpoint, Activation::kGeluTanh, std::nullopt, Format::kF16);
  CHECK(smaller.StateBytes() < decoder.StateBytes() * 3 / 4);
}

}  // namespace

TEST_GROUP(pocket_precision) {
  return Run({
      {"keys and values of f16 change little", KeysAndValuesOfF16ChangeLittle},
      {"a backbone of int8 changes little", ABackboneOfInt8ChangesLittle},
      {"a codec transformer of int8 changes little", ACodecTransformerOfInt8ChangesLittle},
      {"all of them together change no more", AllOfThemTogetherChangeNoMore},
      {"int8 takes fewer bytes", Int8TakesFewerBytes},
  });
}

}  // namespace parley::test
