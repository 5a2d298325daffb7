// Keeps a mix below -1 dBFS. It falls at once, before the sample that would be too loud, and rises again
// within some 100 ms. Below the threshold samples pass unchanged.
#ifndef PARLEY_MEDIA_JOIN_LIMITER_H_
#define PARLEY_MEDIA_JOIN_LIMITER_H_

#include <cstddef>

namespace parley {

class Limiter {
 public:
  static constexpr float kMost = 0.891251F;  // -1 dBFS

  // In place. `count` is the samples of 5 ms.
  void Process(float* samples, size_t count);
  // The next samples pass unchanged unless they are too loud.
  bool idle() const { return gain_ == 1; }
  void Reset() { gain_ = 1; }

 private:
  static constexpr float kRise = 0.0488F;    // 1 - exp(-5 / 100): the share of the way in 5 ms
  static constexpr float kAlmost = 0.9999F;  // counts as 1

  void Fall(float* samples, size_t count, float to);
  void Rise(float* samples, size_t count, float to);

  float gain_ = 1;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_LIMITER_H_
