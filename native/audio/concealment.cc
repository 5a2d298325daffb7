#include "audio/concealment.h"

#include <algorithm>
#include <cmath>

#include "audio/overlap.h"

namespace parley {
namespace {

constexpr size_t kMostPeriods = 3;
constexpr size_t kSilentAfter = 6;     // times 10 ms
constexpr double kLeastEnergy = 1e-6;  // of 20 ms; a mean level of -85 dBFS or less
constexpr size_t kSearchRate = 4000;   // Hz of the rough search for the pitch

}  // namespace

Concealment::Concealment(size_t rate)
    : ten_ms_(rate / 100), history_size_(rate * 39 / 800), pitch_(rate / 200), quarter_(pitch_ / 4) {}

void Concealment::Reset() {
  history_.fill(0);
  lost_ = false;
  join_size_ = joined_ = 0;
}

void Concealment::Accept(float* samples, size_t count) {
  if (lost_) {
    lost_ = false;
    joined_ = 0;
    join_size_ = std::min(ten_ms_, quarter_ + elapsed_ * 2 / 5);  // 4 ms for each 10 ms lost
  }
  for (size_t n = 0; n < count && joined_ < join_size_; n++, joined_++)
    samples[n] = Overlapped(Next(), samples[n], OverlapWeight(joined_, join_size_));
  Remember(samples, count);
}

void Concealment::Conceal(size_t count, float* out) {
  if (!lost_) Begin();
  for (size_t n = 0; n < count; n++) out[n] = Next();
  Remember(out, count);
}

void Concealment::Begin() {
  lost_ = true;
  join_size_ = joined_ = 0;
  before_ = history_;
  pitch_ = EstimatePitch();
  quarter_ = pitch_ / 4;
  elapsed_ = offset_ = older_left_ = 0;
  periods_ = 1;
  // The repetition begins one period back. The offset joins it to the last sample.
  bridge_ = before_[history_size_ - 1] - before_[history_size_ - pitch_ - 1];
}

float Concealment::Next() {
  if (elapsed_ >= kSilentAfter * ten_ms_) return 0;
  if (periods_ < kMostPeriods && elapsed_ == periods_ * ten_ms_) AddPeriod();
  float value = RepeatedAt(periods_, offset_);
  if (++offset_ == periods_ * pitch_) offset_ = 0;
  if (older_left_ > 0) {
    const float older = RepeatedAt(periods_ - 1, older_offset_);
    if (++older_offset_ == (periods_ - 1) * pitch_) older_offset_ = 0;
    value = Overlapped(older, value, OverlapWeight(quarter_ - older_left_, quarter_));
    older_left_--;
  }
  if (elapsed_ < quarter_) value += bridge_ * (1 - OverlapWeight(elapsed_, quarter_));
  const size_t faded = elapsed_ > ten_ms_ ? elapsed_ - ten_ms_ : 0;
  elapsed_++;
  return Limited(value) * (1 - static_cast<float>(faded) / static_cast<float>((kSilentAfter - 1) * ten_ms_));
}

// More periods make the repetition sound less like a tone.
void Concealment::AddPeriod() {
  older_left_ = quarter_;
  older_offset_ = offset_;
  offset_ %= pitch_;
  periods_++;
}

// A sample of the last `periods` periods before the loss. Their end is overlap-added with what preceded their
// beginning, so that they repeat without a step.
float Concealment::RepeatedAt(size_t periods, size_t offset) const {
  const size_t size = periods * pitch_, begin = history_size_ - size;
  const float value = before_[begin + offset];
  if (offset + quarter_ < size) return value;
  const size_t n = offset + quarter_ - size;
  return Overlapped(value, before_[begin - quarter_ + n], OverlapWeight(n, quarter_));
}

// The lag from 5 to 15 ms at which the last 20 ms resemble what preceded them most.
size_t Concealment::EstimatePitch() const {
  const size_t least = ten_ms_ / 2, most = ten_ms_ * 3 / 2, step = ten_ms_ * 100 / kSearchRate;
  const auto best_of = [this](size_t from, size_t to, size_t lag_step, size_t sample_step) {
    size_t best = from;
    double likeness = -1e9;
    for (size_t lag = from; lag <= to; lag += lag_step) {
      const double one = Likeness(lag, sample_step);
      if (one > likeness) best = lag, likeness = one;
    }
    return best;
  };
  const size_t rough = best_of(least, most, step, step);
  return best_of(std::max(least, rough - step), std::min(most, rough + step), 1, 1);
}

// The cross-correlation of the last 20 ms with the sound `lag` samples earlier, by that sound's level.
double Concealment::Likeness(size_t lag, size_t step) const {
  const float* const now = before_.data() + history_size_ - 2 * ten_ms_;
  float product = 0, energy = 0;
  for (size_t n = 0; n < 2 * ten_ms_; n += step) {
    const float earlier = *(now + n - lag);
    product += now[n] * earlier;
    energy += earlier * earlier;
  }
  return product / std::sqrt(std::max<double>(energy, kLeastEnergy));
}

void Concealment::Remember(const float* samples, size_t count) {
  if (count >= history_size_) {
    std::copy_n(samples + count - history_size_, history_size_, history_.begin());
    return;
  }
  std::copy(history_.begin() + count, history_.begin() + history_size_, history_.begin());
  std::copy_n(samples, count, history_.begin() + (history_size_ - count));
}

}  // namespace parley
