#include "model/shared/resampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace parley::model {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Costs in the units of StagedWork: of a tap, and of a sample that it multiplies.
constexpr size_t kTapCost = 1000, kProductCost = 7;

// Taps that are computed side by side: two doubles of a register.
constexpr size_t kLanes = 2;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

// Terms of the series of Bessel(x), for x up to the largest beta: later terms are too small to change the
// sum. An even number.
constexpr size_t kTerms = 28;

// The modified Bessel function of order 0.
Lanes Bessel(Lanes x) {
  Lanes parts[kTerms + 1];  // x / 2k; for an even k the same as half of an earlier one, without a division
  Lanes term = x * 0 + 1, sum = term;
  for (size_t k = 1; k < kTerms; k += 2) {
    parts[k] = x / (2 * static_cast<double>(k));
    parts[k + 1] = parts[(k + 1) / 2] * 0.5;
    term *= parts[k] * parts[k];
    sum += term;
    term *= parts[k + 1] * parts[k + 1];
    sum += term;
  }
  return sum;
}

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

class Resampling::Taps {
 public:
  Taps(const ResamplingFilter& filter, uint32_t from, uint32_t to)
      : filter_(filter),
        scale_(filter.cut_off * std::min(1.0, static_cast<double>(to) / from)),
        half_(filter.half_width / std::min(1.0, static_cast<double>(to) / from)),
        peak_(Bessel(Lanes{filter.beta, filter.beta})[0]) {
    if (filter.normalised) Normalise(to / std::gcd(from, to));
  }

  double half() const { return half_; }  // samples from the middle to the end

  // At `offset` + reach samples from the middle, at one sample less, and so on.
  void Take(double offset, int64_t reach, std::vector<double>* taps) const {
    for (size_t i = 0; i < taps->size(); i += kLanes) {
      Lanes away, inside, x;
      for (size_t n = 0; n < kLanes; n++) {
        away[n] = offset - static_cast<double>(static_cast<int64_t>(i + n) - reach);
        const double off = away[n] / half_;
        inside[n] = 1 - off * off;
        x[n] = filter_.beta * std::sqrt(std::max(inside[n], 0.0));
      }
      const Lanes windows = Bessel(x);
      for (size_t n = 0; n < kLanes && i + n < taps->size(); n++)
        (*taps)[i + n] = inside[n] <= 0 ? 0 : scale_ * Sinc(away[n]) * windows[n] / peak_;
    }
  }

 private:
  // Phases that a sum is made of, where there are more: their sum differs by less than a rounding.
  static constexpr uint32_t kSummedPhases = 1024;

  // Makes the taps of all `phases` sum to their number.
  void Normalise(uint32_t phases) {
    const uint32_t summed = std::min(phases, kSummedPhases);
    const auto reach = static_cast<int64_t>(half_) + 1;
    std::vector<double> taps(static_cast<size_t>(2 * reach + 1));
    double sum = 0;
    for (uint32_t phase = 0; phase < summed; phase++) {
      Take(static_cast<double>(phase) / summed, reach, &taps);
      for (const double tap : taps) sum += tap;
    }
    peak_ *= sum / summed;
  }

  double Sinc(double samples) const {
    const double angle = kPi * scale_ * samples;
    return std::fabs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
  }

  const ResamplingFilter filter_;
  const double scale_, half_;
  double peak_;
};

size_t ResampledCount(size_t count, uint32_t from, uint32_t to) {
  if (from == 0 || to == 0) throw std::invalid_argument("a sample rate is 0");
  const uint64_t whole = count / from, rest = count % from;
  return static_cast<size_t>(whole * to + (rest * to + from / 2) / from);
}

namespace {

// ceil(count * to / from)
size_t CountUp(size_t count, uint32_t from, uint32_t to) {
  if (from == 0 || to == 0) throw std::invalid_argument("a sample rate is 0");
  const uint64_t whole = count / from, rest = count % from;
  return static_cast<size_t>(whole * to + (rest * to + from - 1) / from);
}

}  // namespace

Resampling::Resampling(const std::vector<float>& samples, uint32_t from, uint32_t to,
                       const ResamplingFilter& filter)
    : samples_(samples),
      count_(filter.normalised ? CountUp(samples.size(), from, to)
                               : ResampledCount(samples.size(), from, to)) {
  const uint32_t divisor = std::gcd(from, to);
  up_ = to / divisor;
  down_ = from / divisor;
  filter_ = std::make_unique<const Taps>(filter, from, to);
  reach_ = static_cast<int64_t>(filter_->half()) + 1;
  taps_.resize(static_cast<size_t>(2 * reach_ + 1));
  result_.resize(count_);
}
Resampling::~Resampling() = default;

size_t Resampling::CostOfResult() const {
  const size_t that_share_taps = std::max<size_t>(1, count_ / up_);
  return taps_.size() * (kProductCost + kTapCost / that_share_taps);
}

void Resampling::Advance(size_t count) {
  for (; count > 0 && phase_ < std::min<uint64_t>(up_, count_); count--) {
    if (next_ == phase_) {
      filter_->Take(static_cast<double>(phase_ * down_ % up_) / static_cast<double>(up_), reach_, &taps_);
    }
    result_[next_] = At(next_);
    next_ += up_;
    if (next_ >= count_) next_ = ++phase_;
  }
}

float Resampling::At(uint64_t m) const {
  const auto middle = static_cast<int64_t>(m * down_ / up_);
  const auto length = static_cast<int64_t>(samples_.size());
  const int64_t first = std::max<int64_t>(0, middle - reach_), last = std::min(length - 1, middle + reach_);
  if (first > last) return 0;
  return static_cast<float>(Product(taps_.data() + (first - middle + reach_), samples_.data() + first,
                                    static_cast<size_t>(last - first + 1)));
}

std::vector<float> Resampled(const std::vector<float>& samples, uint32_t from, uint32_t to) {
  if (from == to && from > 0) return samples;
  Resampling resampling(samples, from, to);
  resampling.Advance(resampling.count());
  return std::move(resampling.result());
}

ResamplingTaps::ResamplingTaps(uint32_t from, uint32_t to) {
  if (from == 0 || to == 0) throw std::invalid_argument("a sample rate is 0");
  const uint32_t divisor = std::gcd(from, to);
  up_ = to / divisor;
  down_ = from / divisor;
  phases_ = std::min(up_, kMostPhases);
  const Resampling::Taps filter(kFlatFilter, from, to);
  reach_ = static_cast<size_t>(filter.half()) + 1;
  std::vector<double> taps(2 * reach_ + 1);
  taps_.reserve(phases_ * taps.size());
  for (uint64_t phase = 0; phase < phases_; phase++) {
    const double offset = static_cast<double>(phase) / static_cast<double>(phases_);
    filter.Take(offset, static_cast<int64_t>(reach_), &taps);
    taps_.insert(taps_.end(), taps.begin(), taps.end());
  }
}

void StreamResampling::Push(const float* samples, size_t count, std::vector<float>* result) {
  held_.insert(held_.end(), samples, samples + count);
  count_ += count;
  // Results whose last sample is here, even if their place is rounded up.
  const uint64_t known = count_ > taps_->reach_ + 1 ? count_ - taps_->reach_ - 1 : 0;
  Make((known * taps_->up_ + taps_->down_ - 1) / taps_->down_, result);
}

void StreamResampling::Finish(std::vector<float>* result) {
  Make((count_ * taps_->up_ + taps_->down_ - 1) / taps_->down_, result);
}

void StreamResampling::Make(uint64_t end, std::vector<float>* result) {
  for (; made_ < end; made_++) result->push_back(At(made_));
  const uint64_t middle = made_ * taps_->down_ / taps_->up_;
  const uint64_t needed = middle > taps_->reach_ ? middle - taps_->reach_ : 0;
  // Some at a time, so that each sample is moved once.
  if (needed - first_ < held_.size() / 2) return;
  const uint64_t drop = std::min<uint64_t>(needed - first_, held_.size());
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(drop));
  first_ += drop;
}

float StreamResampling::At(uint64_t m) const {
  const auto reach = static_cast<int64_t>(taps_->reach_);
  const uint64_t place = m * taps_->down_;
  // The nearest phase, which may be the first of the next sample.
  const uint64_t phase = (place % taps_->up_ * taps_->phases_ + taps_->up_ / 2) / taps_->up_;
  const auto middle = static_cast<int64_t>(place / taps_->up_ + phase / taps_->phases_);
  const float* const taps = taps_->taps_.data() + phase % taps_->phases_ * (2 * taps_->reach_ + 1);
  const int64_t first = std::max<int64_t>(0, middle - reach);
  const int64_t last = std::min(static_cast<int64_t>(count_) - 1, middle + reach);
  double sum = 0;
  for (int64_t n = first; n <= last; n++)
    sum += static_cast<double>(taps[n - middle + reach]) * held_[static_cast<size_t>(n) - first_];
  return static_cast<float>(sum);
}

}  // namespace parley::model
