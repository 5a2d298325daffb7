// A voice of Pocket TTS in memory, and its making out of a recording. For the engine's thread alone.
#ifndef PARLEY_RUNTIME_POCKET_VOICE_WORK_H_
#define PARLEY_RUNTIME_POCKET_VOICE_WORK_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "model/pocket/pocket_model.h"
#include "model/pocket/pocket_voice_encoder.h"
#include "runtime/voice_store.h"

namespace parley::runtime {

struct PocketVoiceState final : Voice {
  std::shared_ptr<const model::KvState> state;  // behind the voice's rows
};

// Brings a recording to the encoder's rate, encodes it, and lets the backbone read its rows. A transcript is
// not used.
class PocketVoiceWork final : public VoiceWork {
 public:
  // Encoder and model outlive it.
  PocketVoiceWork(model::PocketVoiceEncoder& encoder, model::PocketModel& speech,
                  std::shared_ptr<const Recording> recording);

  static size_t BytesFor(const model::PocketVoiceEncoder& encoder, const model::PocketModel& speech,
                         const Recording& recording);

  size_t bytes() const override { return bytes_; }
  Result<std::shared_ptr<Voice>> Advance() override;

 private:
  Result<> Prepare();
  void Encode();
  void ReadRows();

  model::PocketVoiceEncoder& encoder_;
  model::PocketModel& speech_;
  const std::shared_ptr<const Recording> recording_;
  const size_t bytes_;
  std::vector<float> beginning_;  // of a recording that is longer than the encoder takes
  std::optional<model::Preparation> preparation_;
  std::optional<model::PocketVoiceEncoder::Run> run_;
  std::vector<float> rows_;  // once all are made
  std::unique_ptr<model::KvState> state_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_POCKET_VOICE_WORK_H_
