// Measures what number formats change of a Pocket TTS model of full size: signal-to-noise ratios against the
// same model in float32, with its own latents fed to all of them. Write a checkpoint first:
//
//   write_checkpoint --type pocket --size 100m --out /tmp/pocket && pocket_precision_bench /tmp/pocket
#include <cstdio>
#include <stdexcept>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "model/pocket/pocket_model.h"
#include "test/forced_pocket.h"

namespace parley {
namespace {

using namespace model;
using test::ForcedPocket;
using test::PocketFormats;
using test::PocketScript;
using test::SignalToNoise;

constexpr size_t kSteps = 100;
constexpr const char* kText = "Please hold the line, your call is important to us.";

// Speaks for kSteps frames in float32, whenever the model says that speech has ended.
PocketScript ScriptOf(SpeechKernels& kernels, const PocketCheckpoint& checkpoint, const PocketVoice& voice) {
  PocketModel model(kernels, checkpoint);
  TextChunk chunk = ChunksOf(kText, checkpoint.pieces(), checkpoint.config().text).front();
  chunk.max_frames = chunk.earliest_end = kSteps;
  const auto noise = std::make_shared<DrawnNoise>(0.3f, 1, 0);
  const auto stream = model.BeginStream(*model.LoadVoice(voice), PocketStream::PositionsOf(chunk));
  stream->BeginChunk(chunk, noise);
  PocketStream* const streams[] = {stream.get()};
  model.Prefill(streams, 1);
  PocketScript script{chunk.ids, {}, {}};
  const size_t latent = model.latent();
  script.noise.resize(kSteps * latent);
  script.latents.resize(kSteps * latent);
  for (size_t n = 0; n < kSteps; n++) {
    LatentResult result;
    noise->Draw(n, script.noise.data() + n * latent, latent);
    model.Step(streams, 1, &result, script.latents.data() + n * latent);
    if (result != LatentResult::kFrame) throw std::runtime_error("the model computed what is not a number");
  }
  return script;
}

int Measure(const std::string& directory) {
  std::string problem;
  const auto checkpoint = PocketCheckpoint::Open(directory, &problem);
  if (checkpoint == nullptr) throw std::invalid_argument(problem);
  const auto voice =
      PocketVoice::Open(directory + "/embeddings/alba.safetensors", checkpoint->config().backbone, &problem);
  if (voice == nullptr) throw std::invalid_argument(problem);
  cpu::ThreadPoolOptions threads;
  threads.threads = 2;
  cpu::CpuKernels kernels(threads);
  const PocketScript script = ScriptOf(kernels, *checkpoint, *voice);
  const auto run = [&](const PocketFormats& formats) {
    return test::Force(kernels, *checkpoint, Activation::kGeluTanh, formats, *voice, script);
  };
  const ForcedPocket exact = run({});
  const struct {
    const char* name;
    PocketFormats formats;
  } rows[] = {{"keys and values f16", {std::nullopt, std::nullopt, Format::kF16}},
              {"keys and values bf16", {std::nullopt, std::nullopt, Format::kBf16}},
              {"backbone int8", {Format::kInt8, std::nullopt, Format::kF32}},
              {"codec transformer int8", {std::nullopt, Format::kInt8, Format::kF32}},
              {"both int8, f16", {Format::kInt8, Format::kInt8, Format::kF16}}};
  std::printf("%s, %zu frames, dB\n\n%-24s %8s %8s %8s\n", kernels.Name(), kSteps, "", "hidden", "latents",
              "audio");
  for (const auto& [name, formats] : rows) {
    const ForcedPocket seen = run(formats);
    std::printf("%-24s %8.1f %8.1f %8.1f\n", name, SignalToNoise(seen.hidden, exact.hidden),
                SignalToNoise(seen.latents, exact.latents), SignalToNoise(seen.audio, exact.audio));
  }
  return 0;
}

}  // namespace
}  // namespace parley

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "pocket_precision_bench DIR\n"), 1;
  try {
    return parley::Measure(arguments[1]);
  } catch (const std::exception& problem) {
    return std::fprintf(stderr, "pocket_precision_bench: %s\n", problem.what()), 1;
  }
}
