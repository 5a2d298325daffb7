#include "model/recognition/recognition_model.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace parley::model {
namespace {

constexpr size_t kLeastPositions = 256;  // of a cache

LogMelShape ShapeOf(const RecognitionCheckpoint& checkpoint) {
  LogMelShape shape = kRecognitionMel;
  shape.bands = static_cast<size_t>(checkpoint.config().encoder.mel_bands);
  return shape;
}

}  // namespace

RecognitionModel::RecognitionModel(Kernels& kernels, const RecognitionCheckpoint& checkpoint,
                                   std::optional<Format> decoder_format, cpu::ThreadPool* host)
    : kernels_(kernels),
      checkpoint_(checkpoint),
      mel_(ShapeOf(checkpoint), host),
      weights_(kernels),
      encoder_(kernels, weights_, checkpoint),
      decoder_(kernels, weights_, checkpoint, decoder_format),
      hidden_(kernels) {}

void RecognitionModel::Decode(RecognitionStream* const* streams, size_t count) {
  rows_.clear();
  for (size_t s = 0; s < count; s++) {
    if (streams[s]->turn() != RecognitionStream::Turn::kDecode)
      throw std::logic_error("a stream that is not in its pass's text cannot decode");
    rows_.push_back({streams[s]->cache_.get(), &streams[s]->generated_.back(), 1, nullptr});
  }
  float* const hidden = hidden_.Floats(count * decoder_.hidden());
  decoder_.Embed(rows_.data(), count, hidden);
  decoder_.Forward(rows_.data(), count, hidden);
  chosen_.resize(count);
  decoder_.Choose(hidden, count, chosen_.data());
  for (size_t s = 0; s < count; s++) streams[s]->Take(chosen_[s]);
}

RecognitionStream::RecognitionStream(RecognitionModel& model, std::vector<int32_t> head, Format cache_format)
    : model_(model),
      head_(std::move(head)),
      cache_format_(cache_format),
      features_(model.mel()),
      audio_(model.kernels()) {}

RecognitionStream::~RecognitionStream() = default;

size_t RecognitionStream::Bytes() const {
  size_t bytes = features_.Bytes() + audio_.Room() * sizeof(float);
  for (const BlockState& block : blocks_)
    bytes += block.rows == nullptr ? 0 : block.rows->Room() * sizeof(float);
  return bytes + (cache_ == nullptr ? 0 : model_.CacheBytes(cache_->capacity(), cache_format_));
}

std::vector<ChunkKey> RecognitionStream::KeysOf(size_t block) const {
  const size_t per_block = model_.encoder().block_tokens() / kChunkTokens;
  const size_t chunks = (frames_ + kChunkFrames - 1) / kChunkFrames;
  std::vector<ChunkKey> keys;
  for (size_t chunk = block * per_block; chunk < std::min(chunks, (block + 1) * per_block); chunk++)
    keys.push_back(features_.KeyOf(chunk));
  return keys;
}

size_t RecognitionStream::TokensOf(size_t block) const {
  const size_t most = model_.encoder().block_tokens();
  return std::min(most, audio_tokens_ - block * most);
}

// Blocks before this one lie in the cache as they are now.
size_t RecognitionStream::FirstChangedBlock() const {
  const size_t most = model_.encoder().block_tokens();
  const size_t position = cache_ == nullptr ? 0 : static_cast<size_t>(cache_->position());
  const size_t tokens = position > head_.size() ? position - head_.size() : 0;
  const size_t cached = std::min(tokens >= audio_tokens_ ? block_count_ : tokens / most, blocks_.size());
  for (size_t block = 0; block < cached; block++) {
    if (blocks_[block].keys != KeysOf(block)) return block;
  }
  return cached;
}

// The first of the audio tokens that the pass computes.
size_t RecognitionStream::FirstToken() const {
  return std::min(first_block_ * model_.encoder().block_tokens(), audio_tokens_);
}

// The rows to compute next, at most `most`. The last of the prompt and the draft go together, even if they
// are more, unless other streams' rows go with them.
size_t RecognitionStream::RowsWithin(size_t most, bool has_company) const {
  const size_t left = rows_left(), last = pass_.marker ? 0 : 1 + pass_.draft.size();
  if (left <= most) return left;
  if (left > last) return std::min(most, left - last);
  return has_company ? 0 : left;
}

bool RecognitionStream::BeginPass(Pass pass) {
  const size_t before = audio_tokens_;
  end_.reset();
  generated_.clear();
  classes_.clear();
  draft_taken_ = 0;
  guard_ = {};
  frames_ = features_.End(pass.last, pass.most_frames);
  if (frames_ == 0) return false;
  const size_t most = model_.encoder().block_tokens();
  audio_tokens_ = AudioTokensOf(frames_);
  block_count_ = (audio_tokens_ + most - 1) / most;
  // Positions after the last pass's audio tokens are its text.
  if (cache_ != nullptr && cache_->position() > head_.size() + before) cache_->Rewind(head_.size() + before);
  first_block_ = next_block_ = FirstChangedBlock();
  blocks_.resize(block_count_);
  pass_ = std::move(pass);
  prompt_ = head_;
  prompt_.insert(prompt_.end(), audio_tokens_, kAudioToken);
  prompt_.insert(prompt_.end(), pass_.tail.begin(), pass_.tail.end());
  const size_t positions = prompt_.size() + std::max(pass_.max_new_tokens, pass_.draft.size());
  if (positions > static_cast<size_t>(model_.config().positions)) {
    throw std::length_error("a prompt of " + std::to_string(prompt_.size()) + " rows and " +
                            std::to_string(pass_.max_new_tokens) + " new tokens pass the model's " +
                            std::to_string(model_.config().positions) + " positions");
  }
  prompt_.insert(prompt_.end(), pass_.draft.begin(), pass_.draft.end());
  MakeRoom(positions);
  const size_t kept = head_.size() + FirstToken();
  if (cache_->position() > kept) cache_->Rewind(kept);
  audio_.Floats((audio_tokens_ - FirstToken()) * model_.decoder().hidden());
  return true;
}

// A cache grows by half, so that a stream of any length copies each position a few times.
void RecognitionStream::MakeRoom(size_t positions) {
  if (cache_ != nullptr && cache_->capacity() >= positions) return;
  const size_t old = cache_ == nullptr ? 0 : cache_->capacity();
  auto larger = std::make_unique<KvState>(model_.kernels(), model_.config().decoder, cache_format_,
                                          std::max({positions, old + old / 2, kLeastPositions}));
  if (cache_ != nullptr) larger->CopyFrom(*cache_, cache_->position());
  cache_ = std::move(larger);
}

RecognitionStream::Turn RecognitionStream::turn() const {
  if (end_ || prompt_.empty()) return Turn::kDone;
  if (next_block_ < block_count_) return Turn::kEncode;
  return rows_left() > 0 && generated_.empty() ? Turn::kPrefill : Turn::kDecode;
}

size_t RecognitionStream::rows_left() const {
  const auto position = static_cast<size_t>(cache_->position());
  return prompt_.size() - std::min(prompt_.size(), position);
}

// True if the logits of this position of the prompt decide something.
bool RecognitionStream::IsRead(size_t position) const {
  return pass_.marker ? prompt_[position] == *pass_.marker
                      : position + 1 + pass_.draft.size() >= prompt_.size();
}

// chosen [1 + draft]: what follows the prompt, and each id of the draft. The cache keeps what was right.
void RecognitionStream::TakeChosen(const int32_t* chosen) {
  const size_t draft = pass_.draft.size(), prompt = prompt_.size() - draft;
  while (draft_taken_ < draft && !end_ && chosen[draft_taken_] == pass_.draft[draft_taken_]) {
    Take(chosen[draft_taken_]);
    draft_taken_++;
  }
  cache_->Rewind(prompt + draft_taken_);
  if (!end_) Take(chosen[draft_taken_]);
}

void RecognitionStream::TakeClasses(const int32_t* classes, size_t count) {
  classes_.insert(classes_.end(), classes, classes + count);
  if (std::find(classes, classes + count, -1) != classes + count) end_ = End::kBroken;
  else if (rows_left() == 0) end_ = End::kAligned;
}

void RecognitionStream::Take(int32_t id) {
  const std::vector<int32_t>& ends = model_.checkpoint().ends();
  const bool is_end = std::find(ends.begin(), ends.end(), id) != ends.end();
  if (id < 0 || is_end) {
    end_ = id < 0 ? End::kBroken : End::kEndToken;
    return;
  }
  generated_.push_back(id);
  const auto loop = pass_.cuts_loops ? guard_.Push(id) : std::nullopt;
  if (loop) {
    generated_.resize(loop->keep);
    end_ = End::kLoop;
  } else if (generated_.size() >= pass_.max_new_tokens) {
    end_ = End::kBudget;
  }
}

}  // namespace parley::model
