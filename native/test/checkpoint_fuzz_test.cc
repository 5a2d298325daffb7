// Broken files of checkpoints, made from whole ones by a seed: flipped, cut,
// spliced, with absurd numbers. Each must be refused with a text or be good to
// use; the sanitizers say whether anything else happened.
#include "media/random.h"
#include "model/files/safetensors.h"
#include "model/speech/model_config.h"
#include "model/speech/speech_checkpoint.h"
#include "model/text/tokenizer.h"
#include "model/text/unicode.h"
#include "test/broken_files.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "test/fuzz_run.h"

namespace parley {
namespace {

using namespace model;
using test::Broken;
using test::WithExact;

constexpr size_t kFiles = 100;  // per episode
constexpr size_t kParts = 24;   // a part is two seconds where memory is watched

// Walks all that was read.
size_t Count(Json value) {
  size_t count = 1 + value.text().size() + value.key().size();
  for (Json child = value.first(); child.present(); child = child.next()) count += Count(child);
  return count;
}

// `use` reads a configuration and makes what follows from it.
template <class Use>
size_t BreakConfigs(const std::string& path, uint64_t seed, Use use) {
  Random random(seed);
  const std::string whole = test::ReadAll(test::kGolden + path);
  for (size_t n = 0; n < kFiles; n++) {
    WithExact(Broken(whole, random), [&](std::string_view text) {
      std::string problem;
      const auto document = JsonDocument::Parse(text, &problem);
      CHECK_EQ(document == nullptr, !problem.empty());
      if (!document) return;
      CHECK(Count(document->root()) > 0);
      use(ConfigReader("config.json", document->root(), &problem), &problem);
    });
  }
  return kFiles;
}

size_t BreakModelConfigs(uint64_t seed) {
  return BreakConfigs("/tiny-base/config.json", seed, [](const ConfigReader& reader, std::string* problem) {
    const ModelConfig config = ReadModelConfig(reader);
    if (problem->empty()) CHECK(TensorsOf(config).size() > 100);
  });
}

size_t BreakCodecConfigs(uint64_t seed) {
  return BreakConfigs("/tiny-base/speech_tokenizer/config.json", seed,
                      [](const ConfigReader& reader, std::string* problem) {
                        const CodecConfig config = ReadCodecConfig(reader, true);
                        if (problem->empty()) CHECK(TensorsOf(config).size() > 50);
                      });
}

size_t BreakGenerationConfigs(uint64_t seed) {
  return BreakConfigs("/tiny-base/generation_config.json", seed,
                      [](const ConfigReader& reader, std::string* problem) {
                        const GenerationConfig config = ReadGenerationConfig(reader);
                        if (problem->empty())
                          CHECK(config.talker.temperature > 0 && config.max_new_tokens > 0);
                      });
}

size_t BreakSafetensors(uint64_t seed) {
  Random random(seed);
  const test::TempFolder folder;
  const std::string path = folder / "x.safetensors";
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"c":{"dtype":"U8","shape":[0],"data_offsets":[32,32]}} )";
  for (size_t n = 0; n < kFiles; n++) {
    // Half of the time only the header is broken, under a length that is right.
    const bool inside = random.Next() % 2 == 0;
    const std::string file = inside ? test::SafetensorsOf(Broken(header, random), 32)
                                    : Broken(test::SafetensorsOf(header, 32), random);
    test::WriteAll(path, file);
    std::string problem;
    const auto opened = SafetensorsFile::Open(path, &problem);
    CHECK_EQ(opened == nullptr, !problem.empty());
    size_t bytes = 0, sum = 0;
    for (const Tensor& tensor : opened ? opened->tensors() : std::vector<Tensor>()) {
      bytes += tensor.bytes;
      for (size_t at = 0; at < tensor.bytes; at++) sum += tensor.data[at];
      CHECK(opened->Find(tensor.name) != nullptr);
    }
    CHECK(bytes <= file.size() && sum <= 255 * bytes);
  }
  return kFiles;
}

std::string RandomText(Random& random) {
  std::string text;
  for (uint64_t left = random.Next() % 60; left > 0; left--) {
    const uint64_t draw = random.Next();
    if (draw % 50 == 0) {
      text.push_back(static_cast<char>(draw >> 8));
    } else {
      const char32_t code = static_cast<char32_t>((draw >> 8) % (draw % 3 == 0   ? 0x110000
                                                                 : draw % 3 == 1 ? 0x1200
                                                                                 : 0x80));
      if (code < 0xD800 || code > 0xDFFF) AppendUtf8(code, &text);
    }
  }
  return text;
}

// Decoding returns the encoded text, normalised.
void CheckText(const Tokenizer& tokenizer, const std::string& text) {
  WithExact(text, [&](std::string_view exact) {
    std::vector<int32_t> ids;
    std::string problem;
    const bool good = tokenizer.Encode(exact, Literals::kText, &ids, &problem);
    CHECK_EQ(good, FirstBadUtf8(exact) == kAllUtf8);
    if (!good) return;
    std::u32string codes;
    for (size_t at = 0; at < exact.size();) codes.push_back(TakeUtf8(exact, &at));
    NormalizeNfc(&codes);
    std::string wanted;
    for (const char32_t code : codes) AppendUtf8(code, &wanted);
    CHECK_EQ(tokenizer.Decode(ids), wanted);
    std::u32string again = codes;
    NormalizeNfc(&again);
    CHECK(again == codes);
  });
}

size_t BreakTokenizers(uint64_t seed) {
  Random random(seed);
  test::CheckpointCopy copy("tiny-customvoice");
  const char* const names[] = {"vocab.json", "merges.txt", "tokenizer_config.json"};
  for (size_t n = 0; n < kFiles / 10; n++) {
    const std::string name = names[random.Next() % std::size(names)];
    const std::string whole = test::ReadAll(test::kGolden + "/tiny-customvoice/" + name);
    copy.Write(name, Broken(whole, random));
    std::string problem;
    const auto tokenizer = Tokenizer::Open(copy.path(), 576, PieceRule::kNative, &problem);
    CHECK_EQ(tokenizer == nullptr, !problem.empty());
    std::vector<int32_t> ids;
    if (tokenizer) CHECK(tokenizer->Encode("Hello <|im_end|> the user", Literals::kTokens, &ids, &problem));
    for (const int32_t id : ids) CHECK(id >= 0 && id < 576);
    copy.Write(name, whole);
  }
  return kFiles / 10;
}

size_t EncodeAnything(uint64_t seed) {
  Random random(seed);
  std::string problem;
  const auto rule = random.Next() % 2 == 0 ? PieceRule::kNative : PieceRule::kCaseSplit;
  const auto tokenizer = Tokenizer::Open(test::kGolden + "/tiny-customvoice", 576, rule, &problem);
  CHECK_EQ(problem, "");
  for (size_t n = 0; n < kFiles; n++) CheckText(*tokenizer, RandomText(random));
  return kFiles;
}

void Run(const char* name, size_t (*episode)(uint64_t)) { CHECK(fuzz::RunPart(name, kParts, episode) > 0); }

}  // namespace
}  // namespace parley

TEST_GROUP(checkpoint_fuzz) {
  using namespace parley;
  return test::Run({
      {"broken model configurations are refused or good", [] { Run("config.json", BreakModelConfigs); }},
      {"broken codec configurations are refused or good",
       [] { Run("codec config.json", BreakCodecConfigs); }},
      {"broken generation configurations are refused or good",
       [] { Run("generation_config.json", BreakGenerationConfigs); }},
      {"broken safetensors files are refused or good", [] { Run("safetensors", BreakSafetensors); }},
      {"broken tokenizer files are refused or good", [] { Run("tokenizer files", BreakTokenizers); }},
      {"any text is encoded and comes back, or is not UTF-8", [] { Run("texts", EncodeAnything); }},
  });
}
