// Chunks of text to latents: the backbone, the flow net and the end rule, for many streams at a time.
//
// One generation: BeginStream, and for each chunk BeginChunk -> Prefill -> Step, Step, ... until its end. A
// step computes one latent of every stream in it; the decoder makes sound of a latent at once. The result for
// a stream depends on its own chunks and noise alone, bit for bit, not on the other streams of the batch and
// not on how a chunk's ids are cut.
//
// After std::bad_alloc the streams of that call are unusable, and all others are unchanged.
#ifndef PARLEY_MODEL_POCKET_POCKET_MODEL_H_
#define PARLEY_MODEL_POCKET_POCKET_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/pocket/backbone.h"
#include "model/pocket/flow_net.h"
#include "model/pocket/pocket_stream.h"
#include "model/pocket/pocket_voice.h"

namespace parley::model {

struct PocketModelOptions {
  Activation activation = Activation::kGeluTanh;  // kGelu: as version 2.1 of the package
  std::optional<Format> backbone;                 // of its layers' matrices; without one as the file has them
  Format cache = Format::kF32;                    // of keys and values
  size_t flow_steps = 1;                          // of the flow net to a latent
};

enum class LatentResult : uint8_t {
  kFrame,   // a latent was made
  kEnd,     // the chunk has ended: no latent
  kBudget,  // max_frames are reached, and the end of speech did not come: no latent
  kBroken,  // the model computed what is no number: no latent
};

// Milliseconds.
struct LatentTimes {
  double backbone = 0;
  double flow = 0;
};

class PocketModel {
 public:
  // Throws std::bad_alloc, and std::invalid_argument for weights that cannot be quantized.
  // kernels and checkpoint outlive it.
  PocketModel(SpeechKernels& kernels, const PocketCheckpoint& checkpoint,
              const PocketModelOptions& options = {});

  // Puts what a voice's file holds, or what the backbone makes of its rows, into the backend's memory. All
  // streams of the voice begin with it.
  std::shared_ptr<const KvState> LoadVoice(const PocketVoice& voice);
  // A voice that is made of rows, some at a time: room for `positions`, and the next `count` rows
  // [count, width] on the host. The result does not depend on how they are cut.
  std::unique_ptr<KvState> NewVoice(size_t positions) const { return backbone_.NewState(positions, cache_); }
  void AppendVoice(KvState* voice, const float* rows, size_t count);
  // Bytes of a stream, or of a voice, of so many positions.
  size_t StreamBytes(size_t positions) const;
  size_t WeightBytes() const { return backbone_.WeightBytes() + flow_.WeightBytes(); }

  // A stream with room for a chunk of so many positions behind the voice (PocketStream::PositionsOf), or with
  // `continues` for all chunks.
  std::unique_ptr<PocketStream> BeginStream(const KvState& voice, size_t positions,
                                            const PocketStreamOptions& options = {}) const;

  // At most `rows` of the ids of these streams' chunks, the first one's first; a stream with none left can
  // step.
  void Prefill(PocketStream* const* streams, size_t count, size_t rows = SIZE_MAX);

  // One latent of each. results[i]; latents [count, latent] on the host, where it is kFrame. Nothing is
  // computed for a stream whose chunk has ended. Throws std::logic_error, before anything is computed, for a
  // stream without a chunk or with ids left, and what its Noise throws.
  void Step(PocketStream* const* streams, size_t count, LatentResult* results, float* latents);
  const LatentTimes& last_step() const { return times_; }

  size_t latent() const { return latent_; }
  Backbone& backbone() { return backbone_; }

 private:
  // A stream and its place in the caller's batch.
  struct Place {
    PocketStream* stream;
    size_t index;
  };

  void Arrange(PocketStream* const* streams, size_t count, LatentResult* results);
  void Compute();
  LatentResult Finish(PocketStream& stream, float eos, const float* made, float* latent) const;

  SpeechKernels& kernels_;
  const TransformerConfig config_;
  const size_t latent_;
  const Format cache_;
  Backbone backbone_;
  FlowNet flow_;
  Workspace workspace_;
  std::vector<Place> places_;  // those that are computed
  std::vector<KvState*> states_;
  std::vector<Transformer::Stream> piece_;
  std::vector<int32_t> ids_;
  std::vector<float> fed_, made_, eos_;  // of the places: latents and noise, latents, end logits
  LatentTimes times_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_MODEL_H_
