// Frames that a model may take back: when they are decoded, and what a listener hears if they are made anew.
#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

void AFileWaitsForFramesThatMayBeTakenBack() {
  Desk desk;
  const auto sink = Sink();
  desk.Start("file frames=30 tokens=20 held=25", sink);
  desk.Rounds(24);
  CHECK_EQ(sink->written, size_t{0});
  desk.ToIdle();
  CHECK_EQ(sink->Chunks(), "12 12 4 2");
  CHECK_EQ(sink->wrong_samples + sink->overruns, size_t{0});
}

void WhoListensNowHearsThemAtOnce() {
  Desk desk;
  const auto sink = Sink();
  desk.StartDue("call frames=30 tokens=20 held=25", sink, milliseconds(0));
  desk.Rounds(2);
  CHECK_EQ(sink->Chunks(), "1");
}

void AClientOfTheWholeWaitsForThemThoughItIsDue() {
  Desk desk;
  const auto sink = Sink();
  SpeechRequest request;
  request.due = desk.model.now();
  request.whole = true;
  desk.Start("file frames=30 tokens=20 held=25", sink, std::move(request));
  desk.Rounds(24);
  CHECK_EQ(sink->written, size_t{0});
  desk.ToIdle();
  CHECK_EQ(sink->written, 30 * ScriptedModel::kFrameSamples);
}

// A sentence whose turn comes in ten seconds, of which two are left when its frames are decoded.
void ASentenceThatFollowsAnotherHoldsThemUntilItsTurnIsNear() {
  Desk desk;
  desk.model.step_time = milliseconds(100);
  const auto sink = Sink();
  desk.StartDue("next frames=200 tokens=60 held=200", sink, seconds(10));
  desk.Rounds(80);
  CHECK_EQ(sink->written, size_t{0});
  desk.Rounds(3);
  CHECK(sink->written > 0);
  desk.ToIdle();
  CHECK_EQ(sink->written, 200 * ScriptedModel::kFrameSamples);
  CHECK_EQ(sink->wrong_samples + sink->overruns, size_t{0});
}

// Once it is heard, it is decoded in chunks as any other.
void ASmallSinkTakesHeldFramesAsItHasRoom() {
  Desk desk;
  const auto sink = Sink(4);
  desk.Start("file frames=20 tokens=20 held=20", sink);
  desk.ToIdle();
  CHECK_EQ(sink->Chunks(), "4");
  CHECK_EQ(desk.stats().parked, size_t{1});
  while (!sink->ended) {
    sink->Play(4);
    CHECK_EQ(sink->overruns, size_t{0});
    desk.ToIdle();
  }
  CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(sink->written, 20 * ScriptedModel::kFrameSamples);
  CHECK_EQ(sink->wrong_samples, size_t{0});
}

void WhatIsTakenBackIsNeverHeardAndNotCounted() {
  Desk desk;
  const auto sink = Sink();
  desk.Start("file frames=30 tokens=20 held=25 again=7", sink);
  const std::string log = desk.ToIdle();
  size_t prompts = 0;
  for (size_t at = log.find("prefill"); at != std::string::npos; at = log.find("prefill", at + 1)) prompts++;
  CHECK_EQ(prompts, size_t{2});
  CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(sink->end.frames, uint64_t{30});
  CHECK_EQ(sink->written, 30 * ScriptedModel::kFrameSamples);
  CHECK_EQ(sink->wrong_samples + sink->overruns, size_t{0});
}

void ASinkThatThrowsWhileFramesAreHeldEndsTheStream() {
  Desk desk;
  const auto sink = Sink();
  sink->throws = true;
  desk.Start("file frames=30 tokens=20 held=25", sink);
  desk.ToIdle();
  CHECK_EQ(sink->EndText(), "failed");
  CHECK_EQ(desk.model.generations, size_t{0});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_held) {
  using namespace parley::test;
  return Run({
      {"a file waits for frames that may be taken back", AFileWaitsForFramesThatMayBeTakenBack},
      {"who listens now hears them at once", WhoListensNowHearsThemAtOnce},
      {"a client of the whole waits for them, though it is due", AClientOfTheWholeWaitsForThemThoughItIsDue},
      {"a sentence that follows another holds them until its turn is near",
       ASentenceThatFollowsAnotherHoldsThemUntilItsTurnIsNear},
      {"a small sink takes held frames as it has room", ASmallSinkTakesHeldFramesAsItHasRoom},
      {"what is taken back is never heard and not counted", WhatIsTakenBackIsNeverHeardAndNotCounted},
      {"a sink that throws while frames are held ends the stream",
       ASinkThatThrowsWhileFramesAreHeldEndsTheStream},
  });
}
