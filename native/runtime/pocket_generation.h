// A text of Pocket TTS while it is spoken.
#ifndef PARLEY_RUNTIME_POCKET_GENERATION_H_
#define PARLEY_RUNTIME_POCKET_GENERATION_H_

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_checkpoint.h"
#include "model/pocket/pocket_model.h"
#include "runtime/frame_model.h"

namespace parley::runtime {

// A text of Pocket TTS: its chunks, of which one is spoken after the other, and the latents that are not
// decoded yet.
class PocketGeneration final : public Generation {
 public:
  // The checkpoint outlives it.
  PocketGeneration(const model::PocketCheckpoint& checkpoint, std::shared_ptr<const model::KvState> voice,
                   float temperature, const SpeechRequest& request);

  // A text that comes bit by bit is cut into chunks where its sentences end, and the first is spoken at once:
  // each chunk begins with the voice, so that later text changes nothing in it.
  Result<Done, Refusal> AddText(std::string_view text, bool last) override;
  bool Ready() const override { return !chunks_.empty(); }
  bool Starved() const override { return waits_ && !ended_; }
  bool TextEnded() const override { return ended_; }
  size_t TextTokens() const override { return text_tokens_; }
  size_t PromptRows() const override;
  size_t PromptLeft() const override { return stream_ == nullptr ? 0 : stream_->prompt_left(); }
  size_t Held() const override;
  size_t TakenBack() const override { return taken_back_; }
  std::optional<size_t> MostFrames() const override;

  const model::KvState& voice() const { return *voice_; }
  size_t positions() const;  // of the longest chunk, behind the voice; also of one that is still to come
  // Throws std::bad_alloc.
  void Begin(const model::PocketModel& model, size_t draws);
  model::PocketStream* stream() const { return stream_.get(); }
  // The last draw gives no frame.
  bool has_draws() const { return draws_left_ > 1; }
  // Takes the result of a step, with a latent of `count` numbers. Behind a chunk's last frame it begins the
  // next one, or the same once more if its speech has skipped words and none of it was decoded.
  FrameResult Take(model::LatentResult result, const float* latent, size_t count, ChunkFigures* figures);

  // The next frames to decode: of one chunk, and at most `most` of those that were made. They count as
  // decoded.
  struct Piece {
    model::CodecState* state;
    const float* latents;
    size_t frames;
  };
  Piece NextPiece(size_t most, const model::LatentDecoder& decoder);

 private:
  // Latents of a chunk, of which `given` are decoded.
  struct Made {
    size_t chunk;
    std::vector<float> latents;
    size_t frames = 0, given = 0;
  };

  std::optional<Refusal> AddChunks(std::string_view text);
  void BeginChunk(size_t chunk, bool again);
  void BeginNextChunk();
  void Keep(const float* latent, size_t count);
  bool CutShort() const;
  bool MayRepeat() const;
  void TakeBack(size_t known);

  const model::PocketCheckpoint& checkpoint_;
  const std::shared_ptr<const model::KvState> voice_;
  const float temperature_;
  const uint64_t seed_;
  const bool may_repeat_;
  std::string rest_;  // of the text, that is in no chunk yet
  bool ended_ = false;
  size_t most_ids_;  // of a chunk
  size_t text_tokens_ = 0;
  std::vector<model::TextChunk> chunks_;
  size_t chunk_ = 0;  // that is spoken
  size_t draws_left_ = 0;
  bool again_ = false;   // it is spoken for the second time
  bool judged_ = false;  // its end was seen
  bool waits_ = false;   // it is spoken, and the next one has not come
  bool ran_on_ = false;  // a chunk's speech had no end
  size_t taken_back_ = 0;
  std::unique_ptr<model::PocketStream> stream_;
  std::unique_ptr<model::CodecState> codec_;
  size_t codec_chunk_ = 0;  // whose latents the codec's state has seen
  std::list<Made> undecoded_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_POCKET_GENERATION_H_
