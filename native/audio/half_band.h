// Doubles and halves a sample rate with one half-band FIR filter of linear phase. At 16 kHz its pass band
// ends at 3.4 kHz and its stop band, 60 dB or more below, begins at 4.6 kHz. Pieces of any length give the
// same samples as one piece.
#ifndef PARLEY_AUDIO_HALF_BAND_H_
#define PARLEY_AUDIO_HALF_BAND_H_

#include <cstddef>

namespace parley {

// The side taps stand at odd distances from the middle tap: the filter spans 4 * kHalfBandHistory / 2 + 1
// taps.
constexpr size_t kHalfBandTaps = 28;
constexpr size_t kHalfBandHistory = kHalfBandTaps - 1;
constexpr size_t kHalfBandChunk = 80;
// In samples of the higher rate.
constexpr size_t kHalfBandDelay = kHalfBandHistory;

class HalfBandDoubler {
 public:
  // Writes 2 * count samples.
  void Process(const float* in, size_t count, float* out);
  void Reset() { *this = HalfBandDoubler(); }

 private:
  void ProcessChunk(const float* in, size_t count, float* out);

  float recent_[kHalfBandHistory + kHalfBandChunk] = {};
};

class HalfBandHalver {
 public:
  // Reads 2 * count samples and writes `count`.
  void Process(const float* in, size_t count, float* out);
  void Reset() { *this = HalfBandHalver(); }

 private:
  void ProcessChunk(const float* in, size_t count, float* out);

  float even_[kHalfBandHistory + kHalfBandChunk] = {};
  float odd_[kHalfBandHistory + kHalfBandChunk] = {};
};

}  // namespace parley

#endif  // PARLEY_AUDIO_HALF_BAND_H_
