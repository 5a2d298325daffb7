#include "model/speech/frame_step.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "model/shared/layer_weights.h"

namespace parley::model {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The sequence of a seed that first codes are drawn from; those of the predictor have their code's place.
constexpr uint64_t kFirstCodes = 0;

void Validate(const SpeechStream::State& stream) {
  if (stream.PromptLeft() > 0) throw std::logic_error("a stream cannot step before its prompt was computed");
  if (stream.ended) throw std::logic_error("a stream that has ended cannot step");
  if (stream.Starved()) throw std::logic_error("a stream cannot step without its next text row");
}

// Classifies a stream's step by its first code.
StepResult ResultOf(const SpeechStream::State& stream, int32_t first) {
  if (first < 0) return StepResult::kBroken;
  if (first == stream.config.talker.ids.eos) return StepResult::kEnd;
  return stream.frames + 1 == stream.rules.max_new_tokens ? StepResult::kBudget : StepResult::kFrame;
}

}  // namespace

void FrameStep::Run(SpeechStream::State* const* streams, size_t count, StepResult* results, int32_t* codes) {
  Clock::time_point begin = Clock::now();
  const size_t fed = Arrange(streams, count), groups = embeddings_.code_groups();
  const auto [hidden, logits] = workspace_.Parts<2>({count * talker_.hidden(), count * talker_.vocabulary()});
  FeedBack(fed, hidden);
  UploadedChoices choices = UploadChoices();
  talker_.Logits(hidden, count, logits);
  kernels_.Choose(choices.first, count, logits, talker_.vocabulary(), kFirstCodes, Made(), groups);
  // On asynchronous backends, the other codes of ended streams are computed too: to know which ended would
  // cost a wait.
  if (kernels_.AnswersAtOnce()) {
    DropEnded(results, hidden);
    choices = UploadChoices();
  }
  times_.talker = MillisecondsSince(begin);
  begin = Clock::now();
  predictor_.Predict(hidden, choices.others, places_.size(), Made());
  Finish(results, codes);
  times_.predictor = MillisecondsSince(begin);
}

// Returns how many have a frame to feed back.
size_t FrameStep::Arrange(SpeechStream::State* const* streams, size_t count) {
  for (size_t i = 0; i < count; i++) Validate(*streams[i]);
  places_.clear();
  for (const bool begun : {true, false}) {
    for (size_t i = 0; i < count; i++) {
      if ((streams[i]->frames > 0) == begun) places_.push_back({streams[i], i});
    }
  }
  return static_cast<size_t>(std::count_if(places_.begin(), places_.end(),
                                           [](const Place& place) { return place.stream->frames > 0; }));
}

// hidden [places, talker's width]: of the frames that are fed back, and of the prompts that have just been
// computed.
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
    embeddings_.SumFrames(frame_ids_.Upload(frames_).values, fed, false, hidden);
    embeddings_.SumText(texts_, true, hidden);
    talker_.Forward(fed_.data(), fed, hidden);
  }
  const size_t width = talker_.hidden();
  for (size_t i = fed; i < places_.size(); i++) {
    kernels_.Copy(hidden + i * width, places_[i].stream->hidden.Floats(width), width * sizeof(float));
  }
}

// Codes [places, code_groups] of this step in the backend's memory.
int32_t* FrameStep::Made() {
  return reinterpret_cast<int32_t*>(made_.Floats(places_.size() * embeddings_.code_groups()));
}

FrameStep::UploadedChoices FrameStep::UploadChoices() {
  first_choices_.clear();
  other_choices_.clear();
  for (const Place& place : places_) {
    SpeechStream::State& stream = *place.stream;
    first_choices_.push_back({stream.rules.talker, stream.rules.seed, stream.frames, stream.SeenCodes()});
    if (stream.frames < stream.rules.min_new_tokens)
      first_choices_.back().rules.forbidden = stream.config.talker.ids.eos;
    other_choices_.push_back({stream.rules.predictor, stream.rules.seed, stream.frames, nullptr});
  }
  static_assert(sizeof(Choice) % sizeof(float) == 0);
  const size_t bytes = places_.size() * sizeof(Choice);
  const auto [first, others] = uploaded_choices_.Parts<2>({bytes / sizeof(float), bytes / sizeof(float)});
  if (bytes > 0) {
    kernels_.Upload(first, first_choices_.data(), bytes);
    kernels_.Upload(others, other_choices_.data(), bytes);
  }
  return {reinterpret_cast<const Choice*>(first), reinterpret_cast<const Choice*>(others)};
}

// The first `each` codes of every place to the host.
void FrameStep::Fetch(size_t each) {
  const size_t groups = embeddings_.code_groups();
  fetched_.resize(places_.size() * groups);
  kernels_.Download(fetched_.data(), Made(), ((places_.size() - 1) * groups + each) * sizeof(int32_t));
  kernels_.Wait();
}

// Leaves those that go on; their hidden vectors and first codes move together.
void FrameStep::DropEnded(StepResult* results, float* hidden) {
  const size_t width = talker_.hidden(), groups = embeddings_.code_groups();
  Fetch(1);
  size_t left = 0;
  for (size_t i = 0; i < places_.size(); i++) {
    const Place place = places_[i];
    const int32_t first = fetched_[i * groups];
    results[place.index] = ResultOf(*place.stream, first);
    place.stream->ended = results[place.index] != StepResult::kFrame;
    if (place.stream->ended) continue;
    if (left != i) {
      kernels_.Copy(hidden + left * width, hidden + i * width, width * sizeof(float));
      kernels_.Copy(Made() + left * groups, Made() + i * groups, sizeof(int32_t));
    }
    places_[left++] = place;
  }
  places_.resize(left);
}

void FrameStep::Finish(StepResult* results, int32_t* codes) {
  const size_t groups = embeddings_.code_groups();
  if (places_.empty()) return;
  Fetch(groups);
  for (size_t i = 0; i < places_.size(); i++) {
    SpeechStream::State& stream = *places_[i].stream;
    StepResult& result = results[places_[i].index];
    stream.codes.assign(&fetched_[i * groups], &fetched_[i * groups] + groups);
    result = ResultOf(stream, stream.codes[0]);
    const bool broken = std::find(stream.codes.begin(), stream.codes.end(), -1) != stream.codes.end();
    if (result == StepResult::kFrame && broken) result = StepResult::kBroken;
    stream.ended = result != StepResult::kFrame;
    if (stream.ended) continue;
    stream.frames++;
    std::copy(stream.codes.begin(), stream.codes.end(), codes + places_[i].index * groups);
  }
}

Talker::Talker(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Weights& weights,
               std::optional<Format> format)
    : kernels_(kernels),
      transformer_(
          kernels, checkpoint.config().talker.transformer,
          LoadLayers(weights, checkpoint.ModelTensors().Under("talker.model"),
                     static_cast<size_t>(checkpoint.config().talker.transformer.layers), kQwen3Layer, format),
          Sight{}),
      norm_(weights.Floats(checkpoint.ModelTensor("talker.model.norm.weight"))),
      head_(weights.Of(checkpoint.ModelTensor("talker.codec_head.weight"), format)) {}

void Talker::Forward(const Transformer::Stream* streams, size_t count, float* x) {
  transformer_.Forward(streams, count, x);
  size_t rows = 0;
  for (size_t s = 0; s < count; s++) rows += streams[s].rows;
  kernels_.RmsNorm(x, norm_, rows, hidden(), static_cast<float>(transformer_.config().norm_eps), x);
}

void Talker::Logits(const float* hidden, size_t count, float* logits) {
  kernels_.Multiply(head_, Rows(hidden, count, head_.columns), {}, logits);
}

}  // namespace parley::model
