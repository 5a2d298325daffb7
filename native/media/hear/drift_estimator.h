// The rate difference between the far end's clock and ours: the slope of the least transit times of two
// seconds each, by linear regression over the last two minutes.
#ifndef PARLEY_MEDIA_HEAR_DRIFT_ESTIMATOR_H_
#define PARLEY_MEDIA_HEAR_DRIFT_ESTIMATOR_H_

#include <array>
#include <cstddef>

namespace parley {

// All times in milliseconds.
class DriftEstimator {
 public:
  void Observe(double arrival, double transit);
  void Restart();
  // Parts per million, positive where the far end's clock is faster. 0 within the first ten seconds.
  double ppm() const { return ppm_; }

 private:
  struct Point {
    double arrival, transit;
  };
  static constexpr size_t kPoints = 60, kLeastPoints = 5;
  static constexpr double kPointMs = 2000;
  static constexpr int kPointPackets = 20;  // fewer, during pauses, take longer
  static constexpr double kJump = 30;       // the way changed

  void Add(Point point);
  void Fit();

  std::array<Point, kPoints> points_{};
  size_t next_ = 0, count_ = 0;
  Point least_{};
  double began_ = 0;
  int packets_ = 0;
  double ppm_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_DRIFT_ESTIMATOR_H_
