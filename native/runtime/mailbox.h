// Mailbox of requests from any thread to the engine's thread. The engine's thread takes all of them at once,
// between two stages of its work.
#ifndef PARLEY_RUNTIME_MAILBOX_H_
#define PARLEY_RUNTIME_MAILBOX_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine.h"

namespace parley::runtime {

// Source of the current time: the machine's clock, or a number that a test sets.
using TimeSource = std::function<Clock::time_point()>;

struct Arrival {
  StreamId id = 0;
  SpeechRequest request;
  std::shared_ptr<SpeechSink> sink;
  Clock::time_point at;
};

struct MoreText {
  StreamId stream;
  std::string text;
  bool last;
};

struct Orders {
  std::vector<Arrival> arrivals;
  std::vector<MoreText> texts;
  std::vector<StreamId> cancels;
  bool close = false;
};

class Mailbox {
 public:
  explicit Mailbox(TimeSource now) : now_(std::move(now)) {}

  StreamId Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink);
  void AddText(StreamId stream, std::string text, bool last);
  void Cancel(StreamId stream);
  void Wake();
  void Close();

  // Returns all orders since the last call, in order of arrival. For the engine's thread.
  Orders Take();
  // Blocks until there is something to take, or Wake was called since the last Take.
  void Wait();

 private:
  template <class Change>
  void Leave(const Change& change);

  const TimeSource now_;

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  Orders orders_;
  bool news_ = false;
  StreamId last_id_ = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_MAILBOX_H_
