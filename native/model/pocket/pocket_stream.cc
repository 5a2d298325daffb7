#include "model/pocket/pocket_stream.h"

#include <stdexcept>
#include <utility>

namespace parley::model {

void PocketStream::BeginChunk(const TextChunk& chunk, std::shared_ptr<const Noise> noise) {
  if (chunk.ids.empty()) throw std::invalid_argument("a chunk needs one id or more");
  if (noise == nullptr) throw std::invalid_argument("a chunk needs noise");
  const uint64_t begin = options_.continues ? state_->position() : voice_positions_;
  const size_t needed = PositionsOf(chunk), room = state_->capacity() - static_cast<size_t>(begin);
  if (needed > room) {
    throw std::length_error("a chunk needs " + std::to_string(needed) +
                            " positions; the stream has room for " + std::to_string(room));
  }
  state_->Rewind(begin);
  ids_ = chunk.ids;
  prompt_done_ = 0;
  rule_ = EndRule({chunk.earliest_end, chunk.frames_after_eos, chunk.max_frames});
  broken_ = false;
  noise_ = std::move(noise);
}

}  // namespace parley::model
