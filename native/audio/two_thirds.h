// Converts sound from 24 to 16 kHz with one polyphase FIR filter of linear phase: a windowed sinc at 48 kHz,
// of which every second tap meets a sample and every third output is computed. Its pass band ends at 6.5 kHz
// and its stop band, 60 dB or more below, begins at 8 kHz. Pieces of any length give the same samples as one
// piece.
#ifndef PARLEY_AUDIO_TWO_THIRDS_H_
#define PARLEY_AUDIO_TWO_THIRDS_H_

#include <cstddef>

namespace parley {

class TwoThirdsReducer {
 public:
  static constexpr size_t kTaps = 64;            // of each of the two phases
  static constexpr double kDelayMs = 63.5 / 48;  // of the sound

  // Reads 3 * pairs samples and writes 2 * pairs.
  void Process(const float* in, size_t pairs, float* out);
  void Reset() { *this = TwoThirdsReducer(); }

 private:
  static constexpr size_t kHistory = kTaps - 1, kChunk = 80;  // pairs

  void ProcessChunk(const float* in, size_t pairs, float* out);

  float recent_[kHistory + 3 * kChunk] = {};
};

}  // namespace parley

#endif  // PARLEY_AUDIO_TWO_THIRDS_H_
