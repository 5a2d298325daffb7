#include "model/resampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace parley::model {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Of the lower Nyquist frequency: the pass band ends at 0.91, the stop band begins at 1.
constexpr double kCutOff = 0.955;
// Of 110 dB, by Kaiser's formulas: beta = 0.1102 (110 - 8.7), and of this transition band
// (110 - 7.95) / (2.285 * 0.09 pi) = 158 samples of the lower rate.
constexpr double kBeta = 11.16;
constexpr double kHalfWidth = 80;

// The modified Bessel function of order 0.
double Bessel(double x) {
  double term = 1, sum = 1;
  for (double k = 1; term > 1e-17 * sum; k++) {
    term *= x / (2 * k) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

// The impulse response at `inputs` input samples from its middle.
class Filter {
 public:
  Filter(uint32_t from, uint32_t to)
      : scale_(std::min(1.0, static_cast<double>(to) / from)), half_(kHalfWidth / scale_), peak_(Bessel(kBeta)) {}

  double half() const { return half_; }

  double At(double inputs) const {
    const double off = inputs / half_, inside = 1 - off * off;
    if (inside <= 0) return 0;
    const double angle = kPi * kCutOff * scale_ * inputs;
    const double sinc = std::fabs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
    return kCutOff * scale_ * sinc * Bessel(kBeta * std::sqrt(inside)) / peak_;
  }

 private:
  const double scale_, half_, peak_;
};

// Four sums, because one addition after the other would wait for the processor's adder.
double Product(const double* taps, const float* samples, size_t count) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t k = 0; k < 4; k++) sums[k] += taps[i + k] * samples[i + k];
  }
  for (; i < count; i++) sums[0] += taps[i] * samples[i];
  return sums[0] + sums[1] + (sums[2] + sums[3]);
}

}  // namespace

size_t ResampledCount(size_t count, uint32_t from, uint32_t to) {
  if (from == 0 || to == 0) throw std::invalid_argument("a sample rate is 0");
  const uint64_t whole = count / from, rest = count % from;
  return static_cast<size_t>(whole * to + (rest * to + from / 2) / from);
}

// All results of a phase, which have the same taps, are made together: taps are computed
// once and never kept, however many phases there are.
std::vector<float> Resampled(const std::vector<float>& samples, uint32_t from, uint32_t to) {
  const size_t count = ResampledCount(samples.size(), from, to);
  if (from == to) return samples;
  const uint64_t divisor = std::gcd(from, to), up = to / divisor, down = from / divisor;
  const Filter filter(from, to);
  const auto reach = static_cast<int64_t>(filter.half()) + 1;
  const auto length = static_cast<int64_t>(samples.size());
  std::vector<float> result(count);
  std::vector<double> taps(static_cast<size_t>(2 * reach + 1));
  for (uint64_t phase = 0; phase < std::min<uint64_t>(up, count); phase++) {
    const double offset = static_cast<double>(phase * down % up) / static_cast<double>(up);
    for (int64_t k = -reach; k <= reach; k++) {
      taps[static_cast<size_t>(k + reach)] = filter.At(offset - static_cast<double>(k));
    }
    auto middle = static_cast<int64_t>(phase * down / up);
    for (size_t m = phase; m < count; m += up, middle += static_cast<int64_t>(down)) {
      const int64_t first = std::max<int64_t>(0, middle - reach), last = std::min(length - 1, middle + reach);
      if (first > last) continue;
      result[m] = static_cast<float>(Product(taps.data() + (first - middle + reach), samples.data() + first,
                                             static_cast<size_t>(last - first + 1)));
    }
  }
  return result;
}

}  // namespace parley::model
