#include "model/recognition/quiet_splits.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace parley::model {
namespace {

// Whole numbers, so that a running sum is that of its window alone: silence is as quiet everywhere.
int64_t LoudnessOf(float sample) {
  constexpr float kUnits = 1 << 24;
  return std::llround(std::fabs(sample) * kUnits);
}

}  // namespace

void Level(std::vector<float>* samples) {
  float peak = 0;
  for (const float sample : *samples) peak = std::max(peak, std::fabs(sample));
  if (peak <= 1) return;
  for (float& sample : *samples) sample = std::clamp(sample / peak, -1.0f, 1.0f);
}

QuietSplits::QuietSplits(size_t limit) : limit_(limit) {
  if (limit <= kSearch) throw std::invalid_argument("a piece of sound is longer than the search for its end");
}

void QuietSplits::Push(const float* samples, size_t count) {
  samples_.insert(samples_.end(), samples, samples + count);
}

// One sample more than the search sees says that the sound goes on.
size_t QuietSplits::Missing() const {
  const size_t needed = limit_ + kSearch + 1;
  return finished_ || samples_.size() >= needed ? 0 : needed - samples_.size();
}

std::optional<QuietSplits::Piece> QuietSplits::Next() {
  if (Missing() > 0 || samples_.empty()) return std::nullopt;
  if (samples_.size() <= limit_) return Cut(samples_.size());
  return Cut(BoundaryOf(samples_.size()));
}

size_t QuietestPlace(const float* samples, size_t count) {
  const size_t width = std::min(count, QuietSplits::kWindow);
  int64_t sum = 0;
  for (size_t n = 0; n < width; n++) sum += LoudnessOf(samples[n]);
  int64_t least = sum;
  const float* window = samples;
  for (size_t n = 1; n + width <= count; n++) {
    sum += LoudnessOf(samples[n + width - 1]) - LoudnessOf(samples[n - 1]);
    if (sum < least) least = sum, window = samples + n;
  }
  const float* const place =
      std::min_element(window, window + width, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  return static_cast<size_t>(place - samples);
}

size_t QuietSplits::BoundaryOf(size_t count) const {
  const size_t left = limit_ - std::min(limit_, kSearch), right = std::min(count, limit_ + kSearch);
  if (right - left <= kWindow) return limit_;
  return std::clamp<size_t>(left + QuietestPlace(samples_.data() + left, right - left), 1, count);
}

QuietSplits::Piece QuietSplits::Cut(size_t count) {
  Piece piece;
  piece.first = first_;
  const bool is_whole_sound = first_ == 0 && count == samples_.size();
  const auto end = samples_.begin() + static_cast<ptrdiff_t>(count);
  piece.samples.assign(samples_.begin(), end);
  samples_.erase(samples_.begin(), end);
  first_ += count;
  if (!is_whole_sound && piece.samples.size() < kLeastPiece) piece.samples.resize(kLeastPiece);
  return piece;
}

}  // namespace parley::model
