// One frame of many streams: the talker reads the last frame and chooses the first code of the next; the
// predictor computes the others.
//
// The last frame is fed back at the beginning of a step, not at the end of the step that made it. A frame can
// thus be played one talker pass earlier, and its text row may arrive while it is played.
#ifndef PARLEY_MODEL_FRAME_STEP_H_
#define PARLEY_MODEL_FRAME_STEP_H_

#include <optional>
#include <vector>

#include "model/shared/transformer.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"
#include "model/speech/code_predictor.h"
#include "model/speech/embeddings.h"
#include "model/speech/speech_checkpoint.h"
#include "model/speech/speech_stream.h"

namespace parley::model {

// The talker's transformer: rows to hidden vectors, and those to logits of first codes.
class Talker {
 public:
  // Matrices in `format`, or without one as the file has them.
  Talker(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint, Weights& weights,
         std::optional<Format> format);

  size_t hidden() const { return head_.columns; }
  size_t vocabulary() const { return head_.rows; }
  Transformer& transformer() { return transformer_; }

  // x [sum of rows, hidden] in place: through all layers and the final norm. The states advance.
  void Forward(const Transformer::Stream* streams, size_t count, float* x);
  // logits [count, vocabulary] of what Forward gave.
  void Logits(const float* hidden, size_t count, float* logits);

 private:
  SpeechKernels& kernels_;
  Transformer transformer_;
  const float* const norm_;
  const Matrix head_;
};

// Once it has made the largest step, it allocates nothing.
class FrameStep {
 public:
  // All outlive it.
  FrameStep(SpeechKernels& kernels, Embeddings& embeddings, Talker& talker, CodePredictor& predictor)
      : kernels_(kernels),
        embeddings_(embeddings),
        talker_(talker),
        predictor_(predictor),
        workspace_(kernels),
        frame_ids_(kernels),
        uploaded_choices_(kernels),
        made_(kernels) {}

  // As SpeechModel::Step.
  void Run(SpeechStream::State* const* streams, size_t count, StepResult* results, int32_t* codes);
  const StepTimes& times() const { return times_; }

 private:
  // A stream and its place in the caller's batch.
  struct Place {
    SpeechStream::State* stream;
    size_t index;
  };

  // Sampling choices of first codes, [places], and of the others, [places], in the backend's memory.
  struct UploadedChoices {
    const Choice *first, *others;
  };

  size_t Arrange(SpeechStream::State* const* streams, size_t count);
  void FeedBack(size_t fed, float* hidden);
  UploadedChoices UploadChoices();
  void DropEnded(StepResult* results, float* hidden);
  void Finish(StepResult* results, int32_t* codes);
  void Fetch(size_t each);
  int32_t* Made();

  SpeechKernels& kernels_;
  Embeddings& embeddings_;
  Talker& talker_;
  CodePredictor& predictor_;
  Workspace workspace_;
  IdList frame_ids_;
  Workspace uploaded_choices_, made_;
  StepTimes times_;
  std::vector<Place> places_;  // frames to feed back first, then the others; ended ones may be absent
  std::vector<Transformer::Stream> fed_;
  std::vector<int32_t> frames_, texts_;
  std::vector<int32_t> fetched_;  // codes of the places, each as many as were fetched
  std::vector<Choice> first_choices_, other_choices_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_FRAME_STEP_H_
