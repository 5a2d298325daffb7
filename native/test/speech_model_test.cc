// Text to codes against every golden case, stage by stage.
#include "model/speech/speech_model.h"

#include "model/speech/embeddings.h"
#include "model/speech/frame_step.h"
#include "model/speech/prompt.h"
#include "test/golden_cases.h"
#include "test/recording_kernels.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

void EveryRowOfAPromptIsTheReferences() {
  const auto kernels = MakeRecordingKernels(2);
  for (const GoldenCase& one : GoldenCases()) {
    Weights weights(*kernels);
    Embeddings embeddings(*kernels, GoldenCheckpoint(one.model), weights);
    PromptRows rows(*kernels, embeddings);
    const size_t count = one.prompt.rows.size(), hidden = embeddings.hidden();
    Values x(count * hidden), pieces(x.size());
    const PromptRows::Part all{&one.prompt, one.voice.get(), 0, count};
    rows.Sum(&all, 1, x.data());
    CheckNear(x, one.vectors->Read("prompt_embeds"), one.name + ": rows of the prompt");
    for (size_t at = 0; at < count; at += 3) {
      const PromptRows::Part piece{&one.prompt, one.voice.get(), at, std::min(count, at + 3)};
      rows.Sum(&piece, 1, pieces.data() + at * hidden);
    }
    CHECK(x == pieces);
    Values twice(2 * x.size());
    const PromptRows::Part halves[] = {{&one.prompt, one.voice.get(), 1, count},
                                       {&one.prompt, one.voice.get(), 0, count},
                                       {&one.prompt, one.voice.get(), 0, 1}};
    rows.Sum(halves, 3, twice.data());
    CHECK(std::equal(x.begin(), x.end(), twice.begin() + static_cast<std::ptrdiff_t>((count - 1) * hidden)));

    std::vector<int32_t> ids = one.prompt.trailing;
    if (ids.empty()) ids.push_back(GoldenCheckpoint(one.model).config().text_ids.tts_pad);
    Values trailing(ids.size() * hidden);
    embeddings.SumText(ids, false, trailing.data());
    CheckNear(trailing, one.vectors->Read("trailing_text_hidden"), one.name + ": trailing rows");
  }
}

void EveryHiddenVectorOfAPromptIsTheReferences() {
  const auto kernels = MakeRecordingKernels(2);
  for (const GoldenCase& one : GoldenCases()) {
    Weights weights(*kernels);
    Talker talker(*kernels, GoldenCheckpoint(one.model), weights, std::nullopt);
    Values x = one.vectors->Read("prompt_embeds");
    const size_t rows = x.size() / talker.hidden();
    KvState state(*kernels, talker.transformer().config(), Format::kF32, rows);
    const Transformer::Stream stream{&state, rows};
    talker.Forward(&stream, 1, x.data());
    CheckNear(x, one.vectors->Read("prefill_hidden"), one.name + ": hidden vectors of the prompt");
  }
}

// A generation from its prompt to its end.
struct Spoken {
  std::vector<int32_t> codes;
  StepResult end = StepResult::kFrame;
};

Spoken Speak(SpeechModel& model, const GoldenCase& one, const DrawRules& rules) {
  std::string problem;
  const auto stream = model.BeginStream(one.prompt, one.voice, rules, &problem);
  CHECK_EQ(problem, "");
  Spoken spoken;
  if (!stream) return spoken;
  SpeechStream* const streams[] = {stream.get()};
  model.Prefill(streams, 1);
  CHECK_EQ(stream->positions(), one.prompt.rows.size());
  std::vector<int32_t> frame(static_cast<size_t>(model.config().talker.code_groups));
  while (spoken.end == StepResult::kFrame) {
    model.Step(streams, 1, &spoken.end, frame.data());
    if (spoken.end == StepResult::kFrame) spoken.codes.insert(spoken.codes.end(), frame.begin(), frame.end());
    CHECK_EQ(stream->frames(), spoken.codes.size() / frame.size());
  }
  return spoken;
}

// The predictor's logits as the vectors have them: [frames, code_groups - 1, vocabulary].
Values PredictorLogits(const RecordingKernels& kernels, const ModelConfig& config, size_t frames) {
  const auto groups = static_cast<uint64_t>(config.talker.code_groups);
  const auto width = static_cast<ptrdiff_t>(config.predictor.vocabulary);
  Values all;
  for (size_t frame = 0; frame < frames; frame++) {
    for (uint64_t place = 1; place < groups; place++) {
      const auto row = kernels.logits.at({0, place}).begin() + static_cast<ptrdiff_t>(frame) * width;
      all.insert(all.end(), row, row + width);
    }
  }
  return all;
}

void CheckCase(const GoldenCase& one) {
  const SpeechCheckpoint& checkpoint = GoldenCheckpoint(one.model);
  const auto kernels = MakeRecordingKernels(2);
  kernels->watched = checkpoint.ModelTensor("talker.codec_head.weight").data;
  SpeechModel model(*kernels, checkpoint, Quantize::kNone, Format::kF32);
  const Spoken spoken = Speak(model, one, GreedyRules(one, 0));
  CHECK(spoken.codes == one.codes);
  CHECK(spoken.end == (one.stopped_on_eos ? StepResult::kEnd : StepResult::kBudget));
  CheckNear(kernels->inputs, one.vectors->Read("step_hidden"), one.name + ": hidden vectors of the steps");
  CheckNear(kernels->logits.at({0, 0}), one.vectors->Read("step_logits"), one.name + ": logits of the steps");
  const auto frames = static_cast<size_t>(one.vectors->ShapeOf("cp_logits")[0]);
  CheckNear(PredictorLogits(*kernels, checkpoint.config(), frames), one.vectors->Read("cp_logits"),
            one.name + ": the predictor's logits");
}

void EveryGoldenCaseIsSpokenCodeByCode() {
  for (const GoldenCase& one : GoldenCases()) CheckCase(one);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(speech_model) {
  using namespace parley::test;
  return Run({
      {"every row of a prompt is the reference's", EveryRowOfAPromptIsTheReferences},
      {"every hidden vector of a prompt is the reference's", EveryHiddenVectorOfAPromptIsTheReferences},
      {"every golden case is spoken code by code", EveryGoldenCaseIsSpokenCodeByCode},
  });
}
