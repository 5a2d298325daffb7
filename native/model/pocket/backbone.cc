#include "model/pocket/backbone.h"

#include "model/pocket/pocket_layers.h"

namespace parley::model {

Backbone::Backbone(Kernels& kernels, const PocketCheckpoint& checkpoint, Activation activation,
                   std::optional<Format> format)
    : kernels_(kernels),
      config_(checkpoint.config()),
      weights_(kernels),
      text_(weights_.Of(checkpoint.tensors()["flow_lm.conditioner.embed.weight"])),
      input_(weights_.Of(checkpoint.tensors()["flow_lm.input_linear.weight"])),
      eos_(weights_.Of(checkpoint.tensors()["flow_lm.out_eos.weight"])),
      bos_(ToFloats(checkpoint.tensors()["flow_lm.bos_emb"])),
      eos_bias_(weights_.Floats(checkpoint.tensors()["flow_lm.out_eos.bias"])),
      norm_{weights_.Floats(checkpoint.tensors()["flow_lm.out_norm.weight"]),
            weights_.Floats(checkpoint.tensors()["flow_lm.out_norm.bias"]),
            static_cast<float>(config_.backbone.norm_eps)},
      transformer_(kernels, config_.backbone,
                   LoadPocketLayers(weights_, checkpoint.tensors().Under("flow_lm.transformer"),
                                    config_.backbone, false, activation, format),
                   Sight{}),
      rows_(kernels),
      ids_(kernels) {}

std::unique_ptr<KvState> Backbone::NewState(size_t capacity, Format format) const {
  return std::make_unique<KvState>(kernels_, config_.backbone, format, capacity);
}

void Backbone::Append(KvState* state, float* x, size_t count) {
  const Transformer::Stream stream{state, count};
  transformer_.Forward(&stream, 1, x);
  kernels_.NormRows(norm_, {x, count, x}, width());
}

const float* Backbone::AppendText(const Transformer::Stream* streams, size_t count,
                                  const std::vector<int32_t>& ids) {
  float* const x = rows_.Floats(ids.size() * width());
  kernels_.Gather(text_, ids_.Upload(ids), ids.size(), false, x);
  transformer_.Forward(streams, count, x);
  kernels_.NormRows(norm_, {x, ids.size(), x}, width());
  return x;
}

void Backbone::Step(KvState* const* states, size_t count, const float* latents, float* hidden, float* eos) {
  streams_.clear();
  for (size_t n = 0; n < count; n++) streams_.push_back({states[n], 1});
  kernels_.Multiply(input_, Rows(latents, count, input_.columns), {}, hidden);
  transformer_.Forward(streams_.data(), count, hidden);
  kernels_.NormRows(norm_, {hidden, count, hidden}, width());
  kernels_.Multiply(eos_, Rows(hidden, count, width()), {eos_bias_, nullptr, false}, eos);
}

}  // namespace parley::model
