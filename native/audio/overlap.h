// Overlap-add of two sounds, and the limits of a sample.
#ifndef PARLEY_AUDIO_OVERLAP_H_
#define PARLEY_AUDIO_OVERLAP_H_

#include <algorithm>
#include <cstddef>

namespace parley {

// The weight of the later sound at place `n` of an overlap of `size` samples.
inline float OverlapWeight(size_t n, size_t size) {
  return static_cast<float>(n + 1) / static_cast<float>(size + 1);
}

inline float Overlapped(float earlier, float later, float weight) {
  return earlier + (later - earlier) * weight;
}

inline float Limited(float value) { return std::max(-1.0F, std::min(value, 1.0F)); }

}  // namespace parley

#endif  // PARLEY_AUDIO_OVERLAP_H_
