#include "model/recognition/recognition_work.h"

#include <algorithm>

#include "model/shared/staged_work.h"

namespace parley::model {
namespace {

// Multiply-accumulates of a transformer's layer for a row.
size_t CostOfLayer(const LayerWeights& layer) {
  size_t cost = 0;
  for (const Matrix* w :
       {&layer.heads.q, &layer.heads.k, &layer.heads.v, &layer.o, &layer.gate, &layer.up, &layer.down})
    cost += w->rows * w->columns;
  return cost;
}

// Layers of one piece: all of them where pieces would only make more lists.
size_t LayersOfPiece(const Kernels& kernels, const Transformer& transformer, size_t rows) {
  const size_t layers = transformer.layers().size();
  if (!kernels.AnswersAtOnce()) return layers;
  const size_t cost = CostOfLayer(transformer.layers().front()) * std::max<size_t>(rows, 1);
  return std::clamp<size_t>(kPieceCost / cost, 1, layers);
}

}  // namespace

RecognitionWork::RecognitionWork(RecognitionModel& model)
    : model_(model), passage_(model.kernels()), x_(model.kernels()), read_(model.kernels()) {}

void RecognitionWork::Drop() {
  kind_ = Kind::kNone;
  streams_.clear();
  blocks_.clear();
  chunks_.clear();
  prompts_.clear();
  next_chunk_ = rows_ = 0;
  in_layers_ = false;
}

bool RecognitionWork::Encode(RecognitionStream* const* streams, size_t count, size_t blocks) {
  Drop();
  for (size_t s = 0; s < count && blocks_.size() < blocks; s++) {
    RecognitionStream* const stream = streams[s];
    if (stream->turn() != RecognitionStream::Turn::kEncode) continue;
    streams_.push_back(stream);
    for (size_t n = stream->next_block_; n < stream->block_count_ && blocks_.size() < blocks; n++)
      PlanBlock(stream, n);
  }
  if (blocks_.empty()) return false;
  // Chunks of as many frames go together.
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [](const Chunk& a, const Chunk& b) { return a.frames < b.frames; });
  kind_ = Kind::kEncode;
  return true;
}

// Chunks that were convolved before as they are now are not again.
void RecognitionWork::PlanBlock(RecognitionStream* stream, size_t number) {
  RecognitionStream::BlockState& state = stream->blocks_[number];
  if (state.rows == nullptr) {
    state.rows = std::make_unique<Workspace>(model_.kernels());
    state.convolved.clear();
  }
  const std::vector<ChunkKey> keys = stream->KeysOf(number);
  for (size_t n = 0; n < keys.size(); n++) {
    if (n < state.convolved.size() && state.convolved[n] == keys[n]) continue;
    chunks_.push_back({blocks_.size(), n, std::min(stream->frames_, size_t{kChunkFrames})});
  }
  blocks_.push_back({stream, number});
}

float* RecognitionWork::RowsOf(const Block& block) {
  const AudioEncoder& encoder = model_.encoder();
  return block.stream->blocks_[block.number].rows->Floats(encoder.block_tokens() * encoder.width());
}

bool RecognitionWork::Advance() {
  if (kind_ == Kind::kNone) return false;
  if (next_chunk_ < chunks_.size()) {
    ConvolveSome();
    return true;
  }
  if (!in_layers_) BeginLayers();
  Transformer& transformer =
      kind_ == Kind::kEncode ? model_.encoder().transformer() : model_.decoder().transformer();
  if (transformer.Advance(&passage_, LayersOfPiece(model_.kernels(), transformer, rows_))) return true;
  kind_ == Kind::kEncode ? FinishBlocks() : FinishPrompts();
  Drop();
  return false;
}

// Convolves one chunk, or on a device the next chunks of one length together.
void RecognitionWork::ConvolveSome() {
  AudioEncoder& encoder = model_.encoder();
  const size_t bands = model_.mel().shape().bands, per_block = encoder.block_tokens() / kChunkTokens;
  const size_t most = model_.kernels().AnswersAtOnce() ? 1 : AudioConvolutions::kMostChunks;
  const size_t first = next_chunk_;
  features_.resize(most * kChunkFrames * bands);
  together_.clear();
  while (next_chunk_ < chunks_.size() && together_.size() < most &&
         chunks_[next_chunk_].frames == chunks_[first].frames) {
    const Chunk& chunk = chunks_[next_chunk_++];
    const Block& block = blocks_[chunk.block];
    const ChunkKey key = block.stream->KeysOf(block.number)[chunk.number];
    float* const features = features_.data() + together_.size() * kChunkFrames * bands;
    block.stream->features_.Read((block.number * per_block + chunk.number) * kChunkFrames, key.frames,
                                 features);
    together_.push_back({features, key.frames, block.stream->frames_ > size_t{kChunkFrames},
                         RowsOf(block) + chunk.number * kChunkTokens * encoder.width()});
    std::vector<ChunkKey>& convolved = block.stream->blocks_[block.number].convolved;
    if (convolved.size() <= chunk.number) convolved.resize(chunk.number + 1);
    convolved[chunk.number] = key;
  }
  encoder.convolutions().Run(together_.data(), together_.size());
}

void RecognitionWork::BeginLayers() {
  in_layers_ = true;
  if (kind_ == Kind::kPrefill) {
    float* const x = x_.Floats(rows_ * model_.decoder().hidden());
    model_.decoder().Embed(prompts_.data(), prompts_.size(), x);
    return model_.decoder().Begin(prompts_.data(), prompts_.size(), x, &passage_);
  }
  const size_t width = model_.encoder().width();
  tokens_.clear();
  for (const Block& block : blocks_) tokens_.push_back(block.stream->TokensOf(block.number));
  rows_ = 0;
  for (const size_t tokens : tokens_) rows_ += tokens;
  float* const x = x_.Floats(rows_ * width);
  float* at = x;
  for (size_t n = 0; n < blocks_.size(); n++) {
    model_.kernels().Copy(at, RowsOf(blocks_[n]), tokens_[n] * width * sizeof(float));
    at += tokens_[n] * width;
  }
  model_.encoder().Begin(tokens_.data(), tokens_.size(), x, &passage_);
}

void RecognitionWork::FinishBlocks() {
  const size_t output = model_.encoder().output();
  float* const result = read_.Floats(rows_ * output);
  model_.encoder().Project(x_.Floats(0), rows_, result);
  const float* from = result;
  for (size_t n = 0; n < blocks_.size(); n++) {
    const auto [stream, number] = blocks_[n];
    const size_t at = number * model_.encoder().block_tokens() - stream->FirstToken();
    model_.kernels().Copy(stream->audio_.Floats(0) + at * output, from, tokens_[n] * output * sizeof(float));
    from += tokens_[n] * output;
    stream->blocks_[number].keys = stream->KeysOf(number);
    stream->next_block_ = number + 1;
    // The convolved rows of a block that another follows will hardly be needed again.
    if (number > 0) stream->blocks_[number - 1].rows.reset();
  }
  model_.kernels().Wait();
}

bool RecognitionWork::Prefill(RecognitionStream* const* streams, size_t count, size_t rows) {
  Drop();
  const size_t width = model_.decoder().hidden();
  for (size_t s = 0; s < count && rows_ < rows; s++) {
    RecognitionStream* const stream = streams[s];
    if (stream->turn() != RecognitionStream::Turn::kPrefill) continue;
    const size_t some = stream->RowsWithin(rows - rows_, rows_ > 0);
    if (some == 0) continue;
    const size_t at = stream->cache_->position(), head = stream->head_.size(), first = stream->FirstToken();
    const size_t skipped = at > head + first ? std::min(at - head, stream->audio_tokens_) - first : 0;
    prompts_.push_back({stream->cache_.get(), stream->prompt_.data() + at, some,
                        stream->audio_.Floats(0) + skipped * width});
    streams_.push_back(stream);
    rows_ += some;
  }
  if (rows_ == 0) return false;
  kind_ = Kind::kPrefill;
  return true;
}

// The rows whose logits are read go together.
void RecognitionWork::FinishPrompts() {
  TextDecoder& decoder = model_.decoder();
  const size_t width = decoder.hidden();
  const float* row = x_.Floats(0);
  float* const read = read_.Floats(rows_ * width);
  size_t count = 0;
  read_rows_.clear();
  for (size_t n = 0; n < streams_.size(); n++) {
    const size_t before = count, end = streams_[n]->cache_->position();
    for (size_t position = end - prompts_[n].count; position < end; position++, row += width) {
      if (!streams_[n]->IsRead(position)) continue;
      model_.kernels().Copy(read + count++ * width, row, width * sizeof(float));
    }
    read_rows_.push_back(count - before);
  }
  chosen_.resize(count);
  decoder.Norm(read, count);
  decoder.Choose(read, count, chosen_.data());
  const int32_t* chosen = chosen_.data();
  for (size_t n = 0; n < streams_.size(); n++) {
    if (streams_[n]->pass_.marker) streams_[n]->TakeClasses(chosen, read_rows_[n]);
    else if (read_rows_[n] > 0) streams_[n]->TakeChosen(chosen);
    chosen += read_rows_[n];
  }
  model_.kernels().Wait();
}

}  // namespace parley::model
