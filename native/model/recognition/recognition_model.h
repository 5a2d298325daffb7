// Sound to ids of text, for many streams at a time.
//
//   (Push ..., BeginPass -> RecognitionWork: encode, prefill -> Decode ... until kDone) -> a next pass
//
// A pass recognises the whole sound of a stream so far. It computes only what is new: chunks whose features
// did not change are not convolved again, and blocks of eight seconds that did not change keep their keys and
// values in the decoder's cache. Its result is that of the same pass of a new stream, bit for bit. The result
// of a stream does not depend on the other streams of a call, nor on how its work is cut.
//
// After std::bad_alloc the streams of that call are unusable, and all others are unchanged.
#ifndef PARLEY_MODEL_RECOGNITION_RECOGNITION_MODEL_H_
#define PARLEY_MODEL_RECOGNITION_RECOGNITION_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/recognition/audio_encoder.h"
#include "model/recognition/mel_features.h"
#include "model/recognition/recognition_checkpoint.h"
#include "model/recognition/runaway.h"
#include "model/recognition/text_decoder.h"
#include "model/shared/weights.h"

namespace parley::model {

class RecognitionModel;

struct Pass {
  LastFrame last = LastFrame::kDropped;
  size_t most_frames = SIZE_MAX;  // of the sound: what follows is not recognised
  std::vector<int32_t> tail;      // ids after the audio tokens, to the end of the prompt
  std::vector<int32_t> draft;  // ids that probably follow: they are checked together, not computed in steps
  size_t max_new_tokens = 512;
  bool cuts_loops = false;  // as LoopGuard finds them
  // Aligner: the classes at the positions of this id are read, and no ids are made.
  std::optional<int32_t> marker = std::nullopt;
};

class RecognitionStream {
 public:
  enum class Turn : uint8_t {
    kEncode,   // blocks of sound
    kPrefill,  // rows of the prompt
    kDecode,   // the next id
    kDone,
  };
  enum class End : uint8_t {
    kEndToken,
    kAligned,  // the classes of all markers are known
    kBudget,   // max_new_tokens ids were made
    kLoop,     // the ids repeated; one repetition is kept
    kBroken,   // a logit is not a number
  };

  // `head`: ids before the audio tokens, the same in all passes. The model outlives it.
  RecognitionStream(RecognitionModel& model, std::vector<int32_t> head, Format cache_format);
  ~RecognitionStream();

  void Push(const float* samples, size_t count) { features_.Push(samples, count); }
  // Calls MelFeatures::Settle. It divides the time that BeginPass would take at once.
  bool Settle(size_t most_frames) { return features_.Settle(most_frames); }
  size_t samples() const { return features_.samples(); }

  // Begins a pass over the samples so far; one that is under way is dropped. False: there are fewer than
  // MelFeatures::kLeastSamples. Throws std::length_error if the prompt and max_new_tokens pass the model's
  // positions.
  bool BeginPass(Pass pass);

  Turn turn() const;
  size_t rows_left() const;  // of the prompt, and of the draft
  size_t audio_tokens() const { return audio_tokens_; }
  // The pass wrote these ids, without the end token. Once it is done, `end()` says why.
  const std::vector<int32_t>& generated() const { return generated_; }
  End end() const { return *end_; }
  size_t draft_taken() const { return draft_taken_; }
  const std::vector<int32_t>& classes() const { return classes_; }  // of the markers

  size_t Bytes() const;

 private:
  friend class RecognitionModel;
  friend class RecognitionWork;

  // A block whose rows are in the cache as these keys tell.
  struct BlockState {
    std::vector<ChunkKey> keys;
    std::vector<ChunkKey> convolved;  // of the rows
    std::unique_ptr<Workspace> rows;  // [block_tokens, width]; null: not kept
  };

  size_t FirstChangedBlock() const;
  std::vector<ChunkKey> KeysOf(size_t block) const;
  size_t TokensOf(size_t block) const;
  size_t FirstToken() const;
  size_t RowsWithin(size_t most, bool has_company) const;
  bool IsRead(size_t position) const;
  void MakeRoom(size_t positions);
  void TakeChosen(const int32_t* chosen);
  void TakeClasses(const int32_t* classes, size_t count);
  void Take(int32_t id);

  RecognitionModel& model_;
  const std::vector<int32_t> head_;
  const Format cache_format_;
  MelFeatures features_;
  std::unique_ptr<KvState> cache_;
  std::vector<BlockState> blocks_;

  Pass pass_;
  size_t frames_ = 0, audio_tokens_ = 0;
  size_t block_count_ = 0, first_block_ = 0, next_block_ = 0;  // of the pass: to be encoded from the first on
  Workspace audio_;              // [audio tokens from the first block on, hidden]
  std::vector<int32_t> prompt_;  // and the draft
  std::vector<int32_t> generated_, classes_;
  LoopGuard guard_;  // of the generated ids
  size_t draft_taken_ = 0;
  std::optional<End> end_;
};

class RecognitionModel {
 public:
  // Throws std::bad_alloc, and std::invalid_argument for weights that cannot be quantized. kernels,
  // checkpoint and `host` outlive it: threads that compute features, or none.
  RecognitionModel(Kernels& kernels, const RecognitionCheckpoint& checkpoint,
                   std::optional<Format> decoder_format, cpu::ThreadPool* host = nullptr);

  // One id of each.
  void Decode(RecognitionStream* const* streams, size_t count);

  const RecognitionConfig& config() const { return checkpoint_.config(); }
  const RecognitionCheckpoint& checkpoint() const { return checkpoint_; }
  size_t WeightBytes() const { return weights_.OwnBytes() + weights_.MappedBytes(); }
  // Bytes of the decoder's cache for so many positions.
  size_t CacheBytes(size_t positions, Format format) const {
    return KvState::BytesOf(config().decoder, format, positions);
  }

  AudioEncoder& encoder() { return encoder_; }
  TextDecoder& decoder() { return decoder_; }
  Kernels& kernels() { return kernels_; }
  const LogMel& mel() const { return mel_; }

 private:
  Kernels& kernels_;
  const RecognitionCheckpoint& checkpoint_;
  const LogMel mel_;
  Weights weights_;
  AudioEncoder encoder_;
  TextDecoder decoder_;
  Workspace hidden_;
  std::vector<TextDecoder::Rows> rows_;
  std::vector<int32_t> chosen_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_RECOGNITION_MODEL_H_
