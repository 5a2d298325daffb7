#include "model/shared/preparation.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace parley::model {
namespace {

std::string Number(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

Preparation::Preparation(const RecordingRules& rules, const std::vector<float>& recording, uint32_t rate,
                         size_t piece_cost)
    : rules_(rules), recording_(recording), piece_cost_(piece_cost) {
  if (!CheckLength(rate)) return;
  PlanToHear(recording);
  if (rate == rules.sample_rate) return;
  resampling_.emplace(recording, rate, rules.sample_rate, rules.filter);
  stages_.Add(resampling_->count(), resampling_->CostOfResult(), [this](size_t, size_t count) {
    if (problem_.empty()) resampling_->Advance(count);
  });
  PlanToHear(resampling_->result());
}

bool Preparation::CheckLength(uint32_t rate) {
  const size_t count = recording_.size();
  if (count == 0) return problem_ = "the recording is empty", false;
  if (rate < rules_.min_rate || rate > rules_.max_rate) {
    problem_ = "the recording's sample rate is " + std::to_string(rate) + " Hz; " +
               std::to_string(rules_.min_rate) + " to " + std::to_string(rules_.max_rate) + " are taken";
    return false;
  }
  const bool is_short = ResampledCount(count, rate, rules_.sample_rate) < rules_.min_samples;
  if (count <= rules_.max_seconds * rate && !is_short) return true;
  const double seconds = static_cast<double>(count) / rate;
  const double least = static_cast<double>(rules_.min_samples) / rules_.sample_rate;
  problem_ = "the recording lasts " + Number("%.3f", seconds) + " s; " + Number("%.3f", least) + " to " +
             std::to_string(rules_.max_seconds) + " s are taken";
  return false;
}

void Preparation::PlanToHear(const std::vector<float>& samples) {
  stages_.Add(samples.size(), kValueCost, [this, &samples](size_t first, size_t count) {
    if (problem_.empty()) Hear(samples, first, count);
  });
}

void Preparation::Hear(const std::vector<float>& samples, size_t first, size_t count) {
  if (first == 0) peak_ = 0;
  for (size_t n = first; n < first + count; n++) {
    if (!std::isfinite(samples[n])) {
      problem_ = "the recording's sample " + std::to_string(n) + " is no finite number";
      return;
    }
    peak_ = std::max(peak_, std::fabs(samples[n]));
  }
  if (first + count == samples.size()) CheckLoudness();
}

void Preparation::CheckLoudness() {
  if (peak_ > rules_.loudest) {
    problem_ = "the recording's loudest sample is " + Number("%g", peak_) + "; full scale is 1";
  } else if (peak_ < rules_.silence) {
    problem_ = "the recording is silent";
  }
}

bool Preparation::Advance() { return problem_.empty() && stages_.Advance(piece_cost_) && problem_.empty(); }

std::vector<float> Preparation::TakeSamples() {
  return resampling_ ? std::move(resampling_->result()) : recording_;
}

}  // namespace parley::model
