#include "model/speech/speech_model.h"

#include <algorithm>
#include <stdexcept>

#include "model/speech/embeddings.h"
#include "model/speech/frame_step.h"
#include "model/speech/prompt.h"

namespace parley::model {
namespace {

std::optional<Format> TalkersFormat(Quantize quantize) {
  if (quantize == Quantize::kNone) return std::nullopt;
  return quantize == Quantize::kFp8 ? Format::kFp8 : Format::kInt8;
}

std::optional<Format> PredictorsFormat(Quantize quantize) {
  return quantize == Quantize::kAll ? std::optional<Format>(Format::kInt8) : std::nullopt;
}

}  // namespace

struct SpeechModel::Parts {
  Parts(SpeechKernels& backend, const SpeechCheckpoint& checkpoint, Quantize quantize, Format format)
      : kernels(backend),
        config(checkpoint.config()),
        cache_format(format),
        weights(backend),
        embeddings(backend, checkpoint, weights),
        prompt_rows(backend, embeddings),
        talker(backend, checkpoint, weights, TalkersFormat(quantize)),
        predictor(backend, checkpoint, embeddings, weights, PredictorsFormat(quantize)),
        step(backend, embeddings, talker, predictor),
        rows(backend) {}

  void PrefillPiece();

  SpeechKernels& kernels;
  const ModelConfig& config;
  const Format cache_format;
  Weights weights;
  Embeddings embeddings;
  PromptRows prompt_rows;
  Talker talker;
  CodePredictor predictor;
  FrameStep step;
  Workspace rows;
  // A piece of a prefill, and those of a step.
  std::vector<SpeechStream::State*> states;
  std::vector<Transformer::Stream> piece;
  std::vector<PromptRows::Part> parts;
};

SpeechModel::SpeechModel(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Quantize quantize,
                         Format cache_format)
    : parts_(std::make_unique<Parts>(kernels, checkpoint, quantize, cache_format)) {}

SpeechModel::~SpeechModel() = default;

size_t SpeechModel::StreamBytes(size_t positions) const {
  return PrefixBytes(positions) + parts_->predictor.StreamBytes() + parts_->talker.hidden() * sizeof(float) +
         parts_->talker.vocabulary();
}

size_t SpeechModel::PrefixBytes(size_t rows) const {
  return KvState::BytesOf(parts_->config.talker.transformer, parts_->cache_format, rows);
}

size_t SpeechModel::WeightBytes() const { return parts_->weights.OwnBytes() + parts_->weights.MappedBytes(); }

const ModelConfig& SpeechModel::config() const { return parts_->config; }

const StepTimes& SpeechModel::last_step() const { return parts_->step.times(); }

std::unique_ptr<SpeechStream> SpeechModel::BeginStream(const Prompt& prompt,
                                                       std::shared_ptr<const VoicePrompt> voice,
                                                       const DrawRules& rules, std::string* problem,
                                                       const StreamOptions& options) {
  const ModelConfig& config = parts_->config;
  DrawRules whole = rules;
  if (!CompleteRules(config, &whole, problem) || !FitsModel(config, prompt, voice.get(), problem))
    return nullptr;
  const size_t positions = PositionsOf(prompt, whole.max_new_tokens);
  if (positions > static_cast<size_t>(config.talker.positions)) {
    *problem = "a prompt of " + std::to_string(prompt.rows.size()) + " rows and " +
               std::to_string(whole.max_new_tokens) + " new tokens pass the model's " +
               std::to_string(config.talker.positions) + " positions";
    return nullptr;
  }
  const bool ends_behind = !prompt.trailing.empty() && prompt.trailing.back() == config.text_ids.tts_eos;
  if (options.more_text && !ends_behind) {
    *problem = "more text cannot follow: the prompt has all of it, or too little to begin";
    return nullptr;
  }
  auto state = std::make_unique<SpeechStream::State>(parts_->kernels, config, prompt, std::move(voice), whole,
                                                     parts_->cache_format);
  state->more_text = options.more_text;
  if (options.more_text) state->prompt.trailing.pop_back();
  if (options.prefix != nullptr) {
    // The last row is computed in any case: its hidden vector is what the first code is chosen from.
    const size_t shared =
        std::min(options.prefix->SharedWith(prompt, state->voice.get()), prompt.rows.size() - 1);
    state->cache.CopyFrom(options.prefix->state(), shared);
    state->prompt_done = shared;
  }
  return std::make_unique<SpeechStream>(std::move(state));
}

void SpeechModel::Prefill(SpeechStream* const* streams, size_t count, size_t rows) {
  while (rows > 0) {
    const size_t most = std::min(rows, PromptPieceOf(parts_->kernels));
    size_t taken = 0;
    parts_->states.clear();
    parts_->piece.clear();
    for (size_t s = 0; s < count && taken < most; s++) {
      SpeechStream::State& state = *streams[s]->state_;
      const size_t take = std::min(state.PromptLeft(), most - taken);
      if (take == 0) continue;
      parts_->states.push_back(&state);
      parts_->piece.push_back({&state.cache, take});
      taken += take;
    }
    if (taken == 0) return;
    parts_->PrefillPiece();
    rows -= taken;
  }
}

void SpeechModel::Parts::PrefillPiece() {
  const size_t width = talker.hidden();
  size_t count = 0;
  parts.clear();
  for (size_t s = 0; s < piece.size(); s++) {
    const SpeechStream::State& state = *states[s];
    parts.push_back({&state.prompt, state.voice.get(), state.prompt_done, state.prompt_done + piece[s].rows});
    count += piece[s].rows;
  }
  float* const x = rows.Floats(count * width);
  prompt_rows.Sum(parts.data(), parts.size(), x);
  talker.Forward(piece.data(), piece.size(), x);
  const float* at = x;
  for (size_t s = 0; s < piece.size(); s++) {
    at += piece[s].rows * width;
    states[s]->prompt_done += piece[s].rows;
    if (states[s]->PromptLeft() > 0) continue;
    kernels.Copy(states[s]->hidden.Floats(width), at - width, width * sizeof(float));
  }
  kernels.Wait();
}

std::shared_ptr<const PromptPrefix> SpeechModel::KeepPrefix(const SpeechStream& stream, size_t rows) const {
  const SpeechStream::State& state = *stream.state_;
  if (rows > state.prompt_done)
    throw std::invalid_argument("rows of a prompt can be kept once they were computed");
  auto kept = std::make_unique<KvState>(parts_->kernels, parts_->config.talker.transformer,
                                        parts_->cache_format, rows);
  kept->CopyFrom(state.cache, rows);
  const auto end = state.prompt.rows.begin() + static_cast<ptrdiff_t>(rows);
  return std::make_shared<const PromptPrefix>(std::vector<PromptRow>(state.prompt.rows.begin(), end),
                                              state.voice, std::move(kept));
}

void SpeechModel::Step(SpeechStream* const* streams, size_t count, StepResult* results, int32_t* codes) {
  parts_->states.clear();
  for (size_t s = 0; s < count; s++) parts_->states.push_back(streams[s]->state_.get());
  if (count > 0) parts_->step.Run(parts_->states.data(), count, results, codes);
}

}  // namespace parley::model
