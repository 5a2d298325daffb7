// Judges from its energy alone whether a sound can hold speech: speech has frames far above the quietest
// ones, steady noise and silence have none.
#ifndef PARLEY_MODEL_RECOGNITION_SPEECH_ENERGY_H_
#define PARLEY_MODEL_RECOGNITION_SPEECH_ENERGY_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley::model {

class SpeechEnergy {
 public:
  static constexpr size_t kFrame = 320;  // samples of 16 kHz: 20 ms

  void Push(const float* samples, size_t count);
  // True if 100 ms or more lie 10 dB above the quietest fifth of the frames, and above -55 dB of full scale.
  bool HasSpeech() const;

 private:
  static constexpr size_t kLevels = 128;  // of 1 dB, from full scale down

  std::array<uint32_t, kLevels> frames_{};  // by level
  double energy_ = 0;                       // of the frame that is not complete
  size_t filled_ = 0;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_SPEECH_ENERGY_H_
