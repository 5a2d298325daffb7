// Finds bursts of steady tones in sound of 8 kHz: one sine, or two of about the same level, that have nearly
// all power of the sound. Frequencies and levels are those of windows of 64 ms, one each 16 ms.
#ifndef PARLEY_AUDIO_TONE_BURSTS_H_
#define PARLEY_AUDIO_TONE_BURSTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "audio/spectrum.h"

namespace parley {

struct ToneBurst {
  int64_t begin = 0, end = 0;      // samples since the beginning of the sound, to 8 ms
  double low_hz = 0, high_hz = 0;  // high_hz is 0 for one sine
  double spread_hz = 0;            // greatest distance of two windows' strongest frequencies
  double rise = 1;                 // strongest window over weakest one, without the first and the last: power
  double share = 0;                // mean part of the sound's power
  int64_t length() const { return end - begin; }
};

class ToneBursts {
 public:
  static constexpr int kRate = 8000;   // Hz
  static constexpr size_t kHop = 128;  // samples: 16 ms

  // Takes kHop samples in [-1, 1]. True: a burst has ended.
  bool Take(const float* samples, ToneBurst* ended);
  // The burst that goes on; false if there is none.
  bool Open(ToneBurst* burst) const;
  // The sound breaks off here. True: a burst has ended.
  bool Break(ToneBurst* ended);
  int64_t position() const { return position_; }  // samples taken

 private:
  static constexpr size_t kHops = Spectrum::kSamples / kHop;

  // A View describes one window. low_hz is 0 where the window holds no steady tone.
  struct View {
    double low_hz = 0, high_hz = 0, strongest_hz = 0, power = 0, share = 0;
  };

  View Look();
  bool Continues(const View& view) const;
  void Add(const View& view);
  bool End(ToneBurst* ended);
  ToneBurst Sum() const;

  std::array<float, Spectrum::kSamples> window_{};
  std::array<float, kHops> powers_{};  // sums of squares of the window's hops
  Spectrum spectrum_;
  int64_t position_ = 0;

  // The open burst.
  int views_ = 0, duals_ = 0, missing_ = 0;
  int64_t first_ = 0, last_ = 0;  // middles of its first and last window
  double low_sum_ = 0, high_sum_ = 0, single_sum_ = 0, share_sum_ = 0;
  double least_hz_ = 0, most_hz_ = 0, least_power_ = 0, most_power_ = 0;
  double last_power_ = 0;
};

}  // namespace parley

#endif  // PARLEY_AUDIO_TONE_BURSTS_H_
