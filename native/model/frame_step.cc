#include "model/frame_step.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace parley::model {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The sequence of a seed that first codes are drawn from; those of the predictor have their code's place.
constexpr uint64_t kFirstCodes = 0;

void Judge(const SpeechStream::State& stream) {
  if (stream.PromptLeft() > 0) throw std::logic_error("a stream cannot step before its prompt was computed");
  if (stream.ended) throw std::logic_error("a stream that has ended cannot step");
  if (stream.Starved()) throw std::logic_error("a stream cannot step without its next text row");
}

}  // namespace

void FrameStep::Run(SpeechStream::State* const* streams, size_t count, StepResult* results, int32_t* codes) {
  Clock::time_point begin = Clock::now();
  const size_t fed = Arrange(streams, count);
  const auto [hidden, logits] = workspace_.Parts<2>({count * talker_.hidden(), count * talker_.vocabulary()});
  FeedBack(fed, hidden);
  ChooseFirst(hidden, logits);
  Settle(results, hidden);
  times_.talker = MillisecondsSince(begin);
  begin = Clock::now();
  predictor_.Predict(hidden, jobs_.data(), jobs_.size());
  Finish(results, codes);
  times_.predictor = MillisecondsSince(begin);
}

// Returns how many have a frame to feed back.
size_t FrameStep::Arrange(SpeechStream::State* const* streams, size_t count) {
  for (size_t i = 0; i < count; i++) Judge(*streams[i]);
  places_.clear();
  for (const bool begun : {true, false}) {
    for (size_t i = 0; i < count; i++) {
      if ((streams[i]->frames > 0) == begun) places_.push_back({streams[i], i});
    }
  }
  return static_cast<size_t>(
      std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.stream->frames > 0; }));
}

// hidden [places, talker's width]: of the frames that are fed back, and of the prompts that have just been computed.
void FrameStep::FeedBack(size_t fed, float* hidden) {
  frames_.clear();
  texts_.clear();
  fed_.clear();
  for (size_t i = 0; i < fed; i++) {
    SpeechStream::State& stream = *places_[i].stream;
    frames_.insert(frames_.end(), stream.codes.begin(), stream.codes.end());
    texts_.push_back(stream.NextText());
    fed_.push_back({&stream.cache, 1});
  }
  if (fed > 0) {
    // In the reference's order: the codes, then the text.
    text_rows_.resize(fed);
    embeddings_.SumFrames(frames_.data(), fed, false, hidden);
    const Matrix text = embeddings_.TextRows(texts_.data(), fed, text_rows_.data());
    kernels_.Gather(text, text_rows_.data(), fed, true, hidden);
    talker_.Forward(fed_.data(), fed, hidden);
  }
  const size_t width = talker_.hidden();
  for (size_t i = fed; i < places_.size(); i++) {
    kernels_.Copy(hidden + i * width, places_[i].stream->hidden.Floats(width), width * sizeof(float));
  }
}

void FrameStep::ChooseFirst(const float* hidden, float* logits) {
  const size_t count = places_.size(), vocabulary = talker_.vocabulary();
  first_.resize(count);
  choices_.clear();
  talker_.Logits(hidden, count, logits);
  for (size_t i = 0; i < count; i++) {
    const SpeechStream::State& stream = *places_[i].stream;
    Choice choice{logits + i * vocabulary, vocabulary, stream.history.data(), stream.history.size(), stream.rules.talker,
                  {stream.rules.seed, kFirstCodes, stream.frames}};
    if (stream.frames < stream.rules.min_new_tokens) choice.rules.forbidden = stream.config.talker.ids.eos;
    choices_.push_back(choice);
  }
  kernels_.Choose(choices_.data(), count, first_.data());
  kernels_.Wait();
}

// Who ends here; the others become the predictor's jobs, their hidden vectors move together.
void FrameStep::Settle(StepResult* results, float* hidden) {
  const size_t width = talker_.hidden();
  jobs_.clear();
  for (size_t i = 0; i < places_.size(); i++) {
    const Place place = places_[i];
    SpeechStream::State& stream = *place.stream;
    StepResult& result = results[place.index];
    result = first_[i] < 0                                          ? StepResult::kBroken
             : first_[i] == stream.config.talker.ids.eos            ? StepResult::kEnd
             : stream.frames + 1 == stream.rules.max_new_tokens ? StepResult::kBudget
                                                                    : StepResult::kFrame;
    stream.ended = result != StepResult::kFrame;
    if (stream.ended) continue;
    const size_t at = jobs_.size();
    if (at != i) kernels_.Copy(hidden + at * width, hidden + i * width, width * sizeof(float));
    stream.codes[0] = first_[i];
    jobs_.push_back({&stream.rules.predictor, stream.rules.seed, stream.frames, stream.codes.data()});
    places_[at] = place;
  }
  places_.resize(jobs_.size());
}

void FrameStep::Finish(StepResult* results, int32_t* codes) {
  for (const Place& place : places_) {
    SpeechStream::State& stream = *place.stream;
    if (std::find(stream.codes.begin(), stream.codes.end(), -1) != stream.codes.end()) {
      results[place.index] = StepResult::kBroken;
      stream.ended = true;
      continue;
    }
    stream.Remember(stream.codes[0]);
    stream.frames++;
    std::copy(stream.codes.begin(), stream.codes.end(), codes + place.index * stream.codes.size());
  }
}

}  // namespace parley::model
