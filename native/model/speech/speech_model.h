// Text to codes: embeddings, talker and code predictor, for many streams at a time.
//
// One generation: BeginStream -> Prefill -> Step, Step, ... until the end. A step computes one frame of every
// stream in it. The result for a stream depends on its own request and seed alone. It does not depend on the
// other streams of the batch, on how its prompt is cut, or on whether a prefix of it was computed before.
//
// After std::bad_alloc the streams of that call are unusable, and all others are unchanged.
#ifndef PARLEY_MODEL_SPEECH_MODEL_H_
#define PARLEY_MODEL_SPEECH_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/speech/prompt.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::model {

// Rules for sampling codes; values that a request does not set come from generation_config.json. Suppressed
// ids, and the earliest end, are the model's own: those fields of SamplingRules are ignored.
struct DrawRules {
  SamplingRules talker;     // temperature, top-k, top-p, repetition penalty, greedy
  SamplingRules predictor;  // the same without the penalty
  uint64_t seed = 0;
  size_t max_new_tokens = 2048;  // first codes drawn, the end among them
  size_t min_new_tokens = 2;
};
DrawRules DefaultRules(const GenerationConfig& generation);

// The keys and values of the first rows of a prompt, computed once: what a voice's prompts have in common.
// Immutable, shared; the model outlives it.
class PromptPrefix {
 public:
  PromptPrefix(std::vector<PromptRow> rows, std::shared_ptr<const VoicePrompt> voice,
               std::unique_ptr<KvState> state)
      : rows_(std::move(rows)), voice_(std::move(voice)), state_(std::move(state)) {}

  // Number of a prompt's first rows that are equal to these. Rows of a voice are equal for the same
  // VoicePrompt only.
  size_t SharedWith(const Prompt& prompt, const VoicePrompt* voice) const;
  const KvState& state() const { return *state_; }
  size_t rows() const { return rows_.size(); }

 private:
  const std::vector<PromptRow> rows_;
  const std::shared_ptr<const VoicePrompt> voice_;
  const std::unique_ptr<const KvState> state_;
};

// The first rows that two prompts have in common.
size_t CommonRows(const Prompt& a, const Prompt& b);

enum class StepResult : uint8_t {
  kFrame,   // codes were made
  kEnd,     // the end token: no frame
  kBudget,  // max_new_tokens reached: no frame
  kBroken,  // a logit is no number: the weights or the voice are damaged. No frame
};

// Milliseconds.
struct StepTimes {
  double talker = 0;  // with the rows that are fed back and the choice of first codes
  double predictor = 0;
};

struct StreamOptions {
  // The text goes on: AddText, then FinishText. The prompt (whole_text false) ends its text with
  // tts_eos among the trailing rows, which is left out until FinishText.
  bool more_text = false;
  // Need not fit: as many rows of it are used as the prompt shares.
  std::shared_ptr<const PromptPrefix> prefix = nullptr;
};

// One generation. Made by SpeechModel, touched by its thread only. The model outlives it.
class SpeechStream;

class SpeechModel {
 public:
  // Throws std::bad_alloc, and std::invalid_argument for weights that cannot be quantized.
  // kernels and checkpoint outlive it.
  SpeechModel(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Quantize quantize,
              Format cache_format);
  ~SpeechModel();

  // Bytes of device memory that a stream of so many positions takes: known before it begins.
  size_t StreamBytes(size_t positions) const;
  size_t PrefixBytes(size_t rows) const;
  size_t WeightBytes() const;  // its own and the parts of the checkpoint that are read

  // A stream with room for prompt and budget: prompt.rows + max_new_tokens - 1 positions. `voice` may be
  // null. Null with `problem` set when that passes the model's limit, when rules are out of their range, or
  // when prompt and voice do not fit the model.
  std::unique_ptr<SpeechStream> BeginStream(const Prompt& prompt, std::shared_ptr<const VoicePrompt> voice,
                                            const DrawRules& rules, std::string* problem,
                                            const StreamOptions& options = {});

  // At most `rows` of the prompts of these streams, the first one's first; a stream with none left can step.
  void Prefill(SpeechStream* const* streams, size_t count, size_t rows = SIZE_MAX);
  // The first rows of a stream's prompt, which were computed already; else std::invalid_argument.
  std::shared_ptr<const PromptPrefix> KeepPrefix(const SpeechStream& stream, size_t rows) const;

  // One frame of each. results[i]; codes [count, code_groups] where it is kFrame. Throws std::logic_error,
  // before anything is computed, for a stream that has ended, has prompt rows left, or is starved.
  void Step(SpeechStream* const* streams, size_t count, StepResult* results, int32_t* codes);
  const StepTimes& last_step() const;

  const ModelConfig& config() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

class SpeechStream {
 public:
  struct State;

  explicit SpeechStream(std::unique_ptr<State> state);
  ~SpeechStream();

  // Text that comes while it is being spoken: ids of the text vocabulary; after
  // FinishText() the end row and then padding are fed. Throws std::logic_error after the text's end,
  // std::invalid_argument for an id that is none.
  void AddText(const std::vector<int32_t>& ids);
  void FinishText();
  // The next step needs a text row that has not come.
  bool Starved() const;
  size_t prompt_left() const;  // rows that Prefill has still to compute
  size_t frames() const;       // made so far
  size_t positions() const;    // used positions of the cache

 private:
  friend class SpeechModel;
  const std::unique_ptr<State> state_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SPEECH_MODEL_H_
