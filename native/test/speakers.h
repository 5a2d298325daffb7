// Streams of a test that speak together, joining and leaving.
#ifndef PARLEY_TEST_SPEAKERS_H_
#define PARLEY_TEST_SPEAKERS_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/golden_cases.h"
#include "test/recording_kernels.h"

namespace parley::test {

// One stream in a test: what is asked, and what came of it.
struct Speaker {
  const GoldenCase* asked;
  model::DrawRules rules;             // the seed is its name among the recordings
  size_t joins = 0;                   // at which step of the batch
  std::optional<size_t> leaves = {};  // given up after so many frames
  std::shared_ptr<const model::PromptPrefix> prefix = nullptr;
  std::unique_ptr<model::SpeechStream> stream = nullptr;
  std::vector<int32_t> codes = {};
  model::StepResult end = model::StepResult::kFrame;
};

// Greedy for even seeds, sampled for odd ones.
inline model::DrawRules RulesFor(const GoldenCase& one, uint64_t seed, size_t frames) {
  model::DrawRules rules = GreedyRules(one, seed);
  rules.talker.greedy = rules.predictor.greedy = seed % 2 == 0;
  rules.max_new_tokens = std::min(frames + 1, one.max_new_tokens);
  return rules;
}

inline void Begin(model::SpeechModel& speech, Speaker* speaker) {
  std::string problem;
  speaker->stream = speech.BeginStream(speaker->asked->prompt, speaker->asked->voice, speaker->rules,
                                       &problem, {false, speaker->prefix});
  CHECK_EQ(problem, "");
}

inline void StepAll(model::SpeechModel& speech, std::vector<Speaker*>* live) {
  const auto groups = static_cast<size_t>(speech.config().talker.code_groups);
  std::vector<model::SpeechStream*> streams;
  for (const Speaker* speaker : *live) streams.push_back(speaker->stream.get());
  std::vector<model::StepResult> results(streams.size());
  std::vector<int32_t> codes(streams.size() * groups);
  speech.Step(streams.data(), streams.size(), results.data(), codes.data());
  for (size_t i = 0; i < streams.size(); i++) {
    Speaker& speaker = *(*live)[i];
    speaker.end = results[i];
    const auto frame = codes.begin() + static_cast<ptrdiff_t>(i * groups);
    if (results[i] == model::StepResult::kFrame) {
      speaker.codes.insert(speaker.codes.end(), frame, frame + static_cast<ptrdiff_t>(groups));
    }
    if (results[i] != model::StepResult::kFrame || speaker.leaves == speaker.stream->frames())
      speaker.stream.reset();
  }
  live->erase(std::remove_if(live->begin(), live->end(), [](const Speaker* s) { return !s->stream; }),
              live->end());
}

// All of them, each from its own step on, prompts in pieces of at most `piece` rows.
inline void SpeakTogether(model::SpeechModel& speech, std::vector<Speaker>* speakers,
                          size_t piece = SIZE_MAX) {
  std::vector<Speaker*> live;
  size_t begun = 0;
  for (size_t step = 0; begun < speakers->size() || !live.empty(); step++) {
    std::vector<model::SpeechStream*> fresh;
    for (Speaker& speaker : *speakers) {
      if (speaker.joins != step) continue;
      Begin(speech, &speaker);
      if (!speaker.stream) return;
      fresh.push_back(speaker.stream.get());
      live.push_back(&speaker);
      begun++;
    }
    const auto left = [](const model::SpeechStream* stream) { return stream->prompt_left() > 0; };
    while (std::any_of(fresh.begin(), fresh.end(), left)) speech.Prefill(fresh.data(), fresh.size(), piece);
    if (!live.empty()) StepAll(speech, &live);
  }
}

// The recordings of one seed, all places of a frame.
inline std::vector<std::vector<float>> LogitsOf(const RecordingKernels& kernels, uint64_t seed) {
  std::vector<std::vector<float>> all;
  for (const auto& [name, logits] : kernels.logits) {
    if (name.first == seed) all.push_back(logits);
  }
  return all;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_SPEAKERS_H_
