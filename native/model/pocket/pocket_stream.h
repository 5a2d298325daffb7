// State of one voice that speaks, between frames: its keys and values, and the chunk that it is in.
#ifndef PARLEY_MODEL_POCKET_POCKET_STREAM_H_
#define PARLEY_MODEL_POCKET_POCKET_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/pocket/end_rule.h"
#include "model/pocket/noise.h"
#include "model/pocket/text_rules.h"
#include "model/shared/transformer.h"

namespace parley::model {

struct PocketStreamOptions {
  float end_threshold = kEndThreshold;
  // A chunk goes on behind the one before it, which the stream then has room for, too. The package does not
  // do so unless it is asked: the models were trained on single chunks.
  bool continues = false;
};

// Made by PocketModel, touched by its thread only. The model outlives it.
class PocketStream {
 public:
  PocketStream(std::unique_ptr<KvState> voice, const PocketStreamOptions& options, size_t latent)
      : options_(options),
        state_(std::move(voice)),
        voice_positions_(state_->position()),
        last_(latent),
        noise_(nullptr) {}

  // Positions that a chunk takes behind the voice.
  static size_t PositionsOf(const TextChunk& chunk) { return chunk.ids.size() + chunk.max_frames; }

  // Begins a chunk: from the voice again, or with `continues` behind the last chunk. It needs a codec state
  // of its own. What the chunk before had left is dropped. Throws std::length_error if the stream has less
  // room, std::invalid_argument for a chunk without ids or without noise.
  void BeginChunk(const TextChunk& chunk, std::shared_ptr<const Noise> noise);

  size_t prompt_left() const { return ids_.size() - prompt_done_; }  // ids that Prefill has to compute
  size_t frames() const { return rule_.frames(); }                   // of the chunk, so far
  const EndRule& rule() const { return rule_; }
  size_t positions() const { return static_cast<size_t>(state_->position()); }

 private:
  friend class PocketModel;

  // True if the next step need not be computed.
  bool Done() const { return rule_.Ended() || (rule_.EndReached() && !options_.continues); }

  const PocketStreamOptions options_;
  const std::unique_ptr<KvState> state_;
  const uint64_t voice_positions_;
  std::vector<int32_t> ids_;  // of the chunk
  size_t prompt_done_ = 0;
  EndRule rule_;
  bool broken_ = false;
  std::vector<float> last_;  // the latent that is fed back next
  std::shared_ptr<const Noise> noise_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_STREAM_H_
