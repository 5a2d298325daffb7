// A scheduler with a scripted model, round by round, without a thread.
#ifndef PARLEY_TEST_SCRIPTED_DESK_H_
#define PARLEY_TEST_SCRIPTED_DESK_H_

#include <memory>
#include <string>

#include "runtime/mailbox.h"
#include "runtime/scheduler.h"
#include "test/check.h"
#include "test/scripted_model.h"

namespace parley::test {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline SchedulerOptions Usual() {
  SchedulerOptions options;
  options.max_streams = 8;
  options.memory_bytes = 1'000'000;
  return options;
}

inline SchedulerOptions WithMemory(size_t bytes) {
  SchedulerOptions options = Usual();
  options.memory_bytes = bytes;
  return options;
}

class Desk {
 public:
  explicit Desk(SchedulerOptions options = Usual())
      : mailbox(model.clock()), scheduler(model, mailbox, Timed(std::move(options), model.clock())) {}

  StreamId Start(const std::string& script, const std::shared_ptr<TestSink>& sink,
                 SpeechRequest request = {}) {
    request.text = script;
    return mailbox.Start(std::move(request), sink);
  }
  // Due so long from now.
  StreamId StartDue(const std::string& script, const std::shared_ptr<TestSink>& sink, Clock::duration due) {
    SpeechRequest request;
    request.due = model.now() + due;
    return Start(script, sink, std::move(request));
  }
  // The same for a reader, or for the server itself; overdue after two seconds.
  StreamId StartFor(Listener listener, const std::string& script, const std::shared_ptr<TestSink>& sink) {
    SpeechRequest request;
    request.due = model.now();
    request.overdue = model.now() + seconds(2);
    request.listener = listener;
    return Start(script, sink, std::move(request));
  }
  StreamId StartOpen(const std::string& script, const std::shared_ptr<TestSink>& sink) {
    SpeechRequest request;
    request.more_text = true;
    return Start(script, sink, std::move(request));
  }
  StreamId StartVoice(const std::string& script, const std::string& hash,
                      const std::shared_ptr<TestSink>& sink) {
    auto recording = std::make_shared<Recording>();
    recording->hash = hash;
    SpeechRequest request;
    request.recording = recording;
    return Start(script, sink, std::move(request));
  }

  // Calls of the model in `count` rounds.
  std::string Rounds(size_t count) {
    while (count-- > 0) scheduler.Round();
    return model.TakeLog();
  }
  // Runs rounds until there is nothing to do, which must happen.
  std::string ToIdle() {
    size_t rounds = 0;
    while (scheduler.Round()) {
      if (++rounds == 100'000) {
        CHECK(!"it never rests");
        break;
      }
    }
    return model.TakeLog();
  }
  const EngineStats& stats() const { return scheduler.stats(); }

  ScriptedModel model;
  Mailbox mailbox;
  Scheduler scheduler;

 private:
  static SchedulerOptions Timed(SchedulerOptions options, TimeSource now) {
    options.now = std::move(now);
    return options;
  }
};

inline std::shared_ptr<TestSink> Sink(size_t room_in_frames = 1'000'000) {
  return std::make_shared<TestSink>(room_in_frames);
}

}  // namespace parley::test

#endif  // PARLEY_TEST_SCRIPTED_DESK_H_
