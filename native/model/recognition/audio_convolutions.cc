#include "model/recognition/audio_convolutions.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace parley::model {
namespace {

constexpr size_t kTaps = Kernels::kPlaneTaps;

// [out, in, band taps, time taps] to [out, ColumnsOf(in)], the windows' order: time, band, channel; then
// zeros.
Matrix PackConvolution(Weights& weights, const Tensor& tensor) {
  const std::vector<float> values = ToFloats(tensor);
  const auto out = static_cast<size_t>(tensor.shape[0]), in = static_cast<size_t>(tensor.shape[1]);
  const size_t columns = Kernels::PlaneColumns(in);
  std::vector<float> packed(out * columns);
  for (size_t o = 0; o < out; o++) {
    for (size_t i = 0; i < in; i++) {
      for (size_t band = 0; band < kTaps; band++) {
        for (size_t time = 0; time < kTaps; time++) {
          packed[o * columns + (time * kTaps + band) * in + i] =
              values[((o * in + i) * kTaps + band) * kTaps + time];
        }
      }
    }
  }
  return weights.Packed(packed, out, columns, FormatOf(tensor));
}

// [width, channels * bands], the channel slowest, to columns with the band slowest, as a row of the last
// convolution's result lies.
Matrix PackProjection(Weights& weights, const Tensor& tensor, size_t channels, size_t bands) {
  const std::vector<float> values = ToFloats(tensor);
  const size_t rows = static_cast<size_t>(tensor.shape[0]), columns = channels * bands;
  std::vector<float> packed(values.size());
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < channels; c++) {
      for (size_t b = 0; b < bands; b++)
        packed[r * columns + b * channels + c] = values[r * columns + c * bands + b];
    }
  }
  return weights.Packed(packed, rows, columns, FormatOf(tensor));
}

// [kChunkTokens, width]: sines of all frequencies, then cosines.
std::vector<float> Positions(size_t width) {
  const size_t half = width / 2;
  std::vector<float> positions(kChunkTokens * width);
  for (size_t t = 0; t < kChunkTokens; t++) {
    for (size_t i = 0; i < half; i++) {
      // As the reference computes it, in float.
      const float step = std::log(10000.0f) / static_cast<float>(half - 1);
      const float angle = static_cast<float>(t) * std::exp(-step * static_cast<float>(i));
      positions[t * width + i] = std::sin(angle);
      positions[t * width + half + i] = std::cos(angle);
    }
  }
  return positions;
}

}  // namespace

AudioConvolutions::AudioConvolutions(Kernels& kernels, Weights& weights, const NamedTensors& tensors,
                                     const AudioEncoderConfig& config)
    : kernels_(kernels),
      channels_(static_cast<size_t>(config.channels)),
      columns_(kernels),
      planes_(kernels) {
  bands_[0] = static_cast<size_t>(config.mel_bands);
  for (size_t n = 0; n < kLayers; n++) {
    const NamedTensors layer = tensors.Under("conv2d" + std::to_string(n + 1));
    convolutions_[n] = PackConvolution(weights, layer["weight"]);
    biases_[n] = weights.Floats(layer["bias"]);
    bands_[n + 1] = Kernels::HalfOf(bands_[n]);
  }
  project_ = PackProjection(weights, tensors["conv_out.weight"], channels_, bands_[kLayers]);
  positions_ = weights.Floats(Positions(project_.rows));
}

void AudioConvolutions::Convolve(size_t layer, const float* x, size_t planes, size_t frames, float* y) {
  const size_t channels = layer == 0 ? 1 : channels_, bands = bands_[layer];
  const size_t count = planes * Kernels::HalfOf(frames) * Kernels::HalfOf(bands);
  const Matrix& weights = convolutions_[layer];
  float* const columns = columns_.Floats(count * weights.columns);
  kernels_.GatherPlanes(x, {planes, frames, bands, channels}, columns);
  kernels_.Multiply(weights, Rows(columns, count, weights.columns), {biases_[layer], nullptr, false}, y);
}

void AudioConvolutions::Project(const float* x, size_t tokens, float* rows) {
  kernels_.Multiply(project_, Rows(x, tokens, project_.columns), {nullptr, nullptr, true}, rows);
}

void AudioConvolutions::Run(const Chunk* chunks, size_t count) {
  const size_t first = chunks->FramesSeen();
  size_t sizes[kLayers], tokens = first;
  for (size_t layer = 0; layer < kLayers; layer++) {
    tokens = Kernels::HalfOf(tokens);
    sizes[layer] = count * tokens * bands_[layer + 1] * channels_;
  }
  const auto [features, one, two, three, rows] = planes_.Parts<5>(
      {count * kChunkFrames * bands_[0], sizes[0], sizes[1], sizes[2], count * tokens * width()});
  features_.assign(count * first * bands_[0], 0.0f);
  for (size_t n = 0; n < count; n++) {
    if (chunks[n].FramesSeen() != first) throw std::logic_error("chunks of different lengths go together");
    std::copy_n(chunks[n].features, chunks[n].frames * bands_[0], &features_[n * first * bands_[0]]);
    kernels_.Copy(rows + n * tokens * width(), positions_, tokens * width() * sizeof(float));
  }
  kernels_.Upload(features, features_.data(), features_.size() * sizeof(float));
  float* const planes[] = {features, one, two, three};
  for (size_t layer = 0, frames = first; layer < kLayers; layer++, frames = Kernels::HalfOf(frames)) {
    Convolve(layer, planes[layer], count, frames, planes[layer + 1]);
    kernels_.Activate(Activation::kGelu, planes[layer + 1], sizes[layer]);
  }
  // A chunk alone computes only the rows that are kept.
  Project(three, count == 1 ? AudioTokensOf(chunks->frames) : count * tokens, rows);
  for (size_t n = 0; n < count; n++) {
    kernels_.Copy(chunks[n].rows, rows + n * tokens * width(),
                  AudioTokensOf(chunks[n].frames) * width() * sizeof(float));
  }
}

}  // namespace parley::model
