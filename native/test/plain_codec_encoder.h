// Computes the encoders of a voice in double, directly from their formulas. Tests compare the engine with
// them where there are no golden vectors.
#ifndef PARLEY_TEST_PLAIN_CODEC_ENCODER_H_
#define PARLEY_TEST_PLAIN_CODEC_ENCODER_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "kernels/log_mel.h"
#include "model/shared/layer_weights.h"

namespace parley::test {

// Signals are [channels][time].
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

inline std::vector<float> PlainSpeaker(const model::SpeechCheckpoint& checkpoint,
                                       const std::vector<float>& samples) {
  const model::SpeakerEncoderConfig& config = *checkpoint.config().speaker_encoder;
  const auto tensors = checkpoint.ModelTensors().Under("speaker_encoder");
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

inline Signal Causal(const model::NamedTensors& tensors, const Signal& x, int64_t stride = 1,
                     Padding padding = Padding::kZero, bool biased = true) {
  const auto step = static_cast<size_t>(stride);
  const Sizes sizes{tensors["weight"].shape[2] - stride, stride, 1};
  return Convolve(tensors, x, (x[0].size() + step - 1) / step, sizes, padding, biased);
}

inline Signal PlainSeanet(const model::NamedTensors& tensors, const model::CodecEncoderConfig& config,
                          Signal x) {
  x = Causal(tensors.Under("layers.0.conv"), x);
  size_t place = 1;
  for (const int64_t ratio : config.ratios) {
    const auto unit = tensors.Under("layers", place);
    const Signal inner = Causal(unit.Under("block.1.conv"), Each(x, Elu));
    x = Sum(x, Causal(unit.Under("block.3.conv"), Each(inner, Elu)));
    x = Causal(tensors.Under("layers", place + 2).Under("conv"), Each(x, Elu), ratio);
    place += 3;
  }
  return Causal(tensors.Under("layers", place + 1).Under("conv"), Each(x, Elu));
}

inline Signal Linear(const model::NamedTensors& tensors, const Signal& x) {
  return Convolve(tensors, x, x[0].size(), {}, Padding::kZero, false);
}

inline Signal PlainLayerNorm(const model::NamedTensors& norm, Signal x, double eps) {
  const std::vector<float> w = ToFloats(norm["weight"]), b = ToFloats(norm["bias"]);
  const auto width = static_cast<double>(x.size());
  for (size_t t = 0; t < x[0].size(); t++) {
    double mean = 0, variance = 0;
    for (const Row& row : x) mean += row[t] / width;
    for (const Row& row : x) variance += (row[t] - mean) * (row[t] - mean) / width;
    for (size_t c = 0; c < x.size(); c++)
      x[c][t] = (x[c][t] - mean) / std::sqrt(variance + eps) * w[c] + b[c];
  }
  return x;
}

// Half-split: channel j of a head turns with channel j + half.
inline void Turn(Signal* x, size_t head_dim, double theta) {
  const size_t half = head_dim / 2;
  for (size_t c = 0; c < x->size(); c++) {
    if (c % head_dim >= half) continue;
    const double frequency =
        std::pow(theta, -2.0 * static_cast<double>(c % head_dim) / static_cast<double>(head_dim));
    for (size_t t = 0; t < (*x)[c].size(); t++) {
      const double angle = static_cast<double>(t) * frequency, low = (*x)[c][t], high = (*x)[c + half][t];
      (*x)[c][t] = low * std::cos(angle) - high * std::sin(angle);
      (*x)[c + half][t] = high * std::cos(angle) + low * std::sin(angle);
    }
  }
}

// Every position sees itself and all before it.
inline Signal PlainAttention(const model::NamedTensors& tensors, const model::TransformerConfig& c,
                             const Signal& x) {
  const auto head_dim = static_cast<size_t>(c.head_dim), heads = static_cast<size_t>(c.heads);
  const size_t time = x[0].size(), shared = heads / static_cast<size_t>(c.kv_heads);
  Signal q = Linear(tensors.Under("q_proj"), x), k = Linear(tensors.Under("k_proj"), x);
  const Signal v = Linear(tensors.Under("v_proj"), x);
  Turn(&q, head_dim, c.rope_theta);
  Turn(&k, head_dim, c.rope_theta);
  Signal attended(heads * head_dim, Row(time));
  for (size_t h = 0; h < heads; h++) {
    const size_t of_q = h * head_dim, of_kv = h / shared * head_dim;
    for (size_t t = 0; t < time; t++) {
      Row weights(t + 1);
      double sum = 0;
      for (size_t s = 0; s <= t; s++) {
        double score = 0;
        for (size_t d = 0; d < head_dim; d++) score += q[of_q + d][t] * k[of_kv + d][s];
        sum += weights[s] = std::exp(score / std::sqrt(static_cast<double>(head_dim)));
      }
      for (size_t s = 0; s <= t; s++) {
        for (size_t d = 0; d < head_dim; d++) attended[of_q + d][t] += weights[s] / sum * v[of_kv + d][s];
      }
    }
  }
  return Linear(tensors.Under("o_proj"), attended);
}

inline Signal Scaled(const model::NamedTensors& tensors, Signal x) {
  const std::vector<float> scale = ToFloats(tensors["scale"]);
  for (size_t c = 0; c < x.size(); c++) {
    for (double& value : x[c]) value *= scale[c];
  }
  return x;
}

inline Signal PlainLayer(const model::NamedTensors& layer, const model::TransformerConfig& c, Signal x) {
  const Signal attended = PlainAttention(layer.Under("self_attn"), c,
                                         PlainLayerNorm(layer.Under("input_layernorm"), x, c.norm_eps));
  x = Sum(x, Scaled(layer.Under("self_attn_layer_scale"), attended));
  const Signal normed = PlainLayerNorm(layer.Under("post_attention_layernorm"), x, c.norm_eps);
  const Signal inner = Each(Linear(layer.Under("mlp.fc1"), normed), Gelu);
  return Sum(x, Scaled(layer.Under("mlp_layer_scale"), Linear(layer.Under("mlp.fc2"), inner)));
}

// Rows of a codebook, in float32 as in the engine.
inline std::vector<float> PlainTable(const model::NamedTensors& codebook) {
  std::vector<float> table = ToFloats(codebook["embed_sum"]);
  const std::vector<float> usage = ToFloats(codebook["cluster_usage"]);
  for (size_t i = 0; i < table.size(); i++)
    table[i] /= std::max(usage[i / (table.size() / usage.size())], 1e-5f);
  return table;
}

// The nearest row, which is taken away; `margin` is the least by which a row was nearer than the next.
inline int32_t TakeNearest(const std::vector<float>& table, Row* v, double* margin) {
  double least = INFINITY, second = INFINITY;
  size_t best = 0;
  for (size_t r = 0; r < table.size() / v->size(); r++) {
    double distance = 0;
    for (size_t i = 0; i < v->size(); i++) distance += std::pow((*v)[i] - table[r * v->size() + i], 2);
    if (distance < least) best = r;
    second = std::min(second, std::max(least, distance));
    least = std::min(least, distance);
  }
  *margin = std::min(*margin, std::sqrt(second) - std::sqrt(least));
  for (size_t i = 0; i < v->size(); i++) (*v)[i] -= table[best * v->size() + i];
  return static_cast<int32_t>(best);
}

inline std::vector<int32_t> PlainQuantizer(const model::NamedTensors& tensors, size_t codebooks,
                                           const Signal& x, double* margin) {
  std::vector<int32_t> codes(x[0].size() * codebooks);
  size_t done = 0;
  for (const char* const half :
       {"semantic_residual_vector_quantizer", "acoustic_residual_vector_quantizer"}) {
    const auto quantizer = tensors.Under(half);
    const Signal projected = Linear(quantizer.Under("input_proj"), x);
    const size_t tables = done == 0 ? 1 : codebooks - 1;
    std::vector<Row> rest(x[0].size(), Row(projected.size()));
    for (size_t t = 0; t < rest.size(); t++) {
      for (size_t c = 0; c < projected.size(); c++) rest[t][c] = projected[c][t];
    }
    for (size_t n = 0; n < tables; n++, done++) {
      const std::vector<float> table = PlainTable(quantizer.Under("layers", n).Under("codebook"));
      for (size_t t = 0; t < rest.size(); t++)
        codes[t * codebooks + done] = TakeNearest(table, &rest[t], margin);
    }
  }
  return codes;
}

// `margin`: the least by which a code was nearer than another.
inline std::vector<int32_t> PlainCodes(const model::SpeechCheckpoint& checkpoint,
                                       const std::vector<float>& samples, double* margin) {
  const model::CodecEncoderConfig& config = *checkpoint.codec_config().encoder;
  const auto tensors = checkpoint.CodecTensors().Under("encoder");
  Signal x = PlainSeanet(tensors.Under("encoder"), config, {Row(samples.begin(), samples.end())});
  for (size_t n = 0; n < static_cast<size_t>(config.transformer.layers); n++) {
    x = PlainLayer(tensors.Under("encoder_transformer.layers", n), config.transformer, x);
  }
  if (config.downsample > 1) {
    x = Causal(tensors.Under("downsample.conv"), x, config.downsample, Padding::kReplicate, false);
  }
  *margin = INFINITY;
  return PlainQuantizer(tensors.Under("quantizer"), static_cast<size_t>(config.quantizers), x, margin);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_PLAIN_CODEC_ENCODER_H_
