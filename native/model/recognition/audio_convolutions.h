// Mel chunks of one second to the encoder's input rows: three convolutions over time and bands, each of 3 x 3
// taps with stride 2, then a product, then the positions within the chunk. A chunk's rows do not depend on
// the chunks that are convolved with it.
#ifndef PARLEY_MODEL_RECOGNITION_AUDIO_CONVOLUTIONS_H_
#define PARLEY_MODEL_RECOGNITION_AUDIO_CONVOLUTIONS_H_

#include <array>
#include <cstddef>
#include <vector>

#include "kernels/kernels.h"
#include "model/files/named_tensors.h"
#include "model/recognition/recognition_config.h"
#include "model/shared/weights.h"
#include "model/shared/workspace.h"

namespace parley::model {

class AudioConvolutions {
 public:
  static constexpr size_t kLayers = 3;
  // Chunks of one call at most: with the models' 480 channels their windows take 111 MB, and their signals
  // half as much.
  static constexpr size_t kMostChunks = 8;

  AudioConvolutions(Kernels& kernels, Weights& weights, const NamedTensors& tensors,
                    const AudioEncoderConfig& config);

  struct Chunk {
    const float* features;  // [frames, bands] on the host
    size_t frames;          // kChunkFrames, or the last chunk's fewer
    bool fills;             // a short one is filled up with zeros: the sound has other chunks
    float* rows;            // [AudioTokensOf(frames), width] in the backend's memory

    size_t FramesSeen() const { return fills ? size_t{kChunkFrames} : frames; }
  };
  // Takes at most kMostChunks chunks, which see equally many frames.
  void Run(const Chunk* chunks, size_t count);

  // One convolution, before its activation: x [planes, frames, bands, channels] (one channel for layer 0) to
  // y [planes, half of the frames, half of the bands, channels], halves rounded up.
  void Convolve(size_t layer, const float* x, size_t planes, size_t frames, float* y);
  // The last product: x [tokens, bands left, channels], the rows of chunks, added to rows [tokens, width].
  void Project(const float* x, size_t tokens, float* rows);

  size_t width() const { return project_.rows; }
  size_t BandsAt(size_t layer) const { return bands_[layer]; }

 private:
  Kernels& kernels_;
  const size_t channels_;
  std::array<size_t, kLayers + 1> bands_;  // of each layer's input, and of the last one's output
  std::array<Matrix, kLayers> convolutions_;
  std::array<const float*, kLayers> biases_;
  Matrix project_;
  const float* positions_;  // [kChunkTokens, width]
  Workspace columns_, planes_;
  std::vector<float> features_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_AUDIO_CONVOLUTIONS_H_
