// The scheduler's interface to the model: generations are read, begun, prefilled, stepped and decoded, many
// at a time. QwenFrameModel implements it; tests have an implementation that plays a script.
//
//   Read -> (AddText...) -> Begin -> Prefill... -> Step, Decode, ... -> destroyed
//
// All calls come from the engine's thread. std::bad_alloc means out of memory; any other exception is a
// mistake. In both cases the generations of that call are unusable, and all others are unchanged.
#ifndef PARLEY_RUNTIME_FRAME_MODEL_H_
#define PARLEY_RUNTIME_FRAME_MODEL_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernels.h"
#include "runtime/engine.h"
#include "runtime/result.h"

namespace parley::runtime {

// A voice that a model has made of a recording. Each model has a kind of its own.
struct Voice {
  virtual ~Voice() = default;
  size_t bytes = 0;  // all of it; code that adds something also adds its size
};

// Reason for refusing a request.
struct Refusal {
  Outcome outcome = Outcome::kBadRequest;
  std::string problem;
};

inline Refusal BadRequest(const std::string& problem) { return {Outcome::kBadRequest, problem}; }

// One generation, from its request to its last frame. It holds memory of the model from Begin until it is
// destroyed.
class Generation {
 public:
  virtual ~Generation() = default;

  // Appends text; `last` ends it. Refused if the text cannot be read.
  virtual Result<Done, Refusal> AddText(std::string_view text, bool last) = 0;
  // True if there is enough text for the prompt, so that it can begin.
  virtual bool Ready() const = 0;
  // True if the next frame needs text that has not arrived.
  virtual bool Starved() const = 0;

  virtual bool TextEnded() const = 0;
  virtual size_t TextTokens() const = 0;  // so far
  virtual size_t PromptRows() const = 0;  // once it is Ready
  // Rows that Prefill has still to compute, from Begin on. A step may leave more: a text can have several
  // prompts.
  virtual size_t PromptLeft() const = 0;
  // The newest frames that are not decoded, and that the model may still take back and make anew: they are
  // better decoded once it is sure of them.
  virtual size_t Held() const { return 0; }
  // The frames that the last step took back: kAgain.
  virtual size_t TakenBack() const { return 0; }
  // Frames that the model itself allows this text. Without them the limit follows from the text's length.
  virtual std::optional<size_t> MostFrames() const { return std::nullopt; }
};

// The model computed numbers that are not finite: its weights are damaged.
class NotFinite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
inline constexpr char kLogitsNotFinite[] = "the model computed what is not a number";
inline constexpr char kSoundNotFinite[] = "the codec computed sound that is not finite";
inline bool IsFinite(const float* samples, size_t count) {
  return std::all_of(samples, samples + count, [](float sample) { return std::isfinite(sample); });
}

enum class FrameResult : uint8_t {
  kFrame,   // one more frame can be decoded
  kNone,    // there is no frame, and it goes on: rows of its prompt are left
  kAgain,   // as kNone, and the frames that were held are taken back
  kEnd,     // the model ended it: no frame
  kBudget,  // all draws are used up: no frame
  kBroken,  // a logit is not finite: no frame
};

// Total milliseconds.
struct StageTimes {
  double prefill = 0, talker = 0, predictor = 0, codec = 0, voice = 0;
};

class FrameModel {
 public:
  virtual ~FrameModel() = default;

  virtual const EngineFacts& facts() const = 0;
  virtual size_t FrameSamples() const = 0;
  virtual size_t MostPositions() const = 0;  // prompt and frames together
  virtual size_t MostDraws() const = 0;      // default of a generation
  virtual size_t FreeBytes() const = 0;      // that streams and voices could take
  virtual StageTimes Times() const = 0;
  virtual ChunkFigures Chunks() const { return {}; }
  virtual BackendFigures Figures() const = 0;
  // Same contract as Kernels::Rehearse.
  virtual bool Rehearse(bool) { return false; }
  // Same contract as Kernels::Pause.
  virtual void Pause() {}
  // Sizes of batches that a warm-up goes through, smallest first, none above `most`.
  virtual std::vector<size_t> WarmBatches(size_t most) const = 0;

  // Finds the voice of a recording. If it is not kept and `work` is true, does a part of the work. Null: it
  // is not ready, ask again. A problem: the recording cannot be used.
  virtual Result<std::shared_ptr<Voice>> FindVoice(const std::shared_ptr<const Recording>& recording,
                                                   bool work) = 0;
  // Drops the work on a voice that no generation requests any more.
  virtual void DropWork() = 0;
  // Memory, in bytes, that the work would need beyond what is already taken.
  virtual size_t WorkBytesOf(const Recording& recording) const = 0;
  virtual size_t Voices() const = 0;
  virtual size_t VoiceBytes() const = 0;
  // Evicts the least recently used voice that no generation uses. False if there is none.
  virtual bool ForgetVoice() = 0;

  // Refused if the request does not fit the model. Takes no memory of the model.
  virtual Result<std::unique_ptr<Generation>, Refusal> Read(const SpeechRequest& request,
                                                            std::shared_ptr<Voice> voice) = 0;
  // Memory, in bytes, for `draws` draws of a first code; each but the last gives a frame.
  virtual size_t BytesOf(const Generation& generation, size_t draws) const = 0;
  virtual void Begin(Generation& generation, size_t draws) = 0;
  // Computes at most `rows` rows of their prompts, in the order of the generations.
  virtual void Prefill(Generation* const* generations, size_t count, size_t rows) = 0;
  // Computes one frame of each, or its end. None may be starved or have prompt rows left.
  virtual void Step(Generation* const* generations, size_t count, FrameResult* results) = 0;

  struct DecodeJob {
    Generation* generation;
    size_t frames;   // the next ones that were made and not decoded
    float* samples;  // [frames * FrameSamples()]
  };
  // Needs of a step nothing but its codes: here is the place where the codec could work beside the next step.
  virtual void Decode(const DecodeJob* jobs, size_t count) = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_FRAME_MODEL_H_
