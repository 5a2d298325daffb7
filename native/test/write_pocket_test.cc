// Models of Pocket TTS that are made for benches and tests: of the published sizes to the byte, opened by the
// engine, and the same for the same seed.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "kernels/cpu/cpu_kernels.h"
#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/pocket/pocket_voice.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "tools/pocket_writer.h"

namespace parley {
namespace {

using namespace model;
using namespace tools;
using test::RefusalOf;
using test::TempFolder;

std::unique_ptr<const PocketCheckpoint> OpenedFrom(const std::string& folder) {
  std::string problem;
  auto checkpoint = PocketCheckpoint::Open(folder, &problem);
  CHECK_EQ(problem, "");
  return checkpoint;
}

void PublishedSizesAreMetToTheByte() {
  const PocketPlan small = PlanOf(PocketSizesNamed("100m")), large = PlanOf(PocketSizesNamed("336m"));
  CHECK_EQ(small.tensors.size(), size_t{214});
  CHECK_EQ(BytesOf(small.tensors), uint64_t{219'004'292});
  CHECK_EQ(large.tensors.size(), size_t{358});
  CHECK_EQ(BytesOf(large.tensors), uint64_t{672'136'580});
}

void WhatIsWrittenOpensWithItsVoices() {
  TempFolder folder;
  WriteCheckpoint(PocketSizesNamed("tiny"), folder.path(), {});
  const auto checkpoint = OpenedFrom(folder.path());
  CHECK(checkpoint->clones());
  size_t voices = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "embeddings")) {
    std::string problem;
    const auto voice = PocketVoice::Open(entry.path(), checkpoint->config().backbone, &problem);
    CHECK_EQ(problem, "");
    CHECK_EQ(voice->positions(), size_t{12});
    voices++;
  }
  CHECK_EQ(voices, size_t{4});
}

// About as many as the published tokenizers need.
void AnIdOfTheFullTokenizerStandsForAboutThreeLetters() {
  TempFolder folder;
  PocketSizes sizes = PocketSizesNamed("tiny");
  sizes.pieces = PocketSizesNamed("100m").pieces;
  WriteCheckpoint(sizes, folder.path(), {});
  const std::string text = "Good morning, this is the service desk. Which of your orders may I look for?";
  const auto ids = OpenedFrom(folder.path())->pieces().Encode(text);
  CHECK(ids.size() * 2 < text.size());
  CHECK(ids.size() * 5 > text.size());
  for (const int32_t id : ids) CHECK(id >= 4 + 256);  // none is a byte
}

void TheSoundIsNeitherSilentNorOverFullScale() {
  TempFolder folder;
  WriteCheckpoint(PocketSizesNamed("100m"), folder.path(), {});
  const auto checkpoint = OpenedFrom(folder.path());
  cpu::CpuKernels kernels({});
  LatentDecoder decoder(kernels, *checkpoint, Activation::kGeluTanh);
  constexpr size_t kFrames = 4;
  std::vector<float> latents(kFrames * static_cast<size_t>(checkpoint->config().latent));
  for (size_t n = 0; n < latents.size(); n++) latents[n] = std::sin(static_cast<float>(n * n));
  std::vector<float> samples(kFrames * decoder.frame_samples());
  const auto state = decoder.NewState();
  const LatentDecoder::Job job = {state.get(), latents.data(), kFrames, samples.data()};
  decoder.Decode(&job, 1);
  float peak = 0;
  for (const float sample : samples) peak = std::max(peak, std::fabs(sample));
  CHECK(peak > 0.05f);
  CHECK(peak < 1.0f);
}

void ASeedGivesTheSameFile() {
  TempFolder one, same, other;
  const PocketSizes tiny = PocketSizesNamed("tiny");
  WriteOptions seeded;
  seeded.seed = 7;
  WriteCheckpoint(tiny, one.path(), seeded);
  WriteCheckpoint(tiny, same.path(), seeded);
  WriteCheckpoint(tiny, other.path(), {});
  const auto a = OpenedFrom(one.path()), b = OpenedFrom(same.path()), c = OpenedFrom(other.path());
  const char* const name = "flow_lm.input_linear.weight";
  const Tensor &x = a->tensors()[name], &y = b->tensors()[name], &z = c->tensors()[name];
  CHECK_EQ(std::memcmp(x.data, y.data, x.bytes), 0);
  CHECK(std::memcmp(x.data, z.data, x.bytes) != 0);
}

void WhatCannotBeIsRefused() {
  TempFolder folder;
  const PocketSizes tiny = PocketSizesNamed("tiny");
  CHECK_EQ(RefusalOf([] { PocketSizesNamed("0.6b"); }),
           "the size of a model of Pocket TTS is 100m, 336m or tiny, not \"0.6b\"");
  PocketSizes few = tiny;
  few.pieces = 300;
  CHECK_EQ(RefusalOf([&] { PlanOf(few); }), "a tokenizer has at least 355 pieces");
  CHECK_EQ(RefusalOf([&] { WriteCheckpoint(tiny, folder.path(), {1, 2, {}}); }),
           "a model of Pocket TTS is one file");
  WriteCheckpoint(tiny, folder.path(), {});
  CHECK(RefusalOf([&] { WriteCheckpoint(tiny, folder.path(), {}); }).find("holds a checkpoint already") !=
        std::string::npos);
}

}  // namespace
}  // namespace parley

TEST_GROUP(write_pocket) {
  return parley::test::Run({
      {"published sizes are met to the byte", parley::PublishedSizesAreMetToTheByte},
      {"what is written opens with its voices", parley::WhatIsWrittenOpensWithItsVoices},
      {"an id of the full tokenizer stands for about three letters",
       parley::AnIdOfTheFullTokenizerStandsForAboutThreeLetters},
      {"the sound is neither silent nor over full scale", parley::TheSoundIsNeitherSilentNorOverFullScale},
      {"a seed gives the same file", parley::ASeedGivesTheSameFile},
      {"what cannot be is refused", parley::WhatCannotBeIsRefused},
  });
}
