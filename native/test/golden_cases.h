// The golden requests, from the manifest: what was asked, and what the reference answered.
#ifndef PARLEY_TEST_GOLDEN_CASES_H_
#define PARLEY_TEST_GOLDEN_CASES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/files/json.h"
#include "model/speech/prompt.h"
#include "model/speech/speech_model.h"
#include "test/golden_vectors.h"

namespace parley::test {

struct GoldenCase {
  std::string name, model;
  model::Prompt prompt;
  std::shared_ptr<const model::VoicePrompt> voice;
  std::shared_ptr<const GoldenVectors> vectors;
  std::vector<int32_t> codes;  // [frames, code_groups]
  size_t max_new_tokens = 0;
  bool stopped_on_eos = false;
};

inline const model::SpeechCheckpoint& GoldenCheckpoint(const std::string& name) {
  static std::map<std::string, std::unique_ptr<const model::SpeechCheckpoint>> opened;
  auto& checkpoint = opened[name];
  if (!checkpoint) checkpoint = OpenGolden(name);
  return *checkpoint;
}

inline std::shared_ptr<const model::VoicePrompt> GoldenVoice(model::Json one) {
  if (!one.Find("ref_wave").present()) return nullptr;
  const GoldenVectors reference("tiny-base__ref_" + std::string(one.Find("ref_wave").text()));
  auto voice = std::make_shared<model::VoicePrompt>();
  voice->speaker = reference.Read("speaker_embedding");
  if (one.Find("x_vector_only").boolean()) return voice;
  voice->codes = reference.Read<int32_t>("codes");
  voice->text = one.Find("ref_text").text();
  return voice;
}

inline GoldenCase ReadGoldenCase(model::Json one) {
  GoldenCase read;
  read.name = one.key();
  read.model = one.Find("model").text();
  read.voice = GoldenVoice(one);
  read.vectors = std::make_shared<GoldenVectors>(read.name);
  read.codes = read.vectors->Read<int32_t>("codes");
  read.max_new_tokens = static_cast<size_t>(one.Find("max_new_tokens").number());
  read.stopped_on_eos = one.Find("stopped_on_eos").boolean();
  const model::Json asked = one.Find("request");
  const model::SpeechCheckpoint& checkpoint = GoldenCheckpoint(read.model);
  model::PromptRequest request;
  request.text = asked.Find("text").text();
  request.instruction = asked.Find("instruct").text();
  request.language = asked.Find("language").text();
  request.speaker = asked.Find("speaker").text();
  request.whole_text = asked.Find("non_streaming_mode").boolean();
  if (read.voice != nullptr && !read.voice->codes.empty()) {
    request.reference_text = read.voice->text;
    request.reference_frames =
        read.voice->codes.size() / static_cast<size_t>(checkpoint.config().talker.code_groups);
  }
  std::string problem;
  CHECK(model::BuildPrompt(checkpoint.config(), checkpoint.tokenizer(), request, &read.prompt, &problem));
  CHECK_EQ(problem, "");
  return read;
}

// All 13, read once.
inline const std::vector<GoldenCase>& GoldenCases() {
  static const std::vector<GoldenCase> cases = [] {
    std::vector<GoldenCase> read;
    std::string problem;
    const auto manifest = model::JsonDocument::Parse(ReadAll(kGolden + "/vectors/manifest.json"), &problem);
    CHECK_EQ(problem, "");
    for (model::Json one = manifest->root().Find("cases").first(); one.present(); one = one.next()) {
      read.push_back(ReadGoldenCase(one));
    }
    CHECK_EQ(read.size(), size_t{13});
    return read;
  }();
  return cases;
}

inline const GoldenCase& GoldenCaseNamed(const std::string& name) {
  for (const GoldenCase& one : GoldenCases()) {
    if (one.name == name) return one;
  }
  CHECK_EQ(name, "among the golden cases");
  return GoldenCases().front();
}

// Options with which the golden codes were made.
inline model::DrawRules GreedyRules(const GoldenCase& of, uint64_t seed) {
  model::DrawRules rules = model::DefaultRules(GoldenCheckpoint(of.model).generation());
  rules.talker.greedy = rules.predictor.greedy = true;
  rules.max_new_tokens = of.max_new_tokens;
  rules.seed = seed;
  return rules;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_GOLDEN_CASES_H_
