#include "runtime/pocket_generation.h"

#include <algorithm>
#include <utility>

namespace parley::runtime {
namespace {

// Ids of a sentence that no mark divides, and which is therefore one chunk. The models were trained on less.
constexpr size_t kMostChunkIds = 400;
// As much, of a text that goes on while it is spoken: a stream has room for the longest chunk from its
// beginning.
constexpr size_t kMostOpenIds = 100;
constexpr uint32_t kOtherNoise = 1u << 31;  // of a chunk that is spoken again

}  // namespace

PocketGeneration::PocketGeneration(const model::PocketCheckpoint& checkpoint,
                                   std::shared_ptr<const model::KvState> voice, float temperature,
                                   const SpeechRequest& request)
    : checkpoint_(checkpoint),
      voice_(std::move(voice)),
      temperature_(temperature),
      seed_(request.seed),
      may_repeat_(request.may_repeat && temperature > 0),
      most_ids_(kMostChunkIds) {}

Result<Done, Refusal> PocketGeneration::AddText(std::string_view text, bool last) {
  rest_ += text;
  ended_ = last;
  const size_t whole = last ? rest_.size() : model::WholeSentences(rest_);
  if (whole > 0) {
    if (const auto refusal = AddChunks(std::string_view(rest_).substr(0, whole))) return *refusal;
    rest_.erase(0, whole);
  }
  if (last && chunks_.empty()) return BadRequest("the text is empty");
  if (waits_ && chunk_ + 1 < chunks_.size()) BeginNextChunk();
  return Done{};
}

std::optional<Refusal> PocketGeneration::AddChunks(std::string_view text) {
  for (model::TextChunk& chunk : model::ChunksOf(text, checkpoint_.pieces(), checkpoint_.config().text)) {
    if (chunk.ids.size() > most_ids_) {
      return Refusal{Outcome::kTooLarge, "a sentence has " + std::to_string(chunk.ids.size()) +
                                             " tokens and no mark that divides it; " +
                                             std::to_string(most_ids_) + " are the most"};
    }
    text_tokens_ += chunk.ids.size();
    chunks_.push_back(std::move(chunk));
  }
  return std::nullopt;
}

size_t PocketGeneration::PromptRows() const { return chunks_.front().ids.size(); }

std::optional<size_t> PocketGeneration::MostFrames() const {
  if (!ended_) return SIZE_MAX - 1;  // each chunk has its limit
  size_t frames = 0;
  for (const model::TextChunk& chunk : chunks_) frames += chunk.max_frames;
  return frames;
}

size_t PocketGeneration::positions() const {
  size_t most = ended_ ? 0 : kMostOpenIds + model::MostFramesOf(kMostOpenIds);
  for (const model::TextChunk& chunk : chunks_)
    most = std::max(most, model::PocketStream::PositionsOf(chunk));
  return most;
}

void PocketGeneration::Begin(const model::PocketModel& model, size_t draws) {
  draws_left_ = draws;
  if (!ended_) most_ids_ = kMostOpenIds;
  stream_ = model.BeginStream(*voice_, positions());
  BeginChunk(0, false);
}

void PocketGeneration::BeginChunk(size_t chunk, bool again) {
  chunk_ = chunk;
  again_ = again;
  judged_ = false;
  const auto sequence = static_cast<uint32_t>(chunk) | (again ? kOtherNoise : 0);
  stream_->BeginChunk(chunks_[chunk],
                      std::make_shared<const model::DrawnNoise>(temperature_, seed_, sequence));
}

void PocketGeneration::BeginNextChunk() {
  ran_on_ = ran_on_ || !stream_->rule().first_end().has_value();
  waits_ = false;
  BeginChunk(chunk_ + 1, false);
}

void PocketGeneration::Keep(const float* latent, size_t count) {
  draws_left_--;
  if (undecoded_.empty() || undecoded_.back().chunk != chunk_) undecoded_.push_back({chunk_, {}});
  std::vector<float>& latents = undecoded_.back().latents;
  latents.insert(latents.end(), latent, latent + count);
  undecoded_.back().frames++;
}

// True if the chunk's speech has skipped words, or may have: its end did not come yet.
bool PocketGeneration::CutShort() const {
  const model::EndRule& rule = stream_->rule();
  return rule.first_end().value_or(rule.frames()) < chunks_[chunk_].least_frames;
}

// Once: a text that the model cannot speak has no better end the third time. Without noise it would say the
// same again.
bool PocketGeneration::MayRepeat() const {
  const bool untouched =
      undecoded_.empty() || undecoded_.back().chunk != chunk_ || undecoded_.back().given == 0;
  return may_repeat_ && !again_ && !judged_ && untouched && CutShort();
}

size_t PocketGeneration::Held() const {
  const bool is_made = !undecoded_.empty() && undecoded_.back().chunk == chunk_;
  return is_made && MayRepeat() ? undecoded_.back().frames : 0;
}

// Drops the chunk's frames, of which the scheduler knows `known`.
void PocketGeneration::TakeBack(size_t known) {
  taken_back_ = known;
  if (undecoded_.empty() || undecoded_.back().chunk != chunk_) return;
  draws_left_ += undecoded_.back().frames;
  undecoded_.pop_back();
}

FrameResult PocketGeneration::Take(model::LatentResult result, const float* latent, size_t count,
                                   ChunkFigures* figures) {
  if (result == model::LatentResult::kBroken) return FrameResult::kBroken;
  const bool is_frame = result == model::LatentResult::kFrame;
  if (is_frame) Keep(latent, count);
  const model::EndRule& rule = stream_->rule();
  if (is_frame && !rule.Ended() && !rule.EndReached()) return FrameResult::kFrame;
  const bool has_end = rule.first_end().has_value();
  if (has_end && MayRepeat()) {
    figures->repeated++;
    TakeBack(rule.frames() - (is_frame ? 1 : 0));
    BeginChunk(chunk_, true);
    return FrameResult::kAgain;
  }
  if (!judged_) {
    figures->cut_short += has_end && CutShort();
    figures->endless += !has_end;
  }
  judged_ = true;
  if (chunk_ + 1 == chunks_.size()) {
    waits_ = !ended_;
    if (is_frame) return FrameResult::kFrame;
    if (waits_) return FrameResult::kNone;
    return ran_on_ || result == model::LatentResult::kBudget ? FrameResult::kBudget : FrameResult::kEnd;
  }
  BeginNextChunk();
  return is_frame ? FrameResult::kFrame : FrameResult::kNone;
}

PocketGeneration::Piece PocketGeneration::NextPiece(size_t most, const model::LatentDecoder& decoder) {
  if (!undecoded_.empty() && undecoded_.front().given == undecoded_.front().frames) undecoded_.pop_front();
  Made& next = undecoded_.front();
  if (codec_ == nullptr || codec_chunk_ != next.chunk) codec_ = decoder.NewState();
  codec_chunk_ = next.chunk;
  const size_t width = next.latents.size() / next.frames;
  const Piece piece = {codec_.get(), next.latents.data() + next.given * width,
                       std::min(most, next.frames - next.given)};
  next.given += piece.frames;
  return piece;
}

}  // namespace parley::runtime
