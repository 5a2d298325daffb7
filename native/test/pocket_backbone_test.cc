// The backbone of Pocket TTS against the official package's vectors, and voices and checkpoints that are
// damaged or belong to another model.
#include "model/pocket/backbone.h"

#include <cmath>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "model/pocket/pocket_voice.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using namespace model;

constexpr double kTolerance = 2e-5;  // relative to the peak

const std::string kPocket = kGolden + "/pocket";

std::unique_ptr<const PocketCheckpoint> CheckpointOf(const std::string& model) {
  std::string problem;
  auto checkpoint = PocketCheckpoint::Open(kPocket + "/" + model, &problem);
  CHECK_EQ(problem, "");
  return checkpoint;
}

struct Opened {
  std::unique_ptr<const PocketCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<Backbone> backbone;

  Opened(const std::string& model, Activation activation)
      : checkpoint(CheckpointOf(model)), kernels(MakeKernels(cpu::ChooseVariant(), 2)) {
    backbone = std::make_unique<Backbone>(*kernels, *checkpoint, activation);
  }

  std::unique_ptr<KvState> StateOf(const std::string& voice, Format format = Format::kF32) const {
    std::string problem;
    const auto read = PocketVoice::Open(voice, checkpoint->config().backbone, &problem);
    CHECK_EQ(problem, "");
    auto state = backbone->NewState(200, format);
    read->CopyTo(*kernels, state.get());
    return state;
  }
};

using Values = std::vector<float>;

Values Copied(const float* values, size_t count) { return Values(values, values + count); }

// Speaks a recorded generation with its latents: the text, then step by step.
void CheckGeneration(const std::string& model, const std::string& name, Activation activation,
                     const std::string& voice) {
  const Opened opened(model, activation);
  const GoldenVectors golden(model + "__gen_" + name, "pocket");
  const auto state = opened.StateOf(kPocket + "/" + model + "/embeddings/" + voice + ".safetensors");
  const size_t width = opened.backbone->width();
  const auto ids = golden.Read<int32_t>("c0_ids");
  const Transformer::Stream stream{state.get(), ids.size()};
  const float* const text = opened.backbone->AppendText(&stream, 1, ids);
  CHECK(PeakError(Copied(text, ids.size() * width), golden.Read("c0_text_hidden")) < kTolerance);
  const auto steps = static_cast<size_t>(golden.ShapeOf("c0_latents")[0]),
             latent = static_cast<size_t>(golden.ShapeOf("c0_latents")[1]);
  const Values latents = golden.Read("c0_latents");
  Values hidden(steps * width), eos(steps);
  KvState* const states[] = {state.get()};
  for (size_t n = 0; n < steps; n++) {
    const float* const before = n == 0 ? opened.backbone->BosLatent() : latents.data() + (n - 1) * latent;
    opened.backbone->Step(states, 1, before, hidden.data() + n * width, &eos[n]);
  }
  CHECK(PeakError(hidden, golden.Read("c0_hidden")) < kTolerance);
  CHECK(PeakError(eos, golden.Read("c0_eos")) < kTolerance);
}

void GenerationsAreThoseOfThePackage() {
  CheckGeneration("tiny-current", "short", Activation::kGeluTanh, "mono24k");
  CheckGeneration("tiny-current", "short", Activation::kGeluTanh, "mono24k_old_form");
  CheckGeneration("tiny-current", "erf", Activation::kGelu, "mono24k");
  CheckGeneration("tiny-first", "short", Activation::kGelu, "mono24k");
}

void RowsOfAVoiceBecomeItsPublishedState() {
  const Opened opened("tiny-current", Activation::kGeluTanh);
  const GoldenVectors golden("tiny-current__voice_tiny24k", "pocket");
  Values rows = golden.Read("layer_in");
  const size_t count = rows.size() / opened.backbone->width();
  const auto made = opened.backbone->NewState(200, Format::kF32);
  opened.backbone->Append(made.get(), rows.data(), count);
  CHECK(PeakError(rows, golden.Read("hidden")) < kTolerance);
  const auto read = opened.StateOf(kPocket + "/tiny-current/embeddings/tiny24k.safetensors");
  CHECK_EQ(made->position(), read->position());
  const KvLayout& layout = made->layout();
  const size_t floats = count * layout.heads * layout.head_dim;
  for (size_t n = 0; n < 6; n++) {
    const auto array = [&](const KvState& state) {
      const auto* const memory = static_cast<const uint8_t*>(state.memory());
      return Copied(reinterpret_cast<const float*>(memory + n * layout.ArrayBytes(state.capacity())), floats);
    };
    CHECK(PeakError(array(*made), array(*read)) < kTolerance);
  }
}

// Two streams that stand at different places.
void BatchedIsAlone() {
  const Opened opened("tiny-current", Activation::kGeluTanh);
  const std::string folder = kPocket + "/tiny-current/embeddings/";
  const size_t width = opened.backbone->width();
  const Values latents = RandomFloats(24, 7);
  Values together(2 * width), alone(2 * width), eos(4);
  const auto first = opened.StateOf(folder + "mono24k.safetensors"),
             second = opened.StateOf(folder + "stereo16k.safetensors");
  const auto first_again = opened.StateOf(folder + "mono24k.safetensors"),
             second_again = opened.StateOf(folder + "stereo16k.safetensors");
  KvState* const both[] = {first.get(), second.get()};
  opened.backbone->Step(both, 2, latents.data(), together.data(), eos.data());
  KvState* const ones[] = {first_again.get(), second_again.get()};
  for (size_t n = 0; n < 2; n++)
    opened.backbone->Step(ones + n, 1, latents.data() + n * 12, alone.data() + n * width, &eos[2 + n]);
  CHECK(together == alone);
  CHECK(eos[0] == eos[2] && eos[1] == eos[3]);
}

std::string ProblemOfVoice(const std::string& path, const std::string& model) {
  std::string problem;
  CHECK(PocketVoice::Open(path, CheckpointOf(model)->config().backbone, &problem) == nullptr);
  CHECK(problem.find(path) == 0);
  return problem;
}

// The problem of a file whose names or shapes do not fit; empty for one that fits.
std::string MisfitOf(const std::string& path, const std::string& model) {
  std::string problem;
  const bool fits = PocketVoice::Fits(path, CheckpointOf(model)->config().backbone, &problem);
  CHECK_EQ(fits, problem.empty());
  return problem;
}

void VoicesOfOtherModelsAreRefused() {
  const std::string voice = kPocket + "/tiny-current/embeddings/mono24k.safetensors";
  CHECK(ProblemOfVoice(voice, "tiny-first").find("this may be a voice of another model") !=
        std::string::npos);
  CHECK(ProblemOfVoice(kPocket + "/tiny-current/model.safetensors", "tiny-current")
            .find("transformer.layers.0.self_attn/offset: expected one integer") != std::string::npos);
  ProblemOfVoice(kPocket + "/missing.safetensors", "tiny-current");
}

void MisfitsAreFoundWithoutTheNumbers() {
  const std::string voices = kPocket + "/tiny-current/embeddings/",
                    rows = kPocket + "/tiny-first/embeddings/";
  CHECK_EQ(MisfitOf(voices + "mono24k.safetensors", "tiny-current"), "");
  CHECK_EQ(MisfitOf(rows + "mono24k_old_form.safetensors", "tiny-first"), "");
  for (const std::string& path : {voices + "mono24k.safetensors", rows + "missing.safetensors"})
    CHECK_EQ(MisfitOf(path, "tiny-first"), ProblemOfVoice(path, "tiny-first"));
  const std::string other = rows + "mono24k_old_form.safetensors";
  CHECK_EQ(MisfitOf(other, "tiny-current"), ProblemOfVoice(other, "tiny-current"));
}

void DamagedVoicesAreRefused() {
  const TempFolder folder;
  const std::string path = folder / "voice.safetensors";
  const std::string whole = ReadAll(kPocket + "/tiny-current/embeddings/tiny24k.safetensors");
  for (size_t length = 0; length < whole.size(); length += 61) {
    WriteAll(path, whole.substr(0, length));
    ProblemOfVoice(path, "tiny-current");
  }
  std::string problem;
  const auto file = SafetensorsFile::Open(kPocket + "/tiny-current/embeddings/tiny24k.safetensors", &problem);
  const Tensor* const cache = file->Find("transformer.layers.1.self_attn/cache");
  const size_t at = whole.find(std::string(reinterpret_cast<const char*>(cache->data), cache->bytes));
  std::string damaged = whole;
  const float bad = NAN;
  std::memcpy(&damaged[at + 4 * sizeof(bad)], &bad, sizeof(bad));
  WriteAll(path, damaged);
  CHECK_EQ(ProblemOfVoice(path, "tiny-current"),
           path + ": transformer.layers.1.self_attn/cache: expected finite numbers");
}

void AVoiceNeedsRoom() {
  const Opened opened("tiny-current", Activation::kGeluTanh);
  std::string problem;
  const auto voice = PocketVoice::Open(kPocket + "/tiny-current/embeddings/mono24k.safetensors",
                                       opened.checkpoint->config().backbone, &problem);
  CHECK_EQ(voice->positions(), size_t{17});
  const auto small = opened.backbone->NewState(16, Format::kF32);
  std::string refusal;
  try {
    voice->CopyTo(*opened.kernels, small.get());
  } catch (const std::length_error& error) {
    refusal = error.what();
  }
  CHECK_EQ(refusal, "a state has no room for the voice");
}

void CheckpointsThatDoNotFitAreRefused() {
  const TempFolder folder;
  for (const char* const name : {"config.yaml", "tokenizer.model", "model.safetensors"})
    WriteAll(folder / name, ReadAll(kPocket + "/tiny-current/" + name));
  std::string problem;
  const auto open = [&] { return PocketCheckpoint::Open(folder.path(), &problem); };
  CHECK(open() != nullptr);
  CHECK(open()->clones());
  WriteAll(folder / "tokenizer.model", ReadAll(kPocket + "/tiny-first/tokenizer.model"));
  CHECK(open() == nullptr);
  CHECK_EQ(
      problem,
      folder / "tokenizer.model: expected 499 pieces, as the configuration has them (n_bins), found 521");
  WriteAll(folder / "tokenizer.model", ReadAll(kPocket + "/tiny-current/tokenizer.model"));
  std::string yaml = ReadAll(kPocket + "/tiny-current/config.yaml");
  yaml.replace(yaml.find("num_layers: 3"), 13, "num_layers: 2");
  WriteAll(folder / "config.yaml", yaml);
  CHECK(open() == nullptr);
  CHECK(problem.find("layers.2") != std::string::npos);
  WriteAll(folder / "config.yaml", ReadAll(kPocket + "/tiny-current/config.yaml"));
  WriteAll(folder / "model.safetensors", ReadAll(kPocket + "/tiny-first/model.safetensors"));
  CHECK(open() == nullptr);
  CHECK(problem.find(folder / "model.safetensors") == 0);
}

}  // namespace

TEST_GROUP(pocket_backbone) {
  return Run({
      {"generations are those of the package", GenerationsAreThoseOfThePackage},
      {"rows of a voice become its published state", RowsOfAVoiceBecomeItsPublishedState},
      {"batched is alone", BatchedIsAlone},
      {"voices of other models are refused", VoicesOfOtherModelsAreRefused},
      {"misfits are found without the numbers", MisfitsAreFoundWithoutTheNumbers},
      {"damaged voices are refused", DamagedVoicesAreRefused},
      {"a voice needs room", AVoiceNeedsRoom},
      {"checkpoints that do not fit are refused", CheckpointsThatDoNotFitAreRefused},
  });
}

}  // namespace parley::test
