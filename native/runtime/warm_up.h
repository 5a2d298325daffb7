// Warm-up: generations without a listener, in English and Chinese, short and long, one and several at a time.
// They page in weights, grow memory and let a backend prepare its work before a request waits for it.
#ifndef PARLEY_RUNTIME_WARM_UP_H_
#define PARLEY_RUNTIME_WARM_UP_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/frame_model.h"
#include "runtime/result.h"
#include "runtime/round_times.h"

namespace parley::runtime {

// Texts of the warm-up: short and long, in English and Chinese.
inline constexpr const char* kWarmTexts[] = {
    "Hello.",
    "Good morning, and thank you for calling. How can I help you today?",
    "Your order left our warehouse this morning and will reach you tomorrow between nine and twelve. You will get a "
    "message with the name of the driver and a link where you can follow the delivery. If nobody is at home, the "
    "parcel will be left with a neighbour, or at the shop at the corner of your street.",
    "\u4f60\u597d\u3002",
    "\u65e9\u4e0a\u597d\uff0c\u611f\u8c22\u60a8\u7684\u6765\u7535\u3002\u8bf7\u95ee\u6709\u4ec0\u4e48\u53ef\u4ee5"
    "\u5e2e\u60a8\uff1f",
};
inline constexpr size_t kWarmOfBatches = 1;    // the text that many speak: longer than the frames below
inline constexpr size_t kMostWarmFrames = 10;  // per generation

// Sizes of batches that a warm-up goes through, smallest first, none above `most`. On a processor they say
// how the time grows; where every size is prepared for itself, they are all.
std::vector<size_t> WarmBatchesOf(const Kernels& kernels, size_t most);

// A request that this kind of model accepts: with the speaker, or with a recording if it has none and needs
// one.
SpeechRequest WarmRequest(const FrameModel& model, const char* text, const std::string& speaker);

using Generations = std::vector<std::unique_ptr<Generation>>;

// Finds the voice of a request's recording; null if it has none. A problem: the recording is refused.
Result<std::shared_ptr<Voice>> FindWarmVoice(FrameModel& model, const SpeechRequest& request);

// Makes `count` generations of a request, or none if there is no memory. A problem: the request is refused.
Result<Generations> MakeGenerations(FrameModel& model, const SpeechRequest& request,
                                    const std::shared_ptr<Voice>& voice, size_t count);

// Streams that generate together, begun and with their prompts computed. The model outlives them.
class WarmSpeech {
 public:
  WarmSpeech(FrameModel& model, Generations generations);

  // Adds `count` more generations to the batch.
  void Join(size_t count);
  // Computes a frame of each. Throws NotFinite, as Decode does.
  void Step();
  // Decodes all frames that were generated and not decoded.
  void Decode();
  // Calls Kernels::Pause. To be called between two rounds.
  void Pause() { model_.Pause(); }
  size_t Live() const { return live_.size(); }

 private:
  struct Speaking {
    Generation* generation;
    size_t undecoded;  // frames
  };

  FrameModel& model_;
  const Generations generations_;
  size_t joined_ = 0;
  std::vector<Speaking> live_;
  std::vector<float> samples_;
};

// Returns the times of rounds of several sizes, none larger than max_streams. Skips a text that does not fit
// the model, and returns the first text's problem if all are skipped. Exceptions of the model are passed on.
Result<MeasuredTimes> WarmUp(FrameModel& model, size_t max_streams);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_WARM_UP_H_
