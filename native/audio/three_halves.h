// Converts sound from 16 to 24 kHz with one polyphase FIR filter of linear phase: a windowed sinc at 48 kHz,
// of which every third tap meets a sample and every second output is computed. Its pass band ends at 6.5 kHz
// and its stop band, 60 dB or more below, begins at 8 kHz. Pieces of any length give the same samples as one
// piece.
#ifndef PARLEY_AUDIO_THREE_HALVES_H_
#define PARLEY_AUDIO_THREE_HALVES_H_

#include <cstddef>

namespace parley {

class ThreeHalvesExpander {
 public:
  static constexpr size_t kTaps = 48;            // of each of the three phases
  static constexpr double kDelayMs = 71.5 / 48;  // of the sound

  // Reads 2 * pairs samples and writes 3 * pairs.
  void Process(const float* in, size_t pairs, float* out);
  void Reset() { *this = ThreeHalvesExpander(); }

 private:
  static constexpr size_t kHistory = kTaps - 1, kChunk = 80;  // pairs

  void ProcessChunk(const float* in, size_t pairs, float* out);

  float recent_[kHistory + 2 * kChunk] = {};
};

}  // namespace parley

#endif  // PARLEY_AUDIO_THREE_HALVES_H_
