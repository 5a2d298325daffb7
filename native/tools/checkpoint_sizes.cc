#include "tools/checkpoint_sizes.h"

#include <stdexcept>

namespace parley::tools {
namespace {

constexpr double kTalkerTheta = 1e6, kCodecTheta = 1e4;
constexpr double kTalkerEps = 1e-6, kCodecEps = 1e-5;

CheckpointSizes Published(bool large) {
  CheckpointSizes s;
  s.name = large ? "1b7" : "0b6";
  s.talker = {large ? 2048 : 1024, large ? 6144 : 3072, 28, 16, 8, 128, kTalkerEps, kTalkerTheta};
  s.predictor = {1024, 3072, 5, 16, 8, 128, kTalkerEps, kTalkerTheta};
  s.text_entries = 151643, s.text_vocabulary = 151936, s.text_hidden = 2048;
  s.codes = 2048, s.code_groups = 16, s.positions = 32768;
  s.speaker = {
      128, s.talker.hidden, 24000, {512, 512, 512, 512, 1536}, {5, 3, 3, 3, 1}, {1, 2, 3, 4, 1}, 128, 8, 128};
  s.sample_rate = 24000;
  s.decoder = {{512, 1024, 8, 16, 16, 64, kCodecEps, kCodecTheta},
               72,
               1024,
               512,
               2048,
               16,
               1536,
               {2, 2},
               {8, 5, 4, 3}};
  s.encoder = {
      {512, 2048, 8, 8, 8, 64, kCodecEps, kCodecTheta}, 64, 7, 3, 3, 2, {4, 5, 6, 8}, 2048, 256, 32, 2};
  s.encoder_window = 250;
  return s;
}

// The rest of a transformer is alike in all of its sizes.
void Resize(int64_t hidden, int64_t intermediate, int64_t heads, int64_t kv_heads,
            model::TransformerConfig* c) {
  c->hidden = hidden, c->intermediate = intermediate, c->heads = heads, c->kv_heads = kv_heads;
  c->layers = 2, c->head_dim = 16;
}

// The large one with other sizes.
CheckpointSizes Tiny() {
  CheckpointSizes s = Published(true);
  Resize(48, 80, 4, 2, &s.talker);
  Resize(32, 64, 2, 1, &s.predictor);
  Resize(24, 48, 2, 2, &s.decoder.transformer);
  Resize(32, 48, 2, 2, &s.encoder.transformer);
  s.text_entries = 600, s.text_vocabulary = 640, s.text_hidden = 40, s.positions = 4096;
  s.speaker.mel_bands = 32, s.speaker.embedding = s.talker.hidden, s.speaker.channels = {16, 16, 16, 16, 48};
  s.speaker.attention = s.speaker.squeeze = 8, s.speaker.res2net_scale = 4;
  s.codes = s.decoder.codebook_size = s.encoder.codebook_size = 64;
  s.decoder.window = 12, s.decoder.latent = s.decoder.channels = 32, s.decoder.codebook_width = 16;
  s.encoder.filters = 4, s.encoder.codebook_width = 8, s.encoder.quantizers = 20;
  s.encoder_window = 20;
  return s;
}

}  // namespace

int64_t CheckpointSizes::frame_samples() const {
  int64_t samples = 1;
  for (const int64_t rate : decoder.upsample_rates) samples *= rate;
  for (const int64_t ratio : decoder.upsampling_ratios) samples *= ratio;
  return samples;
}

CheckpointSizes SizesNamed(const std::string& size, model::ModelType type) {
  if (size != "0.6b" && size != "1.7b" && size != "tiny") {
    throw std::invalid_argument("the size is 0.6b, 1.7b or tiny, not \"" + size + "\"");
  }
  if (size == "0.6b" && type == model::ModelType::kVoiceDesign) {
    throw std::invalid_argument("voice_design is published in 1.7b only: 0.6b takes no instruction");
  }
  CheckpointSizes sizes = size == "tiny" ? Tiny() : Published(size == "1.7b");
  sizes.type = type;
  return sizes;
}

}  // namespace parley::tools
