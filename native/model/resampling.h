// A recording at another sample rate: a windowed sinc (Kaiser), summed in double.
// Flat to 0.91 of the lower of the two Nyquist frequencies, at least 100 dB down
// from 1.0 of it on. Sample m of the result is the sound at m / to seconds: no delay.
#ifndef PARLEY_MODEL_RESAMPLING_H_
#define PARLEY_MODEL_RESAMPLING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley::model {

// round(count * to / from)
size_t ResampledCount(size_t count, uint32_t from, uint32_t to);

// Before and after the recording is silence. Equal rates: the samples themselves. A minute takes
// some tenths of a second, seconds where the rates have no common divisor. Throws
// std::invalid_argument for a rate of 0.
std::vector<float> Resampled(const std::vector<float>& samples, uint32_t from, uint32_t to);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RESAMPLING_H_
