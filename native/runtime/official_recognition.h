// Turns of a live caller by the streaming procedure of the reference package: a step for each two seconds of
// sound, whose text may change what the steps before it said. Pauses are not looked at.
#ifndef PARLEY_RUNTIME_OFFICIAL_RECOGNITION_H_
#define PARLEY_RUNTIME_OFFICIAL_RECOGNITION_H_

#include <memory>
#include <string>
#include <vector>

#include "model/recognition/official_streaming.h"
#include "runtime/live_input.h"
#include "runtime/recognition.h"

namespace parley::runtime {

class OfficialRecognition final : public Recognition {
 public:
  OfficialRecognition(StreamId id, RecognitionRequest request, std::string language,
                      std::shared_ptr<SoundReader> reader, std::shared_ptr<TextSink> sink,
                      const RecognitionSetup& setup, Clock::time_point now);

  bool Look(Clock::time_point now, const Room& room) override;
  void Take(const PlacedOrder& order) override { input_.Add(order); }
  void AddWanted(std::vector<WantedPass>* wanted) override;
  void Advanced(model::RecognitionStream* stream, Clock::time_point now) override;
  size_t Bytes() const override;
  std::shared_ptr<TextSink> Leave(Clock::time_point now, RecognitionEnd* end) override;

 private:
  bool IsEnding() const { return turn_ != nullptr && ends_; }
  void TakeSound(const std::vector<float>& samples);
  void Obey(TurnOrder order);
  void BeginTurn();
  bool BeginStep(Clock::time_point now);
  void Tell(bool final);

  const RecognitionSetup setup_;
  const std::string language_;
  LiveInput input_;
  std::unique_ptr<model::OfficialStreaming> turn_;  // null: between turns
  bool ends_ = false;  // the turn, with the step that takes the rest of its sound
  bool sound_ended_ = false, steps_ = false;
  std::vector<float> kept_;  // between turns
  uint64_t taken_ = 0, first_ = 0, number_ = 0;
  Clock::time_point step_began_{};
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_OFFICIAL_RECOGNITION_H_
