#include "model/pocket/flow_net.h"

#include <cmath>
#include <stdexcept>

namespace parley::model {
namespace {

constexpr float kNormEps = 1e-6f;  // of the blocks and the last layer, fixed by the architecture
constexpr double kTimeEps = 1e-5;  // of the time vectors

// y = w x + bias, in double.
std::vector<double> Product(const NamedTensors& linear, const std::vector<double>& x) {
  const std::vector<float> w = ToFloats(linear["weight"]), bias = ToFloats(linear["bias"]);
  std::vector<double> y(bias.begin(), bias.end());
  for (size_t row = 0; row < y.size(); row++) {
    for (size_t i = 0; i < x.size(); i++) y[row] += static_cast<double>(w[row * x.size() + i]) * x[i];
  }
  return y;
}

void AppendFloats(const Tensor& tensor, std::vector<float>* all) {
  const std::vector<float> values = ToFloats(tensor);
  all->insert(all->end(), values.begin(), values.end());
}

}  // namespace

FlowNet::FlowNet(SpeechKernels& kernels, const PocketCheckpoint& checkpoint, size_t steps)
    : kernels_(kernels),
      width_(static_cast<size_t>(checkpoint.config().flow.width)),
      latent_(static_cast<size_t>(checkpoint.config().latent)),
      weights_(kernels),
      input_(weights_.Of(checkpoint.tensors()["flow_lm.flow_net.input_proj.weight"])),
      condition_(weights_.Of(checkpoint.tensors()["flow_lm.flow_net.cond_embed.weight"])),
      output_(weights_.Of(checkpoint.tensors()["flow_lm.flow_net.final_layer.linear.weight"])),
      input_bias_(weights_.Floats(checkpoint.tensors()["flow_lm.flow_net.input_proj.bias"])),
      output_bias_(weights_.Floats(checkpoint.tensors()["flow_lm.flow_net.final_layer.linear.bias"])),
      blocks_(static_cast<size_t>(checkpoint.config().flow.blocks)),
      last_norm_{weights_.Floats(std::vector<float>(width_, 1)),
                 weights_.Floats(std::vector<float>(width_, 0)), kNormEps},
      workspace_(kernels) {
  if (steps < 1 || steps > kMaxSteps) {
    throw std::invalid_argument("a latent takes 1 to " + std::to_string(kMaxSteps) + " steps, not " +
                                std::to_string(steps));
  }
  const NamedTensors net = checkpoint.tensors().Under("flow_lm.flow_net");
  LoadBlocks(net);
  const std::vector<float> bias = ToFloats(net["cond_embed.bias"]);
  for (size_t n = 0; n < steps; n++) {
    const auto time = [&](size_t step) { return static_cast<double>(step) / static_cast<double>(steps); };
    const std::vector<float> from = TimeVector(net.Under("time_embed", 0), time(n)),
                             to = TimeVector(net.Under("time_embed", 1), time(n + 1));
    std::vector<float> sum(width_);
    for (size_t i = 0; i < width_; i++) sum[i] = bias[i] + (from[i] + to[i]) / 2;
    condition_biases_.push_back(weights_.Floats(sum));
  }
  if (steps > 1) duration_ = weights_.Floats(std::vector<float>(latent_, 1.0f / static_cast<float>(steps)));
}

void FlowNet::LoadBlocks(const NamedTensors& net) {
  std::vector<float> modulation, biases;
  const auto add_modulation = [&](const NamedTensors& layer) {
    AppendFloats(layer["adaLN_modulation.1.weight"], &modulation);
    AppendFloats(layer["adaLN_modulation.1.bias"], &biases);
  };
  for (size_t n = 0; n < blocks_.size(); n++) {
    const NamedTensors block = net.Under("res_blocks", n);
    blocks_[n] = {{weights_.Floats(block["in_ln.weight"]), weights_.Floats(block["in_ln.bias"]), kNormEps},
                  weights_.Of(block["mlp.0.weight"]),
                  weights_.Of(block["mlp.2.weight"]),
                  weights_.Floats(block["mlp.0.bias"]),
                  weights_.Floats(block["mlp.2.bias"])};
    add_modulation(block);
  }
  add_modulation(net.Under("final_layer"));
  const Format format = FormatOf(net["final_layer.adaLN_modulation.1.weight"]);
  modulation_ = weights_.Packed(modulation, biases.size(), width_, format);
  modulation_bias_ = weights_.Floats(biases);
}

// norm(W2 silu(W0 [cos(t f), sin(t f)] + b0) + b2), where the norm divides by the deviation and keeps the
// mean.
std::vector<float> FlowNet::TimeVector(const NamedTensors& embedding, double time) const {
  const std::vector<float> frequencies = ToFloats(embedding["freqs"]),
                           alpha = ToFloats(embedding["mlp.3.alpha"]);
  std::vector<double> waves;
  for (const float f : frequencies) waves.push_back(std::cos(time * static_cast<double>(f)));
  for (const float f : frequencies) waves.push_back(std::sin(time * static_cast<double>(f)));
  std::vector<double> inner = Product(embedding.Under("mlp.0"), waves);
  for (double& value : inner) value /= 1 + std::exp(-value);
  const std::vector<double> z = Product(embedding.Under("mlp.2"), inner);
  double mean = 0, variance = 0;
  for (const double value : z) mean += value / static_cast<double>(width_);
  for (const double value : z) variance += (value - mean) * (value - mean) / static_cast<double>(width_ - 1);
  std::vector<float> vector(width_);
  for (size_t i = 0; i < width_; i++)
    vector[i] = static_cast<float>(z[i] * static_cast<double>(alpha[i]) / std::sqrt(kTimeEps + variance));
  return vector;
}

void FlowNet::Sample(const float* hidden, size_t count, float* x) {
  for (const float* const bias : condition_biases_) Step(hidden, count, bias, x);
}

void FlowNet::Step(const float* hidden, size_t count, const float* condition_bias, float* x) {
  const size_t floats = count * width_, stride = modulation_.rows;
  const auto [rows, normed, inner, added, terms] =
      workspace_.Parts<5>({floats, floats, floats, floats, count * stride});
  kernels_.Multiply(condition_, Rows(hidden, count, condition_.columns), {condition_bias, nullptr, false},
                    inner);
  kernels_.Activate(Activation::kSilu, inner, floats);
  kernels_.Multiply(modulation_, Rows(inner, count, width_), {modulation_bias_, nullptr, false}, terms);
  kernels_.Multiply(input_, Rows(x, count, latent_), {input_bias_, nullptr, false}, rows);
  const float* shift = terms;
  for (const Block& block : blocks_) {
    kernels_.NormRows(block.norm, {rows, count, normed}, width_);
    kernels_.Modulate(shift, shift + width_, count, width_, stride, normed);
    kernels_.Multiply(block.first, Rows(normed, count, width_), {block.first_bias, nullptr, false}, inner);
    kernels_.Activate(Activation::kSilu, inner, floats);
    kernels_.Multiply(block.second, Rows(inner, count, width_), {block.second_bias, nullptr, false}, added);
    kernels_.AddGated(added, shift + 2 * width_, count, width_, stride, rows);
    shift += 3 * width_;
  }
  kernels_.NormRows(last_norm_, {rows, count, normed}, width_);
  kernels_.Modulate(shift, shift + width_, count, width_, stride, normed);
  kernels_.Multiply(output_, Rows(normed, count, width_), {output_bias_, duration_, true}, x);
}

}  // namespace parley::model
