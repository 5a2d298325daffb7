// Blocks of sound to audio tokens, and prompts to the decoder's cache, of many streams together. The work is
// done in pieces, between which other work may run: a piece takes some 30 ms on two processors.
#ifndef PARLEY_MODEL_RECOGNITION_RECOGNITION_WORK_H_
#define PARLEY_MODEL_RECOGNITION_RECOGNITION_WORK_H_

#include <cstddef>
#include <vector>

#include "model/recognition/recognition_model.h"

namespace parley::model {

class RecognitionWork {
 public:
  // The model outlives it.
  explicit RecognitionWork(RecognitionModel& model);

  // Begins work on at most so many blocks of the streams that have blocks left, the first one's first. False:
  // there are none.
  bool Encode(RecognitionStream* const* streams, size_t count, size_t blocks);
  // The same for rows of the prompts of streams whose blocks are encoded.
  bool Prefill(RecognitionStream* const* streams, size_t count, size_t rows);
  // One piece. False: it is done. After an exception this is good for nothing but Drop() and its streams are
  // unusable.
  bool Advance();

  // Forgets what is not done. The streams stay as they were, except for chunks that were convolved.
  void Drop();
  bool busy() const { return kind_ != Kind::kNone; }
  // The streams of the present work, each once.
  const std::vector<RecognitionStream*>& streams() const { return streams_; }
  // Returns the number of its blocks or rows.
  size_t units() const { return kind_ == Kind::kEncode ? blocks_.size() : rows_; }

 private:
  enum class Kind : uint8_t { kNone, kEncode, kPrefill };
  struct Block {
    RecognitionStream* stream;
    size_t number;
  };
  struct Chunk {
    size_t block;  // in blocks_
    size_t number;
    size_t frames;  // that the convolutions see
  };

  void PlanBlock(RecognitionStream* stream, size_t number);
  float* RowsOf(const Block& block);
  void ConvolveSome();
  void BeginLayers();
  void FinishBlocks();
  void FinishPrompts();

  RecognitionModel& model_;
  Kind kind_ = Kind::kNone;
  std::vector<RecognitionStream*> streams_;
  std::vector<Block> blocks_;
  std::vector<Chunk> chunks_;  // to be convolved
  size_t next_chunk_ = 0;
  bool in_layers_ = false;
  std::vector<size_t> tokens_;  // of the blocks
  std::vector<TextDecoder::Rows> prompts_;
  size_t rows_ = 0;
  Transformer::Passage passage_;
  Workspace x_, read_;
  std::vector<float> features_;                     // of the chunks that are convolved together
  std::vector<AudioConvolutions::Chunk> together_;  // those
  std::vector<size_t> read_rows_;                   // of each stream: rows whose logits are read
  std::vector<int32_t> chosen_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_RECOGNITION_WORK_H_
