// The thread of an engine: it makes what it owns, runs rounds of work until it is closed, and frees
// everything at its end. An exception of a round ends the streams that are present, and later streams are
// served.
#ifndef PARLEY_RUNTIME_ROUND_THREAD_H_
#define PARLEY_RUNTIME_ROUND_THREAD_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/outcome.h"

namespace parley::runtime {

// A model and the scheduler of its streams.
class Rounds {
 public:
  virtual ~Rounds() = default;
  // False when there is nothing to do until Wait returns.
  virtual bool Round() = 0;
  virtual void Wait() = 0;
  virtual bool closing() const = 0;
  // Ends all streams, waiting and live.
  virtual void EndAll(Outcome outcome, const std::string& problem) = 0;
};

class RoundThread {
 public:
  // Makes the rounds, on the thread; null with `problem` set. May throw.
  using Maker = std::function<std::unique_ptr<Rounds>(std::string* problem)>;

  RoundThread() = default;
  RoundThread(const RoundThread&) = delete;
  RoundThread& operator=(const RoundThread&) = delete;
  ~RoundThread() { Join(); }

  // Blocks until the rounds are made. False with `problem` set: they could not be.
  bool Open(const Maker& make, std::string* problem);
  // Waits for the end of the rounds, which `closing` brings about. May be called again, by any other thread.
  void Join();

 private:
  static void Serve(Rounds& rounds);
  static bool Round(Rounds& rounds);
  static void EndAll(Rounds& rounds, Outcome outcome, const std::string& problem);

  std::mutex join_mutex_;
  std::thread thread_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ROUND_THREAD_H_
