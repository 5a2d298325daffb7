// Compares voices that are made of sound with those of the official package: the encoder of the codec, the
// rows, and the keys and values that the backbone makes of them.
#include <cmath>
#include <map>

#include "model/pocket/pocket_layers.h"
#include "model/pocket/pocket_model.h"
#include "model/pocket/pocket_voice_encoder.h"
#include "test/check.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"
#include "test/pocket_copy.h"

namespace parley::test {
namespace {

using namespace model;
using Values = std::vector<float>;

constexpr double kTolerance = 2e-5;  // of a tensor's peak
constexpr size_t kColumns = 2500;  // the vectors hold only so many of the longest stages, from the beginning

std::unique_ptr<const PocketCheckpoint> CheckpointOf(const std::string& model) {
  std::string problem;
  auto checkpoint = PocketCheckpoint::Open(kGolden + "/pocket/" + model, &problem);
  CHECK_EQ(problem, "");
  return checkpoint;
}

// Output of the stages, with the pieces joined.
class Stages {
 public:
  explicit Stages(SpeechKernels& kernels) : kernels_(kernels) {}

  Tap ToTap() {
    return [this](const std::string& stage, const float* values, size_t rows, size_t channels) {
      Values& all = all_[stage];
      all.resize(all.size() + rows * channels);
      kernels_.Download(all.data() + all.size() - rows * channels, values, rows * channels * sizeof(float));
      kernels_.Wait();
    };
  }
  // As long as `wanted`, which may have the beginning alone.
  Values First(const std::string& stage, size_t wanted, bool is_cut) {
    Values values = all_[stage];
    if (is_cut && values.size() > wanted) values.resize(wanted);
    return values;
  }

 private:
  SpeechKernels& kernels_;
  std::map<std::string, Values> all_;
};

struct Clip {
  const char* model;
  const char* name;
  Activation activation;
};

const Clip kClips[] = {
    {"tiny-current", "tiny24k", Activation::kGeluTanh},
    {"tiny-current", "stereo16k", Activation::kGeluTanh},
    {"tiny-first", "mono44k", Activation::kGelu},
};

GoldenVectors VectorsOf(const Clip& clip) {
  return GoldenVectors(std::string(clip.model) + "__voice_" + clip.name, "pocket");
}

PocketModelOptions OptionsOf(const Clip& clip) {
  PocketModelOptions options;
  options.activation = clip.activation;
  return options;
}

void CheckStages(Stages& stages, const GoldenVectors& golden) {
  for (const char* const place : {"0", "1", "3", "4", "6"}) {
    const std::string name = std::string("enc") + place;
    const Values wanted = golden.ReadTransposed(name);
    const bool is_cut = golden.ShapeOf(name)[1] == kColumns;
    CHECK(PeakError(stages.First(std::string("model.") + place, wanted.size(), is_cut), wanted) < kTolerance);
  }
  const Values heard = golden.Read("enc_layer1"), latents = golden.ReadTransposed("enc_down");
  CHECK(PeakError(stages.First("encoder_transformer", heard.size(), false), heard) < kTolerance);
  CHECK(PeakError(stages.First("downsample", latents.size(), false), latents) < kTolerance);
}

// Keys and values of each layer, as the vectors have them.
void CheckState(const KvState& state, const GoldenVectors& golden) {
  const KvLayout& layout = state.layout();
  const size_t floats = static_cast<size_t>(state.position()) * layout.heads * layout.head_dim;
  for (size_t n = 0; golden.Has("transformer.layers." + std::to_string(n) + ".self_attn/cache"); n++) {
    const Values both = golden.Read("transformer.layers." + std::to_string(n) + ".self_attn/cache");
    const auto begin = both.begin() + static_cast<ptrdiff_t>(floats);
    const Values keys = EvenFirst({both.begin(), begin}, layout.head_dim, 1), values(begin, both.end());
    const auto* const memory = static_cast<const uint8_t*>(state.memory());
    const auto array = [&](size_t which) {
      const size_t at = (2 * n + which) * layout.ArrayBytes(state.capacity());
      const auto* const first = reinterpret_cast<const float*>(memory + at);
      return Values(first, first + floats);
    };
    CHECK(PeakError(array(0), keys) < kTolerance);
    CHECK(PeakError(array(1), values) < kTolerance);
  }
}

void VoicesOfSoundAreThoseOfThePackage() {
  for (const Clip& clip : kClips) {
    const auto checkpoint = CheckpointOf(clip.model);
    const GoldenVectors golden = VectorsOf(clip);
    for (const cpu::Variant* const variant : Variants()) {
      const auto kernels = MakeKernels(*variant, 2);
      PocketVoiceEncoder encoder(*kernels, *checkpoint, clip.activation);
      Stages stages(*kernels);
      encoder.SetTap(stages.ToTap());
      const Values wav = golden.Read("wav");
      PocketVoiceEncoder::Run run(encoder, wav);
      while (run.Advance()) continue;
      CheckStages(stages, golden);
      CHECK(PeakError(run.rows(), golden.Read("layer_in")) < kTolerance);
      PocketModel speech(*kernels, *checkpoint, OptionsOf(clip));
      const size_t positions = encoder.PositionsOf(wav.size());
      const auto voice = speech.NewVoice(positions);
      speech.AppendVoice(voice.get(), run.rows().data(), positions);
      CheckState(*voice, golden);
    }
  }
}

// The backbone reads the rows in parts, too: the first, the next two, and the rest.
void AVoiceDoesNotDependOnItsPieces() {
  const auto checkpoint = CheckpointOf("tiny-current");
  const auto kernels = MakeKernels(*Variants().back(), 2);
  const Values wav = VectorsOf(kClips[1]).Read("wav");
  Values whole;
  for (const size_t frames : {100, 1, 2, 3}) {
    PocketVoiceEncoder encoder(*kernels, *checkpoint, Activation::kGeluTanh, frames);
    PocketVoiceEncoder::Run run(encoder, wav);
    while (run.Advance()) continue;
    if (whole.empty()) whole = run.rows();
    CHECK(run.rows() == whole);
  }
  PocketModel speech(*kernels, *checkpoint);
  const size_t width = speech.backbone().width(), positions = whole.size() / width;
  const auto at_once = speech.NewVoice(positions), in_parts = speech.NewVoice(positions);
  speech.AppendVoice(at_once.get(), whole.data(), positions);
  size_t done = 0;
  for (const size_t rows : {size_t{1}, size_t{2}, positions - 3}) {
    speech.AppendVoice(in_parts.get(), whole.data() + done * width, rows);
    done += rows;
  }
  const size_t bytes = speech.StreamBytes(positions);
  CHECK_EQ(in_parts->position(), at_once->position());
  CHECK(std::memcmp(at_once->memory(), in_parts->memory(), bytes) == 0);
}

void RecordingsAreResampledAsByThePackage() {
  const GoldenVectors golden("resample", "pocket");
  for (const uint32_t rate : {8000u, 16'000u, 22'050u, 44'100u, 48'000u}) {
    const Values samples = golden.Read("in_" + std::to_string(rate)),
                 wanted = golden.Read("out_" + std::to_string(rate));
    Resampling resampling(samples, rate, 24'000, kPolyphaseFilter);
    resampling.Advance(resampling.count());
    CHECK_EQ(resampling.count(), wanted.size());
    double worst = 0;
    for (size_t n = 0; n < std::min(wanted.size(), resampling.count()); n++)
      worst = std::max(worst, std::fabs(static_cast<double>(wanted[n]) - resampling.result()[n]));
    CHECK(worst < 1e-6);
  }
}

void AModelWithoutTheEncoderIsRefused() {
  const TempFolder folder;
  CopyPocket("tiny-current", folder.path(), false);
  DropEncoder(folder.path());
  std::string problem;
  const auto checkpoint = PocketCheckpoint::Open(folder.path(), &problem);
  CHECK_EQ(problem, "");
  CHECK(!checkpoint->clones());
  const auto kernels = MakeKernels(*Variants().back(), 1);
  std::string refusal;
  try {
    const PocketVoiceEncoder encoder(*kernels, *checkpoint, Activation::kGeluTanh);
  } catch (const std::invalid_argument& error) {
    refusal = error.what();
  }
  CHECK_EQ(refusal, "the checkpoint has no encoder of recordings");
}

}  // namespace

TEST_GROUP(pocket_voice) {
  return Run({
      {"voices of sound are those of the package", VoicesOfSoundAreThoseOfThePackage},
      {"a voice does not depend on its pieces", AVoiceDoesNotDependOnItsPieces},
      {"recordings are resampled as by the package", RecordingsAreResampledAsByThePackage},
      {"a model without the encoder is refused", AModelWithoutTheEncoderIsRefused},
  });
}

}  // namespace parley::test
