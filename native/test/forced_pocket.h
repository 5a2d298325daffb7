// Runs the stages of Pocket TTS with given latents in place of its own (teacher forcing), in some number
// formats: what one step rounds does not reach the next.
#ifndef PARLEY_TEST_FORCED_POCKET_H_
#define PARLEY_TEST_FORCED_POCKET_H_

#include <cmath>
#include <optional>
#include <vector>

#include "kernels/speech_kernels.h"
#include "model/pocket/backbone.h"
#include "model/pocket/flow_net.h"
#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_voice.h"

namespace parley::test {

// Without a format matrices are as the file has them.
struct PocketFormats {
  std::optional<Format> backbone, codec;  // matrices of the transformers' layers
  Format cache = Format::kF32;            // keys and values of both
};

struct ForcedPocket {
  std::vector<float> hidden, latents, audio;
};

struct PocketScript {
  std::vector<int32_t> ids;
  std::vector<float> noise, latents;  // [steps, latent]
};

inline ForcedPocket Force(SpeechKernels& kernels, const model::PocketCheckpoint& checkpoint,
                          Activation activation, const PocketFormats& formats,
                          const model::PocketVoice& voice, const PocketScript& script) {
  const auto latent = static_cast<size_t>(checkpoint.config().latent);
  const size_t steps = script.latents.size() / latent;
  model::Backbone backbone(kernels, checkpoint, activation, formats.backbone);
  model::FlowNet flow(kernels, checkpoint);
  model::LatentDecoder decoder(kernels, checkpoint, activation, formats.codec, formats.cache);
  const auto state = backbone.NewState(voice.positions() + script.ids.size() + steps, formats.cache);
  voice.CopyTo(kernels, state.get());
  const model::Transformer::Stream text{state.get(), script.ids.size()};
  backbone.AppendText(&text, 1, script.ids);
  ForcedPocket made{std::vector<float>(steps * backbone.width()), script.noise,
                    std::vector<float>(steps * decoder.frame_samples())};
  model::KvState* const states[] = {state.get()};
  std::vector<float> eos(1);
  for (size_t n = 0; n < steps; n++) {
    const float* const last = n > 0 ? script.latents.data() + (n - 1) * latent : backbone.BosLatent();
    backbone.Step(states, 1, last, made.hidden.data() + n * backbone.width(), eos.data());
  }
  flow.Sample(made.hidden.data(), steps, made.latents.data());
  const auto codec = decoder.NewState();
  const model::LatentDecoder::Job job{codec.get(), script.latents.data(), steps, made.audio.data()};
  decoder.Decode(&job, 1);
  return made;
}

// In dB; infinite for equal values.
inline double SignalToNoise(const std::vector<float>& seen, const std::vector<float>& wanted) {
  if (seen.size() != wanted.size()) return -INFINITY;
  double signal = 0, noise = 0;
  for (size_t i = 0; i < wanted.size(); i++) {
    const double value = static_cast<double>(wanted[i]), off = static_cast<double>(seen[i]) - value;
    signal += value * value;
    noise += off * off;
  }
  return 10 * std::log10(signal / noise);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_FORCED_POCKET_H_
