// A gain that reaches each new value in a line of 10 ms, so that a change makes no click.
#ifndef PARLEY_MEDIA_JOIN_GAIN_RAMP_H_
#define PARLEY_MEDIA_JOIN_GAIN_RAMP_H_

#include <cmath>
#include <cstddef>

namespace parley {

class GainRamp {
 public:
  // The gains at the two ends of one quantum.
  struct Step {
    float from, to;
    bool silent() const { return from == 0 && to == 0; }
    bool unchanged() const { return from == 1 && to == 1; }
  };

  explicit GainRamp(float gain = 1) : now_(gain), target_(gain) {}

  void Set(float target) {
    if (target == target_) return;
    target_ = target;
    step_ = (target - now_) / kQuanta;
  }
  float target() const { return target_; }
  bool moves() const { return now_ != target_; }
  bool silent() const { return now_ == 0 && target_ == 0; }

  // Goes on by a quantum.
  Step Advance() {
    const float from = now_;
    now_ = std::abs(target_ - now_) <= std::abs(step_) * 1.001F ? target_ : now_ + step_;
    return {from, now_};
  }

 private:
  static constexpr float kQuanta = 2;  // of 5 ms

  float now_, target_, step_ = 0;
};

// out[n] += in[n] * gain, which goes from one end of the step to the other.
inline void AddScaled(const float* in, size_t count, const GainRamp::Step& step, float* out) {
  if (step.unchanged()) {
    for (size_t n = 0; n < count; n++) out[n] += in[n];
    return;
  }
  const float slope = (step.to - step.from) / static_cast<float>(count);
  for (size_t n = 0; n < count; n++) out[n] += in[n] * (step.from + slope * static_cast<float>(n + 1));
}

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_GAIN_RAMP_H_
