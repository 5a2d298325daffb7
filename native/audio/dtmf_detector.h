// Finds keys (DTMF, ITU-T Q.23) in sound of 8 kHz, by the limits of ITU-T Q.24:
//
//   | limit          | a key                   | no key                  |
//   | -------------- | ----------------------- | ----------------------- |
//   | frequencies    | within 1.5 %            | 3.5 % off               |
//   | tone           | 40 ms                   | 23 ms                   |
//   | pause          | a gap of 10 ms is none  | 50 ms part two keys     |
//   | twist          | low group 8 dB stronger | 10 dB                   |
//   | reverse twist  | high group 4 dB more    | 6 dB                    |
//   | noise          | 15 dB below the tones   |                         |
//   | level          | -3 to -29 dBm0          | -40 dBm0                |
//
//   4 ms ──▶ window of 20 ms ──▶ 8 correlations ──▶ level, twist, share, frequency ──▶ run of pure hops ──▶ key
//
// Frequencies are measured by the phase of the correlations from hop to hop. A correlation alone is too wide
// for the limits at 697 Hz. Tones of one key must have nearly all power of their window. Speech seldom does.
#ifndef PARLEY_AUDIO_DTMF_DETECTOR_H_
#define PARLEY_AUDIO_DTMF_DETECTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley {

class DtmfDetector {
 public:
  static constexpr int kRate = 8000;   // Hz
  static constexpr size_t kHop = 32;   // samples: 4 ms
  static constexpr size_t kTones = 8;  // the low group, then the high group

  struct Key {
    uint8_t event;       // RFC 4733: 0-9, 10 = *, 11 = #, 12-15 = A-D
    int64_t begin, end;  // samples since the construction
  };

  // Takes kHop samples in [-1, 1]. True: a key has ended, 36 ms ago or less.
  bool Take(const float* samples, Key* key);
  // The sound breaks off here: a key that is down has ended.
  bool Break(Key* key);

 private:
  static constexpr size_t kHops = 5;  // of a window
  static constexpr size_t kWindow = kHops * kHop;

  struct Bin {
    float real = 0, imaginary = 0;
  };
  // The strongest tone of a group within one window.
  struct Tone {
    size_t index;     // within its group
    float power;      // of a sine of its frequency
    float deviation;  // Hz from its nominal frequency
  };
  // Sums over the pure hops of one key.
  struct Run {
    uint8_t event = 0;
    int hops = 0, missing = 0;  // pure hops, and hops since the last of them
    float low_power = 0, high_power = 0;
    float low_deviation = 0, high_deviation = 0;
    int64_t begin = 0, end = 0;
  };

  void Correlate();
  Tone Strongest(size_t group) const;
  bool Measure(Tone* low, Tone* high) const;
  void Add(uint8_t event, const Tone& low, const Tone& high);
  bool IsKey() const;
  bool EndRun(Key* key);

  std::array<float, kWindow> window_{};
  std::array<float, kHops> powers_{};  // sums of squares of the window's hops
  std::array<Bin, kTones> bins_{}, before_{};
  bool has_before_ = false, has_bins_ = false;
  int64_t position_ = 0;
  Run run_;
};

}  // namespace parley

#endif  // PARLEY_AUDIO_DTMF_DETECTOR_H_
