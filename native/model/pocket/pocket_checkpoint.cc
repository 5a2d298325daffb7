#include "model/pocket/pocket_checkpoint.h"

#include <algorithm>
#include <array>

#include "model/pocket/pocket_catalog.h"
#include "model/shared/weights.h"

namespace parley::model {
namespace {

constexpr int64_t kTimeFrequencies = 128;  // of a time embedding, fixed by the architecture
constexpr const char* kFirstOfEncoder = "mimi.encoder.model.0.conv.weight";

void AddNorm(const std::string& name, int64_t width, const ExpectedTensors& at) {
  at.Add(name + ".weight", {width});
  at.Add(name + ".bias", {width});
}

void AddTransformer(const TransformerConfig& c, bool scaled, const ExpectedTensors& transformer) {
  for (int64_t n = 0; n < c.layers; n++) {
    const ExpectedTensors layer = transformer.Under("layers", n);
    layer.Add("self_attn.in_proj.weight", {3 * c.hidden, c.hidden});
    layer.Add("self_attn.out_proj.weight", {c.hidden, c.hidden});
    AddNorm("norm1", c.hidden, layer);
    AddNorm("norm2", c.hidden, layer);
    layer.Add("linear1.weight", {c.intermediate, c.hidden});
    layer.Add("linear2.weight", {c.hidden, c.intermediate});
    if (!scaled) continue;
    layer.Add("layer_scale_1.scale", {c.hidden});
    layer.Add("layer_scale_2.scale", {c.hidden});
  }
}

void AddFlowNet(const PocketConfig& config, const ExpectedTensors& net) {
  const int64_t width = config.flow.width;
  net.AddWithBias("input_proj", {width, config.latent});
  net.AddWithBias("cond_embed", {width, config.backbone.hidden});
  for (int64_t n = 0; n < 2; n++) {
    const ExpectedTensors time = net.Under("time_embed", n);
    time.Add("freqs", {kTimeFrequencies});
    time.AddWithBias("mlp.0", {width, 2 * kTimeFrequencies});
    time.AddWithBias("mlp.2", {width, width});
    time.Add("mlp.3.alpha", {width});
  }
  for (int64_t n = 0; n < config.flow.blocks; n++) {
    const ExpectedTensors block = net.Under("res_blocks", n);
    AddNorm("in_ln", width, block);
    block.AddWithBias("mlp.0", {width, width});
    block.AddWithBias("mlp.2", {width, width});
    block.AddWithBias("adaLN_modulation.1", {3 * width, width});
  }
  net.AddWithBias("final_layer.linear", {config.latent, width});
  net.AddWithBias("final_layer.adaLN_modulation.1", {2 * width, width});
}

void AddFlowModel(const PocketConfig& config, const ExpectedTensors& model) {
  const int64_t width = config.backbone.hidden;
  model.Add("conditioner.embed.weight", {config.vocabulary + 1, width});
  for (const char* const name : {"bos_emb", "emb_mean", "emb_std"}) model.Add(name, {config.latent});
  if (config.bos_before_voice) model.Add("bos_before_voice", {1, 1, width});
  model.Add("input_linear.weight", {width, config.latent});
  model.Add("speaker_proj_weight", {width, config.prompt_width});
  AddTransformer(config.backbone, false, model.Under("transformer"));
  AddNorm("out_norm", width, model);
  model.AddWithBias("out_eos", {1, width});
  AddFlowNet(config, model.Under("flow_net"));
}

void AddResiduals(const PocketCodecConfig& c, int64_t channels, int64_t* place, const ExpectedTensors& at) {
  for (int64_t n = 0; n < c.residual_layers; n++) {
    const ExpectedTensors block = at.Under("model", (*place)++);
    block.AddWithBias("block.1.conv", {channels / c.compress, channels, c.residual_kernel});
    block.AddWithBias("block.3.conv", {channels, channels / c.compress, 1});
  }
}

// The places of the activations between the layers have no tensors.
void AddDecoder(const PocketCodecConfig& c, const ExpectedTensors& decoder) {
  int64_t channels = c.filters << c.ratios.size(), place = 1;
  decoder.Under("model", 0).AddWithBias("conv", {channels, c.dimension, c.kernel});
  for (const int64_t ratio : c.ratios) {
    decoder.Under("model", ++place).AddWithBias("convtr", {channels, channels / 2, 2 * ratio}, 1);
    channels /= 2;
    AddResiduals(c, channels, &++place, decoder);
  }
  decoder.Under("model", place + 1).AddWithBias("conv", {1, channels, c.last_kernel});
}

void AddEncoder(const PocketCodecConfig& c, const ExpectedTensors& encoder) {
  int64_t channels = c.filters, place = 1;
  encoder.Under("model", 0).AddWithBias("conv", {channels, 1, c.kernel});
  for (auto ratio = c.ratios.rbegin(); ratio != c.ratios.rend(); ++ratio) {
    AddResiduals(c, channels, &place, encoder);
    encoder.Under("model", ++place).AddWithBias("conv", {2 * channels, channels, 2 * *ratio});
    channels *= 2;
    place++;
  }
  encoder.Under("model", place + 1).AddWithBias("conv", {c.dimension, channels, c.last_kernel});
}

// True if the encoder is there and more than zeros.
bool HasEncoder(const TensorSet& tensors) {
  const Tensor* const first = tensors.Find(kFirstOfEncoder);
  return first != nullptr &&
         std::any_of(first->data, first->data + first->bytes, [](uint8_t byte) { return byte != 0; });
}

// Parts of other graphs: a table of trained voices, and projections around the codec's transformers. Without
// them the sound would be wrong.
constexpr std::array<const char*, 5> kOtherGraphs = {
    "flow_lm.voice_lut.embed.weight",
    "mimi.decoder_transformer.input_proj.weight",
    "mimi.decoder_transformer.output_projs.0.weight",
    "mimi.encoder_transformer.input_proj.weight",
    "mimi.encoder_transformer.output_projs.0.weight",
};

bool CheckGraph(const TensorSet& tensors, const std::string& directory, std::string* problem) {
  for (const char* const name : kOtherGraphs) {
    if (tensors.Find(name) == nullptr) continue;
    *problem =
        directory + "/model.safetensors: tensor \"" + name + "\" belongs to a graph that is not supported";
    return false;
  }
  return true;
}

}  // namespace

std::vector<ExpectedTensor> TensorsOf(const PocketConfig& config, bool with_encoder) {
  std::vector<ExpectedTensor> list;
  const ExpectedTensors all(Dtype::kBf16, &list);
  const PocketCodecConfig& codec = config.codec;
  AddFlowModel(config, all.Under("flow_lm"));
  const ExpectedTensors mimi = all.Under("mimi");
  mimi.Add("quantizer.output_proj.weight", {codec.dimension, config.latent, 1});
  mimi.Add("upsample.convtr.convtr.weight", {codec.dimension, 1, 2 * codec.stride});
  AddTransformer(codec.transformer, true, mimi.Under("decoder_transformer.transformer"));
  AddDecoder(codec, mimi.Under("decoder"));
  if (!with_encoder) return list;
  AddEncoder(codec, mimi.Under("encoder"));
  AddTransformer(codec.transformer, true, mimi.Under("encoder_transformer.transformer"));
  mimi.Add("downsample.conv.conv.weight", {config.prompt_width, codec.dimension, 2 * codec.stride});
  return list;
}

std::unique_ptr<const PocketCheckpoint> PocketCheckpoint::Open(const std::string& directory,
                                                               std::string* problem) {
  std::unique_ptr<PocketCheckpoint> checkpoint(new PocketCheckpoint());
  const auto config = ReadPocketFolder(directory, problem);
  if (!config) return nullptr;
  checkpoint->config_ = *config;
  checkpoint->pieces_ = SentencePieces::Open(directory + "/tokenizer.model", problem);
  if (!checkpoint->pieces_) return nullptr;
  const auto pieces = static_cast<int64_t>(checkpoint->pieces_->size());
  if (pieces != config->vocabulary) {
    *problem = directory + "/tokenizer.model: expected " + std::to_string(config->vocabulary) +
               " pieces, as the configuration has them (n_bins), found " + std::to_string(pieces);
    return nullptr;
  }
  checkpoint->tensors_ = TensorSet::Open(directory, problem);
  if (!checkpoint->tensors_) return nullptr;
  if (!CheckGraph(*checkpoint->tensors_, directory, problem)) return nullptr;
  checkpoint->clones_ = HasEncoder(*checkpoint->tensors_);
  if (!checkpoint->tensors_->Check(TensorsOf(*config, checkpoint->clones_), problem)) return nullptr;
  return checkpoint;
}

}  // namespace parley::model
