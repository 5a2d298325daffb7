// Time, the names of streams, and the reasons of their ends, for all engines.
#ifndef PARLEY_RUNTIME_OUTCOME_H_
#define PARLEY_RUNTIME_OUTCOME_H_

#include <chrono>
#include <cstdint>
#include <functional>

namespace parley::runtime {

using Clock = std::chrono::steady_clock;
// Source of the current time: the machine's clock, or a number that a test sets.
using TimeSource = std::function<Clock::time_point()>;
inline double Milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}
using StreamId = uint64_t;  // never reused; 0 names no stream

// Reason for the end of a stream, or for refusing one.
enum class Outcome : uint8_t {
  kDone,     // the model ended the speech
  kBudget,   // it reached max_new_tokens of the request
  kRunaway,  // it ran on past its text; the written sound stays
  kCancelled,
  kTooLarge,    // it needs more memory or positions than the engine has
  kBadRequest,  // unknown speaker or language, no text, a bad recording: see `problem`
  kOutOfMemory,
  kClosed,  // the engine closed
  kFailed,  // an error in the engine; other streams go on
  kLost,    // the compute device is lost: the engine must be opened again
};

inline const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kBudget:
      return "budget";
    case Outcome::kRunaway:
      return "runaway";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kTooLarge:
      return "too large";
    case Outcome::kBadRequest:
      return "bad request";
    case Outcome::kOutOfMemory:
      return "out of memory";
    case Outcome::kClosed:
      return "closed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kLost:
      return "lost";
  }
  return "failed";
}

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_OUTCOME_H_
