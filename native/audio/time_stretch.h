// Makes sound of 16 kHz shorter or longer by one period of its pitch, by waveform-similarity overlap-add
// (WSOLA). The period is where the sound resembles itself most. Both work in place and mix two neighbouring
// periods over the length of one, so that neither end has a step.
#ifndef PARLEY_AUDIO_TIME_STRETCH_H_
#define PARLEY_AUDIO_TIME_STRETCH_H_

#include <cstddef>

namespace parley {

class TimeStretch {
 public:
  static constexpr size_t kShortest = 40, kLongest = 200;  // of a period: 80 to 400 Hz
  static constexpr size_t kAhead = 2 * kLongest;           // samples that RemovePeriod reads at `place`

  // `likeness` is the least normalised correlation of two neighbouring periods, at most 1. Sound below -60
  // dBFS is stretched in any case.

  // Returns the samples removed: the sound goes on at `place` plus these. 0: no period is alike enough.
  static size_t RemovePeriod(float* place, double likeness);
  // Returns the samples inserted: the sound goes on at `place` minus these. Reads kLongest samples before
  // `place` and kLongest after it. 0: as above.
  static size_t InsertPeriod(float* place, double likeness);

 private:
  static constexpr size_t kWindow = 160;  // samples that are compared

  struct Period {
    size_t samples;  // 0: none
    double likeness;
  };
  // `direction` is 1 for a comparison with later sound, and -1 for one with earlier sound.
  static Period MostAlike(const float* place, int direction);
  static double Product(const float* a, const float* b);
  static bool IsQuiet(const float* samples, size_t count);
};

}  // namespace parley

#endif  // PARLEY_AUDIO_TIME_STRETCH_H_
