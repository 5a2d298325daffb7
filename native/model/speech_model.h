// Text to codes: embeddings, talker and code predictor, for many streams at a time.
//
// One generation:   BeginStream -> Prefill -> Step, Step, ... until the end.
// A step is one frame of every stream in it. The answer for a stream depends on
// its own request and seed alone, never on who else is in the batch.
#ifndef PARLEY_MODEL_SPEECH_MODEL_H_
#define PARLEY_MODEL_SPEECH_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "model/prompt.h"
#include "model/transformer.h"
#include "model/weights.h"

namespace parley::model {

// How codes are drawn; where a request says nothing, from generation_config.json.
struct DrawRules {
  SamplingRules talker;     // temperature, top-k, top-p, repetition penalty, greedy
  SamplingRules predictor;
  uint64_t seed = 0;
  size_t max_new_tokens = 2048;  // first codes drawn, the end among them
  size_t min_new_tokens = 2;
};
DrawRules DefaultRules(const GenerationConfig& generation);

// What a voice by example brings; immutable, shared by streams.
struct VoicePrompt {
  std::vector<float> speaker;   // [hidden] of the talker, on the host
  std::vector<int32_t> codes;   // [frames, code_groups], or empty: only the voice is used
  std::string text;             // what the recording says; with codes
};

enum class StepResult : uint8_t {
  kFrame,      // codes were made
  kEnd,        // the end token: no frame
  kBudget,     // max_new_tokens reached: no frame
};

// One generation. Made by SpeechModel, touched by its thread only.
class SpeechStream;

class SpeechModel {
 public:
  SpeechModel(Kernels& kernels, const Checkpoint& checkpoint, Quantize quantize, Format cache_format);
  ~SpeechModel();

  // Bytes of device memory that a stream of so many positions takes: known before it begins.
  size_t StreamBytes(size_t positions) const;
  size_t WeightBytes() const;

  // A stream with room for prompt and budget. `voice` may be null; it and the model outlive the stream.
  // False with `problem` set when the positions pass the model's limit.
  std::unique_ptr<SpeechStream> BeginStream(const Prompt& prompt, std::shared_ptr<const VoicePrompt> voice,
                                            const DrawRules& rules, std::string* problem);

  // The prompts of these streams, together; afterwards each can step.
  void Prefill(SpeechStream* const* streams, size_t count);
  // One frame of each. results[i]; codes [count, code_groups] where it is kFrame.
  // Streams that need a text row which has not come (SpeechStream::Starved) must not be among them.
  void Step(SpeechStream* const* streams, size_t count, StepResult* results, int32_t* codes);

  const ModelConfig& config() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

class SpeechStream {
 public:
  // Text that comes while it is being spoken (Prompt with whole_text false): ids of the
  // text vocabulary; after FinishText() the end row and then padding are fed.
  void AddText(const std::vector<int32_t>& ids);
  void FinishText();
  // The next step needs a text row that has not come.
  bool Starved() const;
  size_t frames() const;     // made so far
  size_t positions() const;  // of the cache, in use

 private:
  friend class SpeechModel;
  struct State;
  std::unique_ptr<State> state_;

 public:
  explicit SpeechStream(std::unique_ptr<State> state);
  ~SpeechStream();
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SPEECH_MODEL_H_
