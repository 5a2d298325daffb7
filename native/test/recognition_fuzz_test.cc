// Broken files of recognisers and aligners, made from whole ones by a seed. Each must be refused with a text
// or be good to use; the sanitizers say whether anything else happened.
#include <algorithm>
#include <stdexcept>

#include "media/random.h"
#include "model/recognition/forced_aligner.h"
#include "model/recognition/recognition_prompt.h"
#include "test/broken_files.h"
#include "test/check.h"
#include "test/fuzz_run.h"
#include "test/recognition_golden.h"

namespace parley::test {
namespace {

using namespace model;

constexpr size_t kConfigs = 100;  // per episode
constexpr size_t kCheckpoints = 10;
constexpr size_t kParts = 10;  // a part is six seconds where memory is watched

struct Golden {
  const char* name;
  RecognitionKind kind;
  std::vector<const char*> weights;
};

const std::vector<Golden>& Goldens() {
  static const std::vector<Golden> goldens = {
      {"tiny-asr-a", RecognitionKind::kRecogniser, {"model.safetensors"}},
      {"tiny-asr-b",
       RecognitionKind::kRecogniser,
       {"model.safetensors.index.json", "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors"}},
      {"tiny-aligner", RecognitionKind::kAligner, {"model.safetensors"}}};
  return goldens;
}

size_t BreakConfigs(uint64_t seed) {
  Random random(seed);
  const Golden& golden = Goldens()[random.Next() % Goldens().size()];
  const std::string whole = ReadAll(kGolden + "/" + golden.name + "/config.json");
  for (size_t n = 0; n < kConfigs; n++) {
    WithExact(Broken(whole, random), [&](std::string_view text) {
      std::string problem;
      const auto document = JsonDocument::Parse(text, &problem);
      if (document == nullptr) return;
      const RecognitionConfig config =
          ReadRecognitionConfig(ConfigReader("config.json", document->root(), &problem));
      if (!problem.empty()) return;
      CHECK(TensorsOf(config).size() > 30);
      CHECK(config.encoder.block_tokens >= kChunkTokens && config.encoder.transformer.head_dim > 0);
    });
  }
  return kConfigs;
}

bool HoldsTensors(const std::string& file) {
  constexpr std::string_view kEnding = ".safetensors";
  return file.size() > kEnding.size() &&
         file.compare(file.size() - kEnding.size(), kEnding.size(), kEnding) == 0;
}

// A file of tensors with a broken header, under a length that is right.
std::string WithBrokenHeader(const std::string& file, Random& random) {
  constexpr size_t kLength = 8;
  size_t length = 0;
  for (size_t n = kLength; n-- > 0;) length = length << 8 | static_cast<uint8_t>(file[n]);
  std::string header = Broken(file.substr(kLength, length), random);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return SafetensorsOf(header, 0) + file.substr(kLength + length);
}

// A file that is broken, missing, or another checkpoint's.
void Break(CheckpointCopy* copy, const Golden& golden, const std::string& file, Random& random) {
  const std::string whole = copy->Read(file);
  const uint64_t draw = random.Next() % 20;
  if (draw == 0) return copy->Remove(file);
  if (draw == 1) {
    const Golden& other = Goldens()[random.Next() % Goldens().size()];
    const bool weights =
        std::find(golden.weights.begin(), golden.weights.end(), file) != golden.weights.end();
    return copy->Write(file, ReadAll(kGolden + "/" + other.name + "/" + (weights ? other.weights[0] : file)));
  }
  const bool inside = HoldsTensors(file) && draw % 2 == 0;
  copy->Write(file, inside ? WithBrokenHeader(whole, random) : Broken(whole, random));
}

void Recognise(const RecognitionCheckpoint& checkpoint, RecognitionModel& model, const std::string& file) {
  RecognitionPrompt prompt;
  std::string problem;
  CHECK(BuildPrompt(checkpoint.tokenizer(), {"Names: Fox", "", ""}, &prompt, &problem));
  RecognitionStream stream(model, prompt.head, Format::kF32);
  const std::vector<float> samples = ReadClip("yes03");
  stream.Push(samples.data(), samples.size());
  Pass pass;
  pass.tail = prompt.tail;
  pass.max_new_tokens = 4;
  CHECK(stream.BeginPass(pass));
  RunPass(model, &stream);
  CHECK(stream.generated().size() <= 4);
  // Weights alone can give a logit that is no number.
  if (!HoldsTensors(file)) CHECK(stream.end() != RecognitionStream::End::kBroken);
}

void Align(RecognitionModel& model) {
  Alignment alignment(model, {"yes", "no"}, ReadClip("yes03"), Format::kF32);
  alignment.Begin();
  CHECK(alignment.begun());
  RunPass(model, alignment.stream());
  if (alignment.stream()->end() == RecognitionStream::End::kAligned) CHECK_EQ(alignment.Times().size(), 2u);
}

// A checkpoint that opens has all tensors, and either loads and runs or names a weight.
void Use(const RecognitionCheckpoint& checkpoint, RecognitionKind kind, const std::string& file) {
  CHECK(checkpoint.config().kind == kind);
  for (const ExpectedTensor& tensor : TensorsOf(checkpoint.config())) {
    const Tensor* const found = checkpoint.set().Find(tensor.name);
    CHECK(found != nullptr && found->shape == tensor.shape);
  }
  const auto kernels = MakeKernels(cpu::ChooseVariant());
  try {
    RecognitionModel model(*kernels, checkpoint, std::nullopt);
    kind == RecognitionKind::kAligner ? Align(model) : Recognise(checkpoint, model, file);
  } catch (const std::invalid_argument& refusal) {
    CHECK_EQ(std::string(refusal.what()).substr(0, 8), "thinker.");
  } catch (const std::length_error& refusal) {
    CHECK(std::string(refusal.what()).find("positions") != std::string::npos);
  }
}

size_t BreakCheckpoints(uint64_t seed) {
  Random random(seed);
  const Golden& golden = Goldens()[random.Next() % Goldens().size()];
  std::vector<std::string> files = {"config.json", "preprocessor_config.json", "vocab.json", "merges.txt",
                                    "tokenizer_config.json"};
  files.insert(files.end(), golden.weights.begin(), golden.weights.end());
  CheckpointCopy copy(golden.name);
  for (size_t n = 0; n < kCheckpoints; n++) {
    const std::string file = files[random.Next() % files.size()];
    const std::string whole = copy.Read(file);
    Break(&copy, golden, file, random);
    std::string problem;
    const auto opened = RecognitionCheckpoint::Open(copy.path(), golden.kind, &problem);
    CHECK_EQ(opened == nullptr, !problem.empty());
    if (opened == nullptr) CHECK_EQ(problem.substr(0, copy.path().size()), copy.path());
    else Use(*opened, golden.kind, file);
    copy.Write(file, whole);
  }
  return kCheckpoints;
}

void Run(const char* name, size_t (*episode)(uint64_t)) { CHECK(fuzz::RunPart(name, kParts, episode) > 0); }

}  // namespace
}  // namespace parley::test

TEST_GROUP(recognition_fuzz) {
  using namespace parley::test;
  return Run({
      {"broken configurations are refused or good", [] { Run("config.json", BreakConfigs); }},
      {"broken checkpoints are refused, or recognise and align", [] { Run("files", BreakCheckpoints); }},
  });
}
