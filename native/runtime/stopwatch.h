// Measures the stages of a model's work.
#ifndef PARLEY_RUNTIME_STOPWATCH_H_
#define PARLEY_RUNTIME_STOPWATCH_H_

#include <chrono>

#include "runtime/outcome.h"

namespace parley::runtime {

// Adds the milliseconds from now until its end to a stage.
class Stopwatch {
 public:
  explicit Stopwatch(double* total) : total_(total) {}
  ~Stopwatch() { *total_ += std::chrono::duration<double, std::milli>(Clock::now() - began_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double* const total_;
  const Clock::time_point began_ = Clock::now();
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_STOPWATCH_H_
