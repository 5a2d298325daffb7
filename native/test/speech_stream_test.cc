// The life of a stream: text that comes late, requests that are refused, damage
// that stays its own, and steps that allocate nothing.
#include <limits>
#include <stdexcept>

#include "test/counted_memory.h"
#include "test/speakers.h"

namespace parley::test {
namespace {

using namespace model;

template <class Refusal, class Work>
bool Throws(const Work& work) {
  try {
    work();
  } catch (const Refusal&) {
    return true;
  }
  return false;
}

// The text of a streaming prompt, given in pieces of so many ids, each when there is no other way on.
class LateText {
 public:
  LateText(Prompt* prompt, size_t at_once) : at_once_(at_once) {
    late_.assign(prompt->trailing.begin(), prompt->trailing.end() - 1);
    prompt->trailing.assign(1, prompt->trailing.back());
  }
  void Give(SpeechStream* stream) {
    if (given_ == late_.size()) return stream->FinishText();
    const size_t end = std::min(late_.size(), given_ + at_once_);
    stream->AddText(
        {late_.begin() + static_cast<ptrdiff_t>(given_), late_.begin() + static_cast<ptrdiff_t>(end)});
    given_ = end;
  }
  size_t given() const { return given_; }
  size_t Pieces() const { return (late_.size() + at_once_ - 1) / at_once_ + 1; }

 private:
  std::vector<int32_t> late_;
  const size_t at_once_;
  size_t given_ = 0;
};

bool CannotStep(SpeechModel& model, SpeechStream* stream) {
  StepResult result;
  std::vector<int32_t> codes(static_cast<size_t>(model.config().talker.code_groups));
  return Throws<std::logic_error>([&] { model.Step(&stream, 1, &result, codes.data()); });
}

// Beside a stream that never waits.
void CheckLateText(const GoldenCase& one, const GoldenCase& companion, size_t at_once) {
  const auto kernels = MakeRecordingKernels(2);
  SpeechModel model(*kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kF32);
  GoldenCase early = one;
  LateText text(&early.prompt, at_once);
  std::vector<Speaker> speakers;
  speakers.push_back({&early, GreedyRules(one, 0)});
  speakers.push_back({&companion, GreedyRules(companion, 1)});
  Speaker& waiting = speakers[0];
  std::string problem;
  waiting.stream = model.BeginStream(early.prompt, one.voice, waiting.rules, &problem, {true, nullptr});
  CHECK_EQ(problem, "");
  Begin(model, &speakers[1]);
  SpeechStream* const both[] = {waiting.stream.get(), speakers[1].stream.get()};
  model.Prefill(both, 2);
  std::vector<Speaker*> live;
  size_t waits = 0;
  const auto step = [&] {
    live.clear();
    for (Speaker& speaker : speakers) {
      if (speaker.stream && !speaker.stream->Starved()) live.push_back(&speaker);
    }
    if (!live.empty()) StepAll(model, &live);
  };
  while (waiting.stream) {
    if (waiting.stream->Starved()) {
      waits++;
      // The first frame needs none of it, every other one a row.
      CHECK_EQ(waiting.stream->frames(), text.given() + 1);
      CHECK(CannotStep(model, waiting.stream.get()));
      step();  // the other one alone
      text.Give(waiting.stream.get());
    }
    step();
  }
  while (speakers[1].stream) step();
  CHECK(waiting.codes == one.codes);
  CHECK(speakers[1].codes == companion.codes);
  CHECK_EQ(waits, text.Pieces());
}

void AStarvedStreamWaitsAndGivesTheSameCodes() {
  const GoldenCase& whole = GoldenCaseNamed("tiny-customvoice__lang_english");
  const GoldenCase& ended = GoldenCaseNamed("tiny-base__xvector_nonstream");
  for (const size_t at_once : {1u, 7u, 100u}) {
    CheckLateText(GoldenCaseNamed("tiny-customvoice__stream_text"), whole, at_once);
    CheckLateText(GoldenCaseNamed("tiny-customvoice__dialect_stream_text"), whole, at_once);
    CheckLateText(GoldenCaseNamed("tiny-base__xvector"), ended, at_once);
    CheckLateText(GoldenCaseNamed("tiny-base__icl_text_longer"), ended, at_once);
  }
}

// A model and a golden request to change.
struct Asked {
  GoldenCase one;
  std::unique_ptr<RecordingKernels> kernels = MakeRecordingKernels();
  SpeechModel model;
  DrawRules rules;
  StreamOptions options;

  explicit Asked(const std::string& name)
      : one(GoldenCaseNamed(name)),
        model(*kernels, GoldenCheckpoint(one.model), Quantize::kNone, Format::kF32),
        rules(GreedyRules(one, 0)) {}

  std::string Problem() {
    std::string problem;
    const auto stream = model.BeginStream(one.prompt, one.voice, rules, &problem, options);
    CHECK_EQ(stream == nullptr, !problem.empty());
    return problem;
  }
};

void PositionsOverTheLimitAreRefused() {
  Asked asked("tiny-customvoice__lang_english");
  const auto limit = static_cast<size_t>(asked.model.config().talker.positions);
  const size_t rows = asked.one.prompt.rows.size();
  asked.rules.max_new_tokens = limit - rows + 2;
  CHECK_EQ(asked.Problem(), "a prompt of 24 rows and 32746 new tokens pass the model's 32768 positions");
  asked.rules.max_new_tokens--;
  CHECK_EQ(asked.Problem(), "");
  asked.rules.max_new_tokens = SIZE_MAX;
  CHECK(!asked.Problem().empty());
  asked.rules.max_new_tokens = 0;
  CHECK_EQ(asked.Problem(), "max_new_tokens must be 1 or more");
}

void RulesOutOfRangeAreRefusedBeforeTheStreamBegins() {
  Asked asked("tiny-customvoice__lang_english");
  asked.rules.talker.greedy = false;
  asked.rules.talker.temperature = 0;
  CHECK_EQ(asked.Problem(), "temperature must be 0.0001 or more");
  asked.rules.talker.temperature = 1;
  asked.rules.talker.repetition_penalty = std::numeric_limits<float>::quiet_NaN();
  CHECK_EQ(asked.Problem(), "repetition_penalty must be above 0");
  asked.rules.talker.repetition_penalty = 1;
  asked.rules.predictor.top_p = 1.5f;
  CHECK_EQ(asked.Problem(), "top_p must be in (0, 1]");
  asked.rules.predictor.top_p = 1;
  asked.rules.talker.suppress_to = 1 << 30;  // the model's own: left out of account
  CHECK_EQ(asked.Problem(), "");
}

void PromptsThatDoNotFitAreRefused() {
  Asked asked("tiny-base__icl_text_longer");
  const Asked fresh("tiny-base__icl_text_longer");
  const auto changed = [&](const auto& change) {
    asked.one = fresh.one;
    auto voice = std::make_shared<VoicePrompt>(*fresh.one.voice);
    change(&asked.one.prompt, voice.get());
    asked.one.voice = voice;
    return asked.Problem();
  };
  CHECK_EQ(changed([](Prompt*, VoicePrompt*) {}), "");
  CHECK_EQ(changed([](Prompt* prompt, VoicePrompt*) { prompt->rows.clear(); }), "the prompt is empty");
  CHECK_EQ(changed([](Prompt* prompt, VoicePrompt*) { prompt->rows[2] = {}; }),
           "row 2 of the prompt: is the sum of nothing");
  CHECK_EQ(changed([](Prompt* prompt, VoicePrompt*) { prompt->rows[1].text = 1 << 20; }),
           "row 1 of the prompt: there is no such text id");
  CHECK_EQ(changed([](Prompt* prompt, VoicePrompt*) { prompt->rows[1].codec = 1152; }),
           "row 1 of the prompt: there is no such codec id");
  CHECK_EQ(changed([](Prompt* prompt, VoicePrompt*) { prompt->rows[1].frame = 6; }),
           "row 1 of the prompt: the reference has no such frame");
  CHECK_EQ(changed([](Prompt* prompt, VoicePrompt*) { prompt->trailing[0] = -5; }),
           "there is no such text id behind the prompt");
  CHECK_EQ(changed([](Prompt*, VoicePrompt* voice) { voice->speaker.pop_back(); }),
           "the speaker's vector has 127 numbers, expected 128");
  CHECK_EQ(changed([](Prompt*, VoicePrompt* voice) { voice->codes.pop_back(); }),
           "the reference's codes are no whole frames");
  CHECK_EQ(changed([](Prompt*, VoicePrompt* voice) { voice->codes[17] = 128; }),
           "code 1 of frame 1 of the reference is 128, expected 0 to 127");
  asked.one = fresh.one;
  asked.one.voice = nullptr;
  CHECK_EQ(asked.Problem(), "row 7 of the prompt: needs a voice by example");
}

void MoreTextNeedsAPromptThatLeavesRoomForIt() {
  Asked whole("tiny-customvoice__lang_english");
  whole.options.more_text = true;
  CHECK_EQ(whole.Problem(), "more text cannot follow: the prompt has all of it, or too little to begin");
  Asked reference_longer("tiny-base__icl_codec_longer");
  reference_longer.options.more_text = true;
  CHECK_EQ(reference_longer.Problem(),
           "more text cannot follow: the prompt has all of it, or too little to begin");
  Asked streamed("tiny-customvoice__stream_text");
  streamed.options.more_text = true;
  CHECK_EQ(streamed.Problem(), "");
  std::string problem;
  const auto stream =
      streamed.model.BeginStream(streamed.one.prompt, nullptr, streamed.rules, &problem, streamed.options);
  CHECK(Throws<std::invalid_argument>([&] { stream->AddText({-1}); }));
  stream->FinishText();
  CHECK(Throws<std::logic_error>([&] { stream->AddText({1}); }));
  CHECK(Throws<std::logic_error>([&] { stream->FinishText(); }));
}

void OnlyStreamsThatCanStepDo() {
  Asked asked("tiny-customvoice__lang_english");
  asked.rules.max_new_tokens = 2;
  std::string problem;
  const auto stream = asked.model.BeginStream(asked.one.prompt, nullptr, asked.rules, &problem);
  SpeechStream* const streams[] = {stream.get()};
  StepResult result = StepResult::kFrame;
  std::vector<int32_t> codes(16);
  const auto step = [&] { asked.model.Step(streams, 1, &result, codes.data()); };
  CHECK(Throws<std::logic_error>(step));
  asked.model.Prefill(streams, 1, 23);
  CHECK_EQ(stream->prompt_left(), size_t{1});
  CHECK(Throws<std::logic_error>(step));
  asked.model.Prefill(streams, 1);
  asked.model.Prefill(streams, 1);  // nothing is left: nothing is done
  CHECK_EQ(stream->positions(), size_t{24});
  step();
  CHECK(result == StepResult::kFrame);
  step();
  CHECK(result == StepResult::kBudget);
  CHECK(Throws<std::logic_error>(step));
  asked.model.Step(nullptr, 0, nullptr, nullptr);
}

// The end is drawn in every case that allows it, by a teacher; at least so many frames come before it.
void TheEndCannotComeTooEarly() {
  Asked asked("tiny-customvoice__stops_on_eos");
  const auto eos = static_cast<size_t>(asked.model.config().talker.ids.eos);
  std::vector<bool> allowed;
  asked.kernels->on_choice = [&](const Draw& draw, const float* logits) {
    if (draw.stream == 0) allowed.push_back(std::isfinite(logits[eos]));
  };
  asked.rules.min_new_tokens = 5;
  std::vector<Speaker> speakers;
  speakers.push_back({&asked.one, asked.rules});
  SpeakTogether(asked.model, &speakers);
  CHECK_EQ(allowed.size(), asked.one.codes.size() / 16 + 1);
  for (size_t n = 0; n < allowed.size(); n++) CHECK_EQ(allowed[n], n >= 5);
}

void ABrokenVoiceEndsItsOwnStreamOnly() {
  const GoldenCase& sound = GoldenCaseNamed("tiny-base__xvector_nonstream");
  GoldenCase broken = sound;
  auto voice = std::make_shared<VoicePrompt>(*sound.voice);
  voice->speaker.front() = std::numeric_limits<float>::quiet_NaN();
  broken.voice = voice;
  const auto kernels = MakeRecordingKernels(2);
  SpeechModel model(*kernels, GoldenCheckpoint(sound.model), Quantize::kNone, Format::kF32);
  std::vector<Speaker> speakers;
  for (const GoldenCase* one : {&sound, static_cast<const GoldenCase*>(&broken), &sound}) {
    speakers.push_back({one, GreedyRules(*one, 0)});
  }
  SpeakTogether(model, &speakers);
  CHECK(speakers[1].end == StepResult::kBroken);
  CHECK(speakers[1].codes.empty());
  for (const size_t n : {0u, 2u}) CHECK(speakers[n].codes == sound.codes);
}

void StepsAllocateNothingOnceWarm() {
  const auto kernels = MakeRecordingKernels(2);
  kernels->recording = false;
  SpeechModel model(*kernels, GoldenCheckpoint("tiny-customvoice"), Quantize::kNone, Format::kBf16);
  std::vector<std::unique_ptr<SpeechStream>> streams;
  std::vector<SpeechStream*> batch;
  // Two rounds of the same requests: the first one warms up.
  size_t during = 0, made = 0;
  for (int round = 0; round < 2; round++) {
    streams.clear();
    batch.clear();
    for (const char* name : {"lang_english", "instruct", "stream_text", "dialect_stream_text"}) {
      const GoldenCase& one = GoldenCaseNamed(std::string("tiny-customvoice__") + name);
      std::string problem;
      streams.push_back(model.BeginStream(one.prompt, nullptr, RulesFor(one, 1, 40), &problem));
      batch.push_back(streams.back().get());
    }
    model.Prefill(batch.data(), batch.size());
    std::vector<StepResult> results(batch.size());
    std::vector<int32_t> codes(batch.size() * 16);
    const size_t heap = Allocations().all, device = kernels->allocations;
    for (made = 0; made < 30; made++) model.Step(batch.data(), batch.size(), results.data(), codes.data());
    during = Allocations().all - heap + kernels->allocations - device;
    CHECK(results.front() == StepResult::kFrame);
  }
  CHECK_EQ(during, size_t{0});
}

void AStepSaysWhereItsTimeWent() {
  Asked asked("tiny-customvoice__lang_english");
  std::string problem;
  const auto stream = asked.model.BeginStream(asked.one.prompt, nullptr, asked.rules, &problem);
  SpeechStream* const streams[] = {stream.get()};
  asked.model.Prefill(streams, 1);
  StepResult result;
  std::vector<int32_t> codes(16);
  asked.model.Step(streams, 1, &result, codes.data());
  CHECK(asked.model.last_step().talker > 0 && asked.model.last_step().predictor > 0);
}

void AStreamTakesTheBytesThatWereSaid() {
  Asked asked("tiny-customvoice__lang_english");
  std::string problem;
  const size_t before = asked.kernels->allocated_bytes;
  const auto stream = asked.model.BeginStream(asked.one.prompt, nullptr, asked.rules, &problem);
  SpeechStream* const streams[] = {stream.get()};
  const size_t positions = asked.one.prompt.rows.size() + asked.rules.max_new_tokens - 1;
  const size_t predictor = asked.model.StreamBytes(positions) - (asked.kernels->allocated_bytes - before);
  asked.model.Prefill(streams, 1);
  // The predictor's part comes with the first step of a batch so large, beside the workspaces.
  const TalkerConfig& talker = asked.model.config().talker;
  const size_t own =
      static_cast<size_t>(talker.transformer.hidden) * sizeof(float) + static_cast<size_t>(talker.vocabulary);
  CHECK_EQ(predictor, asked.model.StreamBytes(0) - asked.model.PrefixBytes(0) - own);
  CHECK(predictor > 0);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(speech_stream) {
  using namespace parley::test;
  return Run({
      {"a starved stream waits and gives the same codes", AStarvedStreamWaitsAndGivesTheSameCodes},
      {"positions over the limit are refused", PositionsOverTheLimitAreRefused},
      {"rules out of range are refused before the stream begins",
       RulesOutOfRangeAreRefusedBeforeTheStreamBegins},
      {"prompts that do not fit are refused", PromptsThatDoNotFitAreRefused},
      {"more text needs a prompt that leaves room for it", MoreTextNeedsAPromptThatLeavesRoomForIt},
      {"only streams that can step do", OnlyStreamsThatCanStepDo},
      {"the end cannot come too early", TheEndCannotComeTooEarly},
      {"a broken voice ends its own stream only", ABrokenVoiceEndsItsOwnStreamOnly},
      {"steps allocate nothing once warm", StepsAllocateNothingOnceWarm},
      {"a step says where its time went", AStepSaysWhereItsTimeWent},
      {"a stream takes the bytes that were said", AStreamTakesTheBytesThatWereSaid},
  });
}
