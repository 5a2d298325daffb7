#include "model/speech/codec_state.h"

namespace parley::model {

CodecState::CodecState(Kernels& kernels, size_t tail_floats, const TransformerConfig& config, size_t capacity)
    : kernels_(kernels), tail_floats_(tail_floats), keys_(kernels, config, Format::kF32, capacity) {
  tails_ = static_cast<float*>(kernels.Allocate(tail_floats * sizeof(float)));
}

CodecState::~CodecState() { kernels_.Free(tails_); }

void CodecState::CopyFrom(const CodecState& other) {
  keys_.CopyFrom(other.keys_, other.keys_.position());
  kernels_.Copy(tails_, other.tails_, tail_floats_ * sizeof(float));
}

void CodecPass::Clear() {
  streams_.clear();
  frames_ = 0;
}

void CodecPass::Add(CodecState* state, size_t frames) {
  streams_.push_back({state, frames, state->tail(0)});
  frames_ += frames;
}

const std::vector<Stretch>& CodecPass::Stretches(size_t rate, size_t history, size_t channels, size_t tail,
                                                 float* signal) {
  stretches_.clear();
  for (const Stream& stream : streams_) {
    float* const x = signal + history * channels;
    stretches_.push_back({x, stream.frames * rate, stream.tails + tail});
    signal = x + stream.frames * rate * channels;
  }
  return stretches_;
}

}  // namespace parley::model
