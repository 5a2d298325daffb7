#include "kernels/log_mel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace parley {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Slaney's scale: linear below 1000 Hz, then 27 steps to every factor of 6.4.
double HertzOf(double mel) {
  return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * std::log(6.4) / 27);
}

double MelOf(double hertz) {
  return hertz < 1000 ? 3 * hertz / 200 : 15 + 27 * std::log(hertz / 1000) / std::log(6.4);
}

}  // namespace

LogMel::LogMel(const LogMelShape& shape) : shape_(shape), margin_(0) {
  const bool power = shape.window > 1 && (shape.window & (shape.window - 1)) == 0;
  if (!power || shape.hop == 0 || shape.hop > shape.window || shape.bands == 0 || shape.sample_rate == 0) {
    throw std::invalid_argument(
        "a mel spectrum needs a window of a power of two, a hop within it, and bands");
  }
  margin_ = (shape.window - shape.hop) / 2;
  Fill();
}

void LogMel::Fill() {
  const size_t n = shape_.window, bins = n / 2 + 1;
  for (size_t i = 0; i < n; i++) {
    const double turn = 2 * kPi * static_cast<double>(i) / static_cast<double>(n);
    hann_.push_back(0.5 - 0.5 * std::cos(turn));
    cosines_.push_back(std::cos(turn));
    sines_.push_back(-std::sin(turn));
  }
  const double rate = static_cast<double>(shape_.sample_rate);
  const double top = MelOf(rate / 2);
  const auto edge = [&](size_t i) {
    return HertzOf(top * static_cast<double>(i) / static_cast<double>(shape_.bands + 1));
  };
  bands_.resize(shape_.bands);
  for (size_t m = 0; m < shape_.bands; m++) {
    const double low = edge(m), middle = edge(m + 1), high = edge(m + 2);
    for (size_t k = 0; k < bins; k++) {
      const double hertz = static_cast<double>(k) * rate / static_cast<double>(n);
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      if (height <= 0) continue;
      if (bands_[m].heights.empty()) bands_[m].first = k;
      bands_[m].heights.push_back(height * 2 / (high - low));
    }
  }
}

size_t LogMel::FramesOf(size_t count) const {
  if (count <= margin_ || count + 2 * margin_ < shape_.window) return 0;
  return (count + 2 * margin_ - shape_.window) / shape_.hop + 1;
}

// Fast Fourier transform in place, radix 2.
void LogMel::Transform(std::vector<double>* re, std::vector<double>* im) const {
  const size_t n = re->size();
  for (size_t i = 1, j = 0; i < n; i++) {
    size_t bit = n / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) {
      std::swap((*re)[i], (*re)[j]);
      std::swap((*im)[i], (*im)[j]);
    }
  }
  for (size_t half = 1; half < n; half *= 2) {
    const size_t step = n / (2 * half);
    for (size_t start = 0; start < n; start += 2 * half) {
      for (size_t k = 0; k < half; k++) {
        const double c = cosines_[k * step], s = sines_[k * step];
        const size_t a = start + k, b = a + half;
        const double x = (*re)[b] * c - (*im)[b] * s, y = (*re)[b] * s + (*im)[b] * c;
        (*re)[b] = (*re)[a] - x;
        (*im)[b] = (*im)[a] - y;
        (*re)[a] += x;
        (*im)[a] += y;
      }
    }
  }
}

std::vector<float> LogMel::Of(const float* samples, size_t count) const {
  const size_t frames = FramesOf(count);
  if (frames == 0) throw std::invalid_argument("too few samples for a mel spectrum");
  std::vector<float> result(frames * shape_.bands);
  Of(samples, count, 0, frames, result.data());
  return result;
}

void LogMel::Of(const float* samples, size_t count, size_t first, size_t frames, float* result) const {
  const size_t n = shape_.window, bins = n / 2 + 1;
  if (first + frames > FramesOf(count))
    throw std::invalid_argument("frames beyond the end of a mel spectrum");
  std::vector<double> re(n), im(n), magnitudes(bins);
  for (size_t t = 0; t < frames; t++) {
    for (size_t i = 0; i < n; i++) {
      size_t at = (first + t) * shape_.hop + i;  // in the signal with its margins
      at = at < margin_ ? margin_ - at : at - margin_;
      if (at >= count) at = 2 * (count - 1) - at;
      re[i] = samples[at] * hann_[i];
      im[i] = 0;
    }
    Transform(&re, &im);
    for (size_t k = 0; k < bins; k++) magnitudes[k] = std::sqrt(re[k] * re[k] + im[k] * im[k] + 1e-9);
    for (size_t m = 0; m < shape_.bands; m++) {
      double sum = 0;
      const Band& band = bands_[m];
      for (size_t k = 0; k < band.heights.size(); k++) sum += band.heights[k] * magnitudes[band.first + k];
      result[t * shape_.bands + m] = static_cast<float>(std::log(std::max(sum, 1e-5)));
    }
  }
}

}  // namespace parley
