// The codec decoder as the specification writes it down: all frames at once, in double,
// one loop for each sum. The engine's results must be near it, for any sizes.
#ifndef PARLEY_TEST_PLAIN_CODEC_H_
#define PARLEY_TEST_PLAIN_CODEC_H_

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/shared/weights.h"
#include "model/speech/speech_checkpoint.h"

namespace parley::test {

class PlainCodec {
 public:
  explicit PlainCodec(const model::SpeechCheckpoint& checkpoint)
      : checkpoint_(checkpoint), config_(checkpoint.codec_config().decoder) {}

  // codes [frames, quantizers]
  std::vector<double> Decode(const std::vector<int32_t>& codes) const {
    Signal x = Causal(Quantized(codes), "pre_conv.conv", 1);
    x = Transformed(x);
    for (size_t n = 0; n < config_.upsampling_ratios.size(); n++) {
      const std::string at = "upsample." + std::to_string(n);
      x = ConvNext(Transposed(x, at + ".0.conv", static_cast<size_t>(config_.upsampling_ratios[n])),
                   at + ".1.");
    }
    x = Causal(x, "decoder.0.conv", 1);
    size_t place = 1;
    for (const int64_t rate : config_.upsample_rates)
      x = Block(x, "decoder." + std::to_string(place++) + ".block.", rate);
    x = Causal(Snake(x, "decoder." + std::to_string(place) + "."),
               "decoder." + std::to_string(place + 1) + ".conv", 1);
    std::vector<double> samples;
    for (const Row& row : x) samples.push_back(std::min(1.0, std::max(-1.0, row[0])));
    return samples;
  }

 private:
  using Row = std::vector<double>;
  using Signal = std::vector<Row>;  // by time

  struct Values {
    std::vector<float> of;
    std::vector<size_t> shape;
  };
  Values Read(const std::string& name) const {
    const model::Tensor& tensor = checkpoint_.CodecTensor("decoder." + name);
    return {model::ToFloats(tensor), {tensor.shape.begin(), tensor.shape.end()}};
  }

  static void Add(Row* to, const Row& row) {
    for (size_t i = 0; i < row.size(); i++) (*to)[i] += row[i];
  }

  // Any weight whose rows are as long as x, and a bias where there is one.
  Signal Linear(const Signal& x, const std::string& weight, const std::string& bias = "") const {
    const Values w = Read(weight);
    const std::vector<float> b = bias.empty() ? std::vector<float>(w.shape[0]) : Read(bias).of;
    Signal y;
    for (const Row& row : x) {
      y.emplace_back(b.begin(), b.end());
      for (size_t o = 0; o < w.shape[0]; o++) {
        for (size_t i = 0; i < row.size(); i++) y.back()[o] += w.of[o * row.size() + i] * row[i];
      }
    }
    return y;
  }

  Signal Quantized(const std::vector<int32_t>& codes) const {
    const auto groups = static_cast<size_t>(config_.quantizers);
    Signal first(codes.size() / groups), rest = first;
    for (size_t q = 0; q < groups; q++) {
      const std::string at = q == 0 ? "quantizer.rvq_first.vq.layers.0"
                                    : "quantizer.rvq_rest.vq.layers." + std::to_string(q - 1);
      const Values sums = Read(at + "._codebook.embedding_sum"),
                   usage = Read(at + "._codebook.cluster_usage");
      for (size_t t = 0; t < first.size(); t++) {
        const auto entry = static_cast<size_t>(codes[t * groups + q]);
        Row row(sums.shape[1]);
        for (size_t i = 0; i < row.size(); i++)
          row[i] = sums.of[entry * row.size() + i] / std::max(1e-5, double{usage.of[entry]});
        Row& to = q == 0 ? first[t] : rest[t];
        to.resize(row.size());
        Add(&to, row);
      }
    }
    Signal z = Linear(first, "quantizer.rvq_first.output_proj.weight");
    const Signal other = Linear(rest, "quantizer.rvq_rest.output_proj.weight");
    for (size_t t = 0; t < z.size(); t++) Add(&z[t], other[t]);
    return z;
  }

  Signal Causal(const Signal& x, const std::string& name, size_t dilation) const {
    const Values w = Read(name + ".weight"), b = Read(name + ".bias");
    const size_t in = w.shape[1], taps = w.shape[2];
    Signal y;
    for (size_t t = 0; t < x.size(); t++) {
      y.emplace_back(b.of.begin(), b.of.end());
      for (size_t j = 0; j < taps; j++) {
        const size_t back = (taps - 1 - j) * dilation;
        if (back > t) continue;
        for (size_t o = 0; o < w.shape[0]; o++) {
          for (size_t i = 0; i < in; i++) y[t][o] += w.of[(o * in + i) * taps + j] * x[t - back][i];
        }
      }
    }
    return y;
  }

  // The full output, without its last kernel - stride samples.
  Signal Transposed(const Signal& x, const std::string& name, size_t stride) const {
    const Values w = Read(name + ".weight"), b = Read(name + ".bias");
    const size_t out = w.shape[1], kernel = w.shape[2];
    Signal y((x.size() - 1) * stride + kernel, Row(b.of.begin(), b.of.end()));
    for (size_t t = 0; t < x.size(); t++) {
      for (size_t i = 0; i < w.shape[0]; i++) {
        for (size_t o = 0; o < out; o++) {
          for (size_t j = 0; j < kernel; j++)
            y[t * stride + j][o] += w.of[(i * out + o) * kernel + j] * x[t][i];
        }
      }
    }
    y.resize(x.size() * stride);
    return y;
  }

  Signal RmsNorm(const Signal& x, const std::string& name) const {
    const Values w = Read(name);
    Signal y = x;
    for (Row& row : y) {
      double squares = 0;
      for (const double v : row) squares += v * v;
      const double factor =
          1 / std::sqrt(squares / static_cast<double>(row.size()) + config_.transformer.norm_eps);
      for (size_t i = 0; i < row.size(); i++) row[i] *= factor * w.of[i];
    }
    return y;
  }

  void Rotate(Signal* x, size_t heads) const {
    const auto width = static_cast<size_t>(config_.transformer.head_dim), half = width / 2;
    for (size_t t = 0; t < x->size(); t++) {
      for (size_t h = 0; h < heads; h++) {
        for (size_t j = 0; j < half; j++) {
          const double angle =
              static_cast<double>(t) * std::pow(config_.transformer.rope_theta,
                                                -2.0 * static_cast<double>(j) / static_cast<double>(width));
          double &low = (*x)[t][h * width + j], &high = (*x)[t][h * width + half + j];
          const double a = low, b = high;
          low = a * std::cos(angle) - b * std::sin(angle);
          high = b * std::cos(angle) + a * std::sin(angle);
        }
      }
    }
  }

  Signal Attended(const Signal& q, const Signal& k, const Signal& v) const {
    const auto heads = static_cast<size_t>(config_.transformer.heads),
               kv_heads = static_cast<size_t>(config_.transformer.kv_heads);
    const auto width = static_cast<size_t>(config_.transformer.head_dim),
               window = static_cast<size_t>(config_.window);
    Signal y(q.size(), Row(heads * width));
    for (size_t t = 0; t < q.size(); t++) {
      for (size_t h = 0; h < heads; h++) {
        const size_t from = h * kv_heads / heads * width;
        Row weights;
        double all = 0;
        for (size_t j = t < window ? 0 : t - window + 1; j <= t; j++) {
          double score = 0;
          for (size_t i = 0; i < width; i++) score += q[t][h * width + i] * k[j][from + i];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(width))));
          all += weights.back();
        }
        for (size_t n = 0; n < weights.size(); n++) {
          for (size_t i = 0; i < width; i++)
            y[t][h * width + i] += weights[n] / all * v[t + 1 - weights.size() + n][from + i];
        }
      }
    }
    return y;
  }

  Signal Transformed(const Signal& x) const {
    const std::string own = "pre_transformer.";
    Signal y = Linear(x, own + "input_proj.weight", own + "input_proj.bias");
    const auto add = [&](const Signal& part, const std::string& scale) {
      const Values gain = Read(scale);
      for (size_t t = 0; t < y.size(); t++) {
        for (size_t i = 0; i < y[t].size(); i++) y[t][i] += gain.of[i] * part[t][i];
      }
    };
    for (int64_t n = 0; n < config_.transformer.layers; n++) {
      const std::string layer = own + "layers." + std::to_string(n) + ".";
      const Signal a = RmsNorm(y, layer + "input_layernorm.weight");
      Signal q = Linear(a, layer + "self_attn.q_proj.weight"),
             k = Linear(a, layer + "self_attn.k_proj.weight");
      Rotate(&q, static_cast<size_t>(config_.transformer.heads));
      Rotate(&k, static_cast<size_t>(config_.transformer.kv_heads));
      const Signal attended = Attended(q, k, Linear(a, layer + "self_attn.v_proj.weight"));
      add(Linear(attended, layer + "self_attn.o_proj.weight"), layer + "self_attn_layer_scale.scale");
      const Signal m = RmsNorm(y, layer + "post_attention_layernorm.weight");
      Signal gate = Linear(m, layer + "mlp.gate_proj.weight");
      const Signal up = Linear(m, layer + "mlp.up_proj.weight");
      for (size_t t = 0; t < gate.size(); t++) {
        for (size_t i = 0; i < gate[t].size(); i++) gate[t][i] *= up[t][i] / (1 + std::exp(-gate[t][i]));
      }
      add(Linear(gate, layer + "mlp.down_proj.weight"), layer + "mlp_layer_scale.scale");
    }
    return Linear(RmsNorm(y, own + "norm.weight"), own + "output_proj.weight", own + "output_proj.bias");
  }

  Signal ConvNext(const Signal& x, const std::string& own) const {
    const Values w = Read(own + "dwconv.conv.weight"), b = Read(own + "dwconv.conv.bias");
    const Values norm = Read(own + "norm.weight"), offset = Read(own + "norm.bias"),
                 gamma = Read(own + "gamma");
    const size_t channels = w.shape[0], taps = w.shape[2];
    Signal y;
    for (size_t t = 0; t < x.size(); t++) {
      y.emplace_back(b.of.begin(), b.of.end());
      for (size_t j = 0; j < taps; j++) {
        if (taps - 1 - j > t) continue;
        for (size_t c = 0; c < channels; c++) y[t][c] += w.of[c * taps + j] * x[t - (taps - 1 - j)][c];
      }
      double mean = 0, variance = 0;
      for (const double v : y[t]) mean += v / static_cast<double>(channels);
      for (const double v : y[t]) variance += (v - mean) * (v - mean) / static_cast<double>(channels);
      for (size_t c = 0; c < channels; c++)
        y[t][c] = (y[t][c] - mean) / std::sqrt(variance + 1e-6) * norm.of[c] + offset.of[c];
    }
    y = Linear(y, own + "pwconv1.weight", own + "pwconv1.bias");
    for (Row& row : y) {
      for (double& v : row) v = v / 2 * (1 + std::erf(v / std::sqrt(2.0)));
    }
    y = Linear(y, own + "pwconv2.weight", own + "pwconv2.bias");
    for (size_t t = 0; t < y.size(); t++) {
      for (size_t c = 0; c < channels; c++) y[t][c] = x[t][c] + gamma.of[c] * y[t][c];
    }
    return y;
  }

  Signal Snake(const Signal& x, const std::string& own) const {
    const Values alpha = Read(own + "alpha"), beta = Read(own + "beta");
    Signal y = x;
    for (Row& row : y) {
      for (size_t c = 0; c < row.size(); c++) {
        const double wave = std::sin(row[c] * std::exp(double{alpha.of[c]}));
        row[c] += wave * wave / (std::exp(double{beta.of[c]}) + 1e-9);
      }
    }
    return y;
  }

  Signal Block(const Signal& x, const std::string& own, int64_t rate) const {
    Signal y = Transposed(Snake(x, own + "0."), own + "1.conv", static_cast<size_t>(rate));
    size_t place = 2;
    for (const size_t dilation : {1, 3, 9}) {
      const std::string unit = own + std::to_string(place++) + ".";
      const Signal inner = Causal(Snake(y, unit + "act1."), unit + "conv1.conv", dilation);
      const Signal added = Causal(Snake(inner, unit + "act2."), unit + "conv2.conv", 1);
      for (size_t t = 0; t < y.size(); t++) Add(&y[t], added[t]);
    }
    return y;
  }

  const model::SpeechCheckpoint& checkpoint_;
  const model::CodecDecoderConfig& config_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_PLAIN_CODEC_H_
