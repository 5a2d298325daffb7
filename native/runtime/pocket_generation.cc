#include "runtime/pocket_generation.h"

#include <algorithm>
#include <utility>

namespace parley::runtime {
namespace {

// Ids of a sentence that no mark divides, and which is therefore one chunk. The models were trained on less.
constexpr size_t kMostChunkIds = 400;

}  // namespace

PocketGeneration::PocketGeneration(const model::PocketCheckpoint& checkpoint,
                                   std::shared_ptr<const model::KvState> voice, float temperature,
                                   uint64_t seed)
    : checkpoint_(checkpoint), voice_(std::move(voice)), temperature_(temperature), seed_(seed) {}

Result<Done, Refusal> PocketGeneration::AddText(std::string_view text, bool last) {
  text_ += text;
  ended_ = last;
  if (!last) return Done{};
  chunks_ = model::ChunksOf(text_, checkpoint_.pieces(), checkpoint_.config().text);
  text_ = {};
  if (chunks_.empty()) return BadRequest("the text is empty");
  for (const model::TextChunk& chunk : chunks_) {
    text_tokens_ += chunk.ids.size();
    if (chunk.ids.size() <= kMostChunkIds) continue;
    return Refusal{Outcome::kTooLarge, "a sentence has " + std::to_string(chunk.ids.size()) +
                                           " tokens and no mark that divides it; " +
                                           std::to_string(kMostChunkIds) + " are the most"};
  }
  return Done{};
}

size_t PocketGeneration::PromptRows() const { return chunks_.front().ids.size(); }

std::optional<size_t> PocketGeneration::MostFrames() const {
  size_t frames = 0;
  for (const model::TextChunk& chunk : chunks_) frames += chunk.max_frames;
  return frames;
}

size_t PocketGeneration::positions() const {
  size_t most = 0;
  for (const model::TextChunk& chunk : chunks_)
    most = std::max(most, model::PocketStream::PositionsOf(chunk));
  return most;
}

void PocketGeneration::Begin(const model::PocketModel& model, size_t draws) {
  draws_left_ = draws;
  stream_ = model.BeginStream(*voice_, positions());
  BeginChunk(0);
}

void PocketGeneration::BeginChunk(size_t chunk) {
  chunk_ = chunk;
  const auto sequence = static_cast<uint32_t>(chunk);
  stream_->BeginChunk(chunks_[chunk],
                      std::make_shared<const model::DrawnNoise>(temperature_, seed_, sequence));
}

FrameResult PocketGeneration::Take(model::LatentResult result, const float* latent, size_t count) {
  if (result == model::LatentResult::kBroken) return FrameResult::kBroken;
  const bool is_frame = result == model::LatentResult::kFrame;
  if (is_frame) {
    draws_left_--;
    if (undecoded_.empty() || undecoded_.back().chunk != chunk_) undecoded_.push_back({chunk_, {}});
    std::vector<float>& latents = undecoded_.back().latents;
    latents.insert(latents.end(), latent, latent + count);
    undecoded_.back().frames++;
  }
  const model::EndRule& rule = stream_->rule();
  if (is_frame && !rule.Ended() && !rule.EndReached()) return FrameResult::kFrame;
  if (chunk_ + 1 == chunks_.size()) {
    if (is_frame) return FrameResult::kFrame;
    return ran_on_ || result == model::LatentResult::kBudget ? FrameResult::kBudget : FrameResult::kEnd;
  }
  ran_on_ = ran_on_ || !rule.first_end().has_value();
  BeginChunk(chunk_ + 1);
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
