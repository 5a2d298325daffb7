// The configurations of published Pocket TTS models: a folder without YAML opens by its name.
#include "model/pocket/pocket_catalog.h"

#include <filesystem>
#include <string>

#include "model/files/safetensors.h"
#include "model/pocket/pocket_checkpoint.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley::test {
namespace {

using namespace model;

const std::string kCurrent = kGolden + "/pocket/tiny-current";

std::string MakeFolder(const TempFolder& folder, const std::string& name) {
  std::filesystem::create_directories(folder / name);
  return folder / name;
}

PocketConfig ConfigOf(const std::string& name) {
  const TempFolder folder;
  std::string problem;
  const auto config = ReadPocketFolder(MakeFolder(folder, "languages/" + name), &problem);
  CHECK_EQ(problem, "");
  return config.value_or(PocketConfig());
}

std::string ProblemOf(const std::string& directory) {
  std::string problem;
  CHECK(!ReadPocketFolder(directory, &problem));
  return problem;
}

size_t BytesOf(const std::vector<ExpectedTensor>& tensors) {
  size_t bytes = 0;
  for (const ExpectedTensor& tensor : tensors) {
    size_t count = 1;
    for (const int64_t size : tensor.shape) count *= static_cast<size_t>(size);
    bytes += 2 * count;
  }
  return bytes;
}

// The publisher's files have these numbers of tensors and bytes behind their headers.
void SizesAreThoseOfThePublishedFiles() {
  const std::tuple<const char*, size_t, size_t> kFiles[] = {
      {"english_2026-01", 213, 235'713'924}, {"english", 214, 219'004'292}, {"german", 214, 219'004'292},
      {"french_24l", 358, 672'136'580},      {"dutch", 214, 219'004'292},
  };
  for (const auto& [name, count, bytes] : kFiles) {
    const auto tensors = TensorsOf(ConfigOf(name), true);
    CHECK_EQ(tensors.size(), count);
    CHECK_EQ(BytesOf(tensors), bytes);
  }
}

void TheCodecAndTheRatesAreStatedWhole() {
  const PocketConfig config = ConfigOf("italian");
  CHECK_EQ(config.codec.sample_rate, 24'000);
  CHECK_EQ(config.codec.frame_samples, 1920);
  CHECK_EQ(config.codec.stride, 16);
  CHECK_EQ(config.codec.window, 250);
  CHECK_EQ(config.backbone.head_dim, 64);
  CHECK_EQ(config.backbone.rope_theta, 10'000.0);
  CHECK(!config.default_temperature.has_value());
}

std::string Prepared(const std::string& name, const std::string& text) {
  return PrepareText(text, ConfigOf(name).text).text;
}

void RulesOfTextsAreThoseOfEachModel() {
  CHECK_EQ(Prepared("english_2026-04", "it\u2019s; so"), "It's; so.");
  CHECK_EQ(Prepared("english", "it\u2018s"), "It's.");
  CHECK_EQ(Prepared("english_2026-09", "it\u2019s"), "It\u2019s.");
  CHECK_EQ(Prepared("english_2026-01", "hello"), "        Hello.");
  CHECK_EQ(Prepared("dutch", "\u201Eja\u201D (\u00ABnee\u00BB) [\"zo\u2019n\"]"), "Ja nee zo'n.");
  for (const char* const name : {"german", "german_24l", "french_24l"})
    CHECK_EQ(Prepared(name, "ja; nein"), "Ja, nein.");
  for (const char* const name : {"french", "italian", "spanish_24l", "portuguese"})
    CHECK_EQ(Prepared(name, "si; no"), "Si; no.");
  CHECK_EQ(ConfigOf("french_24l").text.recommended_frames_after_eos.value_or(0), size_t{8});
  CHECK(!ConfigOf("german_24l").text.recommended_frames_after_eos.has_value());
  CHECK_EQ(ConfigOf("english_2026-09").default_temperature.value_or(0), 0.3);
}

void TheNameIsThatOfTheFolderHoweverThePathIsWritten() {
  const TempFolder folder;
  const std::string german = MakeFolder(folder, "german");
  std::string problem;
  for (const std::string& path : {german + "/", german + "/.", german + "/../german"})
    CHECK(ReadPocketFolder(path, &problem).has_value());
  CHECK_EQ(problem, "");
}

void AFolderWithItsOwnYamlUsesThat() {
  const TempFolder folder;
  for (const char* const yaml : {"config.yaml", "german.yaml"}) {
    std::filesystem::remove_all(folder / "german");
    const std::string german = MakeFolder(folder, "german");
    for (const char* const name : {"tokenizer.model", "model.safetensors"})
      WriteAll(german + "/" + name, ReadAll(kCurrent + "/" + name));
    WriteAll(german + "/" + yaml, ReadAll(kCurrent + "/config.yaml"));
    std::string problem;
    const auto checkpoint = PocketCheckpoint::Open(german, &problem);
    CHECK_EQ(problem, "");
    CHECK_EQ(checkpoint == nullptr ? 0 : checkpoint->config().backbone.hidden, 64);
  }
  WriteAll(folder / "german/german.yaml", "flow_lm: [");
  CHECK_EQ(ProblemOf(folder / "german").find(folder / "german/german.yaml: line 1: "), size_t{0});
}

void FoldersWithoutAConfigurationAreRefusedByName() {
  const TempFolder folder;
  const std::string klingon = MakeFolder(folder, "klingon");
  const std::string wanted =
      klingon + ": there is no config.yaml, and no published model has the name \"klingon\": copy the " +
      "model's YAML there, or name the folder as one of english_2026-01, english, english_2026-04,";
  CHECK_EQ(ProblemOf(klingon).substr(0, wanted.size()), wanted);
  const std::string phonon = MakeFolder(folder, "phonon-31m-en");
  CHECK_EQ(ProblemOf(phonon),
           phonon + ": Phonon has another backbone and flow head, which no engine here runs");
  const std::string drifting = MakeFolder(folder, "english_drifting_26_09");
  CHECK_EQ(ProblemOf(drifting),
           drifting + ": its flow type is \"drifting\"; \"lsd\" is the only one supported");
}

void TensorsOfOtherGraphsAreRefusedByName() {
  const TempFolder folder;
  for (const char* const name : {"config.yaml", "tokenizer.model"})
    WriteAll(folder / name, ReadAll(kCurrent + "/" + name));
  std::string problem;
  const auto original = TensorSet::Open(kCurrent, &problem);
  SafetensorsParts parts;
  for (const Tensor* const tensor : original->tensors()) parts.Add(*tensor);
  parts.Add("flow_lm.voice_lut.embed.weight", Dtype::kF32, {1}, std::string(4, '\0'));
  WriteAll(folder / "model.safetensors", parts.File());
  CHECK(PocketCheckpoint::Open(folder.path(), &problem) == nullptr);
  CHECK_EQ(problem, folder / "model.safetensors: tensor \"flow_lm.voice_lut.embed.weight\" belongs to a " +
                        "graph that is not supported");
}

}  // namespace

TEST_GROUP(pocket_catalog) {
  return Run({
      {"sizes are those of the published files", SizesAreThoseOfThePublishedFiles},
      {"the codec and the rates are stated whole", TheCodecAndTheRatesAreStatedWhole},
      {"rules of texts are those of each model", RulesOfTextsAreThoseOfEachModel},
      {"the name is that of the folder however the path is written",
       TheNameIsThatOfTheFolderHoweverThePathIsWritten},
      {"a folder with its own YAML uses that", AFolderWithItsOwnYamlUsesThat},
      {"folders without a configuration are refused by name", FoldersWithoutAConfigurationAreRefusedByName},
      {"tensors of other graphs are refused by name", TensorsOfOtherGraphsAreRefusedByName},
  });
}

}  // namespace parley::test
