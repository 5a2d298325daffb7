// Random numbers that a seed decides (splitmix64): tests get the same ones every time.
#ifndef PARLEY_MEDIA_RANDOM_H_
#define PARLEY_MEDIA_RANDOM_H_

#include <cstdint>

namespace parley {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // In [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) / 9007199254740992.0; }

 private:
  uint64_t state_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RANDOM_H_
