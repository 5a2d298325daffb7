// Outcomes of a scripted desk's streams, and a check that they left nothing behind.
#ifndef PARLEY_TEST_STREAM_ENDS_H_
#define PARLEY_TEST_STREAM_ENDS_H_

#include <memory>
#include <string>
#include <utility>

#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {

struct Ended {
  std::string outcome, problem;
  uint64_t frames;
};

inline Ended EndOf(const std::shared_ptr<TestSink>& sink) {
  CHECK(sink->ended);
  CHECK_EQ(sink->late_calls, size_t{0});
  CHECK_EQ(sink->wrong_samples + sink->overruns, size_t{0});
  return {sink->EndText(), sink->end.problem, sink->end.frames};
}

// Nothing of a stream is left, and the next one is served.
inline void CheckStillServing(Desk& desk) {
  CHECK_EQ(desk.model.bytes_in_use, size_t{0});
  CHECK_EQ(desk.stats().memory_in_use, desk.model.VoiceBytes());
  CHECK_EQ(desk.stats().live + desk.stats().waiting, size_t{0});
  const auto sink = Sink();
  desk.Start("next frames=2", sink);
  desk.ToIdle();
  CHECK_EQ(EndOf(sink).outcome, "done");
  CHECK_EQ(desk.model.bytes_in_use, size_t{0});
}

inline Ended Spoken(Desk& desk, const std::string& script, SpeechRequest request = {}) {
  const auto sink = Sink();
  desk.Start(script, sink, std::move(request));
  desk.ToIdle();
  const Ended end = EndOf(sink);
  CheckStillServing(desk);
  return end;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_STREAM_ENDS_H_
