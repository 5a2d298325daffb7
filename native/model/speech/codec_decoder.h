// Codes to waveform, with state: any split of the frames gives the same samples.
#ifndef PARLEY_MODEL_CODEC_DECODER_H_
#define PARLEY_MODEL_CODEC_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/kernels.h"
#include "model/files/checkpoint.h"
#include "model/speech/codec_state.h"
#include "model/shared/weights.h"

namespace parley::model {

class CodecDecoder {
 public:
  // `format` of convolution and matrix weights: kF32 (exact), or kF16. Tables and their sum are f32.
  // kernels and checkpoint outlive it, and it its states.
  CodecDecoder(Kernels& kernels, const Checkpoint& checkpoint, Format format);
  ~CodecDecoder();

  // Empty: zeros and no keys.
  std::unique_ptr<CodecState> NewState() const;
  // After a reference recording's codes, whose samples nobody hears: kept with the voice.
  std::unique_ptr<CodecState> CopyOf(const CodecState& state) const;
  size_t StateBytes() const;
  size_t WeightBytes() const;

  struct Job {
    CodecState* state;
    const int32_t* codes;  // [frames, code_groups] on the host
    size_t frames;
    float* samples;  // [frames * frame_samples] on the host, in [-1, 1]; null: nobody hears them
  };
  // Independent of each other, each with a state of its own; the result of one never depends on the others,
  // nor on how its frames are cut into jobs, bit for bit. Frames that nobody hears cost little: but for the
  // last ones only the transformer sees them. Once it has seen as many streams and frames nothing is allocated.
  // Throws std::invalid_argument, before anything is computed, for a code that is none and
  // for a state that two jobs name.
  void Decode(const Job* jobs, size_t count);

  size_t frame_samples() const;
  size_t sample_rate() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CODEC_DECODER_H_
