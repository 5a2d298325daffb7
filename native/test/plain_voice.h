// The encoders of a voice once more, as plainly as the formulas read, in double: what the
// engine is compared with where there are no golden vectors. Signals are [channels][time].
#ifndef PARLEY_TEST_PLAIN_VOICE_H_
#define PARLEY_TEST_PLAIN_VOICE_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/log_mel.h"
#include "model/shared/layer_weights.h"

namespace parley::test {

using Row = std::vector<double>;
using Signal = std::vector<Row>;

inline Signal Each(Signal x, const std::function<double(double)>& function) {
  for (Row& row : x) std::transform(row.begin(), row.end(), row.begin(), function);
  return x;
}
inline Signal Sum(Signal x, const Signal& y) {
  for (size_t c = 0; c < x.size(); c++) {
    for (size_t t = 0; t < x[c].size(); t++) x[c][t] += y[c][t];
  }
  return x;
}
inline double Relu(double v) { return std::max(v, 0.0); }
inline double Elu(double v) { return v > 0 ? v : std::expm1(v); }
inline double Sigmoid(double v) { return 1 / (1 + std::exp(-v)); }
inline double Gelu(double v) { return v / 2 * (1 + std::erf(v / std::sqrt(2.0))); }

// The sample at `t` of a row that goes on beyond its ends.
inline double At(const Row& row, int64_t t, Padding padding) {
  const auto last = static_cast<int64_t>(row.size()) - 1;
  if (t >= 0 && t <= last) return row[static_cast<size_t>(t)];
  if (padding == Padding::kZero) return 0;
  if (padding == Padding::kReplicate) return row[static_cast<size_t>(t < 0 ? 0 : last)];
  return row[static_cast<size_t>(t < 0 ? -t : 2 * last - t)];
}

struct Sizes {
  int64_t left = 0, stride = 1, dilation = 1;
};

// `count` results of "weight" [out, in, taps] (or a matrix [out, in]) and "bias", if there is one.
inline Signal Convolve(const model::NamedTensors& tensors, const Signal& x, size_t count, Sizes sizes,
                       Padding padding, bool biased = true) {
  const model::Tensor& tensor = tensors["weight"];
  const std::vector<float> weight = ToFloats(tensor),
                           bias = biased ? ToFloats(tensors["bias"]) : std::vector<float>();
  const auto out = static_cast<size_t>(tensor.shape[0]), in = x.size(), taps = weight.size() / out / in;
  Signal y(out, Row(count));
  for (size_t o = 0; o < out; o++) {
    for (size_t t = 0; t < count; t++) {
      double sum = biased ? bias[o] : 0;
      for (size_t i = 0; i < in; i++) {
        for (size_t k = 0; k < taps; k++) {
          const auto first = static_cast<int64_t>(t) * sizes.stride - sizes.left;
          const auto at = first + static_cast<int64_t>(k) * sizes.dilation;
          sum += weight[(o * in + i) * taps + k] * At(x[i], at, padding);
        }
      }
      y[o][t] = sum;
    }
  }
  return y;
}

inline Signal Same(const model::NamedTensors& tensors, const Signal& x, int64_t dilation = 1) {
  return Convolve(tensors, x, x[0].size(), {(tensors["weight"].shape[2] - 1) * dilation / 2, 1, dilation},
                  Padding::kReflect);
}
inline Signal Tdnn(const model::NamedTensors& tensors, const Signal& x, int64_t dilation = 1) {
  return Each(Same(tensors, x, dilation), Relu);
}

// Weighted mean and standard deviation of every channel.
inline void Moments(const Signal& x, const Signal& weights, Signal* means, Signal* deviations) {
  for (size_t c = 0; c < x.size(); c++) {
    double mean = 0, variance = 0;
    for (size_t t = 0; t < x[c].size(); t++) mean += weights[c][t] * x[c][t];
    for (size_t t = 0; t < x[c].size(); t++) variance += weights[c][t] * (x[c][t] - mean) * (x[c][t] - mean);
    means->push_back({mean});
    deviations->push_back({std::sqrt(std::max(variance, 1e-12))});
  }
}

inline Signal Joined(std::initializer_list<Signal> parts) {
  Signal joined;
  for (const Signal& part : parts) joined.insert(joined.end(), part.begin(), part.end());
  return joined;
}

inline Signal PlainBlock(const model::NamedTensors& block, const Signal& x, size_t parts, int64_t dilation) {
  const Signal hidden = Tdnn(block.Under("tdnn1.conv"), x);
  const size_t width = x.size() / parts, time = x[0].size();
  Signal joined, last;
  for (size_t n = 0; n < parts; n++) {
    const auto from = hidden.begin() + static_cast<std::ptrdiff_t>(n * width);
    Signal part(from, from + static_cast<std::ptrdiff_t>(width));
    if (n > 1) part = Sum(part, last);
    if (n > 0) part = last = Tdnn(block.Under("res2net_block.blocks", n - 1).Under("conv"), part, dilation);
    joined = Joined({joined, part});
  }
  const Signal result = Tdnn(block.Under("tdnn2.conv"), joined);
  Signal means, deviations;
  Moments(result, Signal(result.size(), Row(time, 1.0 / static_cast<double>(time))), &means, &deviations);
  const Signal gate =
      Each(Same(block.Under("se_block.conv2"), Tdnn(block.Under("se_block.conv1"), means)), Sigmoid);
  Signal y = x;
  for (size_t c = 0; c < y.size(); c++) {
    for (size_t t = 0; t < time; t++) y[c][t] += result[c][t] * gate[c][0];
  }
  return y;
}

// The means and deviations [2 * channels][1], weighted by the attention.
inline Signal PlainPool(const model::NamedTensors& tensors, const Signal& h) {
  const size_t time = h[0].size();
  Signal means, deviations;
  Moments(h, Signal(h.size(), Row(time, 1.0 / static_cast<double>(time))), &means, &deviations);
  for (Signal* const one : {&means, &deviations}) {
    for (Row& row : *one) row.assign(time, row[0]);
  }
  Signal a = Tdnn(tensors.Under("tdnn.conv"), Joined({h, means, deviations}));
  a = Each(a, [](double v) { return std::tanh(v); });
  a = Each(Same(tensors.Under("conv"), a), [](double v) { return std::exp(v); });
  for (Row& row : a) {
    double sum = 0;
    for (const double v : row) sum += v;
    for (double& v : row) v /= sum;
  }
  means.clear();
  deviations.clear();
  Moments(h, a, &means, &deviations);
  return Joined({means, deviations});
}

inline std::vector<float> PlainSpeaker(const model::Checkpoint& checkpoint,
                                       const std::vector<float>& samples) {
  const model::SpeakerEncoderConfig& config = *checkpoint.config().speaker_encoder;
  const auto tensors = model::NamedTensors::OfModel(checkpoint).Under("speaker_encoder");
  LogMelShape shape;
  shape.bands = static_cast<size_t>(config.mel_bands);
  const std::vector<float> mel = LogMel(shape).Of(samples.data(), samples.size());
  const size_t time = mel.size() / shape.bands;
  Signal x(shape.bands, Row(time));
  for (size_t i = 0; i < mel.size(); i++) x[i % shape.bands][i / shape.bands] = mel[i];
  x = Tdnn(tensors.Under("blocks.0.conv"), x, config.dilations[0]);
  Signal joined;
  for (size_t n = 1; n + 1 < config.channels.size(); n++) {
    x = PlainBlock(tensors.Under("blocks", n), x, static_cast<size_t>(config.res2net_scale),
                   config.dilations[n]);
    joined = Joined({joined, x});
  }
  const Signal h = Tdnn(tensors.Under("mfa.conv"), joined, config.dilations.back());
  std::vector<float> vector;
  for (const Row& row : Same(tensors.Under("fc"), PlainPool(tensors.Under("asp"), h))) {
    vector.push_back(static_cast<float>(row[0]));
  }
  return vector;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_PLAIN_VOICE_H_
