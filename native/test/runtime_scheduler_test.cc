// Order of service: batches, prompts, chunks, parking, deadlines. A scripted model logs its calls, one per
// line.
#include "test/check.h"
#include "test/scripted_desk.h"

namespace parley::test {
namespace {

// The calls of one kind.
std::string Only(const std::string& kind, const std::string& log) {
  std::string only;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line, ';');) {
    if (line[0] == ' ') line.erase(0, 1);
    if (line.substr(0, kind.size()) == kind) only += (only.empty() ? "" : "; ") + line;
  }
  return only;
}

void AStreamIsReadPrefilledSteppedAndDecodedInItsFirstRound() {
  Desk desk;
  const auto sink = Sink();
  desk.Start("a frames=1", sink);
  CHECK_EQ(desk.Rounds(1), "read a; begin a:65; prefill a:4; step a; decode a:1");
  CHECK_EQ(sink->Chunks(), "1");
  CHECK_EQ(desk.ToIdle(), "step a");
  CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(sink->end.samples, uint64_t{80});
  CHECK_EQ(sink->end.frames, uint64_t{1});
  CHECK_EQ(sink->wrong_samples, size_t{0});
}

void ChunksGrowFromOneToTwelveFrames() {
  Desk desk;
  const auto sink = Sink();
  desk.Start("a frames=50 tokens=20", sink);
  desk.ToIdle();
  CHECK_EQ(sink->Chunks(), "1 2 4 8 12 12 11");
  CHECK_EQ(sink->wrong_samples, size_t{0});
}

// A frame takes 30 ms to make and 80 to hear.
void ChunksGrowOnlyAsFarAsTheListenerIsAhead() {
  Desk desk;
  desk.model.step_time = milliseconds(30);
  const auto sink = Sink();
  desk.StartDue("a frames=60 tokens=20", sink, milliseconds(0));
  desk.ToIdle();
  // After one frame 80 ms are ahead, but two frames with as much time to spare need 120; every
  // frame gains 50. Twelve need 720.
  CHECK_EQ(sink->Chunks(), "1 1 1 2 2 4 4 8 12 12 12 1");
  CHECK_EQ(sink->written, size_t{60 * 80});
}

void AListenerWhoIsBehindGetsEveryFrameAtOnce() {
  Desk desk;
  desk.model.step_time = milliseconds(100);  // slower than it is heard
  const auto sink = Sink();
  desk.StartDue("a frames=6", sink, milliseconds(0));
  desk.ToIdle();
  CHECK_EQ(sink->Chunks(), "1 1 1 1 1 1");
}

void StreamsJoinAndLeaveBetweenFrames() {
  Desk desk;
  const auto a = Sink(), b = Sink();
  desk.Start("a frames=3", a);
  CHECK_EQ(desk.Rounds(1), "read a; begin a:65; prefill a:4; step a; decode a:1");
  desk.Start("b frames=2", b);
  CHECK_EQ(desk.Rounds(1), "read b; begin b:65; prefill b:4; step a b; decode b:1");
  CHECK_EQ(desk.Rounds(1), "step a b; decode a:2");
  CHECK_EQ(desk.ToIdle(), "step a b; decode b:1");
  CHECK_EQ(a->Chunks() + "|" + b->Chunks(), "1 2|1 1");
  CHECK_EQ(a->EndText() + b->EndText(), "donedone");
}

void FirstSoundsAreDecodedBeforeTheOthers() {
  Desk desk;
  desk.model.decode_time = milliseconds(10);
  const auto a = Sink(), b = Sink();
  desk.Start("a", a);
  desk.Rounds(2);
  desk.Start("b", b);
  desk.model.TakeLog();
  CHECK_EQ(desk.Rounds(1), "read b; begin b:65; prefill b:4; step a b; decode b:1; decode a:2");
}

// A frame is decoded in 10 ms, and 40 are what a listener can wait.
void WhoeverWaitsForSoundIsNotHeldUpByLargeChunks() {
  Desk desk;
  desk.model.decode_time = milliseconds(10);
  desk.model.step_time = milliseconds(1);
  const auto file = Sink(), call = Sink();
  desk.Start("file tokens=40", file);
  desk.Rounds(60);
  CHECK_EQ(file->Chunks().substr(0, 16), "1 2 4 8 12 12 12");
  desk.StartDue("call tokens=40", call, milliseconds(0));
  const size_t before = file->chunks.size();
  desk.Rounds(100);
  for (size_t n = before; n < file->chunks.size(); n++) CHECK(file->chunks[n] <= 4);
  for (size_t n = 0; n < call->chunks.size(); n++) CHECK(call->chunks[n] <= 4);
  CHECK(file->written >= 135 * 80);
  CHECK(call->written >= 88 * 80);  // a chunk of twelve may be on its way
}

void WhoIsInNoHurryGivesWayToThoseWhoMayRunDry() {
  Desk desk;
  desk.model.step_time = milliseconds(70);  // a frame is heard for 80: a second ahead after 100 frames
  desk.Start("file tokens=90", Sink());
  desk.StartDue("call tokens=90", Sink(), milliseconds(0));
  const std::string steps = Only("step", desk.Rounds(9));
  CHECK_EQ(
      steps,
      "step call; step call; step call; step call file; step call; step call; step call; step call file; step call");
  desk.Rounds(60);
  CHECK_EQ(Only("step", desk.Rounds(3)), "step call file; step call file; step call file");
}

void WhoIsDueFirstGoesFirst() {
  SchedulerOptions options = Usual();
  options.max_streams = 2;
  Desk desk(options);
  const auto sink = Sink();
  desk.StartDue("late", sink, seconds(9));
  desk.Start("never", sink);
  desk.StartDue("soon", sink, seconds(1));
  desk.StartDue("now", sink, seconds(0));
  CHECK_EQ(desk.Rounds(1),
           "read now; read soon; read late; read never; begin now:65; begin soon:65; "
           "prefill now:4 soon:4; step now soon; decode now:1 soon:1");
}

void AmongEqualsWhoCameFirstGoesFirst() {
  SchedulerOptions options = Usual();
  options.max_streams = 1;
  Desk desk(options);
  const auto sink = Sink();
  desk.Start("a frames=1", sink);
  desk.Start("b frames=1", sink);
  desk.Start("c frames=1", sink);
  const std::string log = desk.ToIdle();
  CHECK(log.find("begin a") < log.find("begin b"));
  CHECK(log.find("begin b") < log.find("begin c"));
  CHECK(log.find("begin c") != std::string::npos);
}

void ADeadlineMovesOnWithWhatIsWritten() {
  Desk desk;
  const auto a = Sink(), b = Sink();
  desk.StartDue("a", a, milliseconds(100));
  desk.StartDue("b", b, milliseconds(150));
  desk.Rounds(1);
  // a: 180, b: 230. Ten frames later a has 980; c is due before both.
  desk.StartDue("c", Sink(), milliseconds(200));
  CHECK_EQ(desk.Rounds(1).substr(0, 51), "read c; begin c:65; prefill c:4; step a c b; decode");
}

void LongPromptsAreTakenInPartsWhileOthersSpeak() {
  Desk desk;
  desk.model.row_time = milliseconds(1);  // 40 rows are 40 ms
  const auto a = Sink(), b = Sink();
  desk.Start("a rows=32", a);
  desk.Rounds(2);
  desk.Start("b rows=100 tokens=30", b);
  CHECK_EQ(desk.Rounds(1), "read b; begin b:455; prefill b:40; step a; decode a:2");
  CHECK_EQ(desk.Rounds(1), "prefill b:40; step a");
  CHECK_EQ(desk.Rounds(1), "prefill b:20; step a b; decode b:1");
}

void PromptsOfManyAreTakenTogetherAsFarAsTimeAllows() {
  Desk desk;
  desk.model.row_time = milliseconds(1);
  const auto sink = Sink();
  for (const char* const name : {"a rows=20", "b rows=20", "c rows=20"}) desk.Start(name, sink);
  CHECK_EQ(desk.Rounds(1),
           "read a; read b; read c; begin a:65; begin b:65; begin c:65; "
           "prefill a:20 b:12; step a; decode a:1");
  CHECK_EQ(desk.Rounds(1), "prefill b:8 c:20; step a b c; decode b:1 c:1");
}

// The prompt takes 160 ms. Before, `a` may have a chunk of the two frames that are made.
void SoundBeforeASecondPromptIsHeardWhileThePromptWaits() {
  Desk desk;
  desk.model.row_time = milliseconds(4);
  desk.model.step_time = milliseconds(30);
  const auto sink = Sink(), other = Sink();
  desk.StartDue("a frames=40 tokens=20 border=6 second=40", sink, milliseconds(0));
  desk.StartDue("b frames=40 tokens=20", other, milliseconds(0));
  desk.Rounds(5);
  CHECK_EQ(desk.Rounds(1), "step a b; decode a:2 b:2");
  CHECK_EQ(desk.Rounds(1), "prefill a:32; step b");
  CHECK_EQ(desk.Rounds(1), "prefill a:8; step a; decode a:1 b:1");
  desk.ToIdle();
  CHECK_EQ(sink->written, 40 * ScriptedModel::kFrameSamples);
  CHECK_EQ(sink->wrong_samples + sink->overruns, size_t{0});
}

void AStreamWhoseSinkIsFullParksUntilThereIsRoom() {
  Desk desk;
  const auto sink = Sink(8);
  desk.Start("a frames=30 tokens=20", sink);
  desk.ToIdle();
  // Half of the sink at most: 1, 2, 4, and then one frame is left.
  CHECK_EQ(sink->Chunks(), "1 2 4");
  CHECK_EQ(desk.stats().parked, size_t{1});
  CHECK(!desk.scheduler.Round());
  sink->Play(2);
  CHECK_EQ(desk.ToIdle(), "");  // three frames do not take a chunk of four
  sink->Play(1);
  desk.mailbox.Wake();
  CHECK_EQ(desk.ToIdle(), "step a; step a; step a; step a; decode a:4");
  CHECK_EQ(desk.stats().parked, size_t{1});
  CHECK_EQ(sink->overruns, size_t{0});
}

void ASinkOfOneFrameIsServedFrameByFrame() {
  Desk desk;
  const auto sink = Sink(1);
  desk.Start("a frames=3", sink);
  for (int n = 0; n < 5; n++) {
    desk.ToIdle();
    sink->Play(sink->Room() == 0 ? 1 : 0);
  }
  CHECK_EQ(sink->Chunks(), "1 1 1");
  CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(sink->overruns, size_t{0});
}

void AParkedStreamDoesNotHoldUpOthers() {
  Desk desk;
  const auto full = Sink(1), free = Sink();
  desk.Start("full", full);
  desk.Start("free frames=20", free);
  desk.ToIdle();
  CHECK_EQ(free->EndText(), "done");
  CHECK_EQ(full->EndText(), "not ended");
}

void AStreamWithoutTextParksUntilMoreComes() {
  Desk desk;
  const auto sink = Sink();
  const StreamId id = desk.StartOpen("a words=2 frames=9", sink);
  CHECK_EQ(desk.ToIdle(), "read a");  // no text at all
  CHECK_EQ(desk.stats().waiting, size_t{1});
  desk.mailbox.AddText(id, "one", false);
  CHECK_EQ(desk.ToIdle(), "");
  desk.mailbox.AddText(id, "two three four five", false);
  // Two words are for the prompt; what was made is not held back when the text runs out.
  CHECK_EQ(desk.ToIdle(), "begin a:1500; prefill a:4; step a; decode a:1; step a; step a; decode a:2");
  CHECK_EQ(desk.stats().parked, size_t{1});
  desk.mailbox.AddText(id, "six", true);
  desk.ToIdle();
  CHECK_EQ(sink->EndText(), "done");
  CHECK_EQ(sink->end.frames, uint64_t{9});
}

void TextAfterItsEndIsIgnored() {
  Desk desk;
  const auto sink = Sink();
  const StreamId open = desk.StartOpen("a frames=3", sink);
  desk.mailbox.AddText(open, "one", true);
  desk.mailbox.AddText(open, "bad", true);
  desk.mailbox.AddText(desk.Start("b frames=3", sink), "bad", true);
  desk.mailbox.AddText(77, "bad", true);
  desk.Rounds(1);
  desk.mailbox.AddText(open, "bad", true);
  desk.ToIdle();
  CHECK_EQ(desk.stats().done, uint64_t{2});
  CHECK_EQ(desk.stats().refused, uint64_t{0});
}

void TextThatCameBeforeTheRequestWasReadIsNotLost() {
  Desk desk;
  const auto sink = Sink();
  const StreamId id = desk.StartOpen("a words=3 frames=2", sink);
  desk.mailbox.AddText(id, "one two", false);
  desk.mailbox.AddText(id, "three", true);
  desk.ToIdle();
  CHECK_EQ(sink->EndText(), "done");
}

void TimesAreCountedFromTheStart() {
  Desk desk;
  desk.model.step_time = milliseconds(30);
  desk.model.row_time = milliseconds(5);
  desk.model.decode_time = milliseconds(10);
  const auto sink = Sink();
  desk.Start("a frames=2", sink);
  desk.model.Pass(milliseconds(7));
  desk.ToIdle();
  CHECK_EQ(sink->end.queue_ms, 7.0);
  CHECK_EQ(sink->end.first_frame_ms, 7.0 + 20 + 30 + 10);
  CHECK_EQ(sink->end.total_ms, 7.0 + 20 + 3 * 30 + 20);
}

void StepsAndFramesAreCounted() {
  Desk desk;
  desk.Start("a frames=3", Sink());
  desk.Start("b frames=5", Sink());
  desk.ToIdle();
  CHECK_EQ(desk.stats().steps, uint64_t{6});
  CHECK_EQ(desk.stats().frames, uint64_t{8});
  CHECK_EQ(desk.stats().begun, uint64_t{2});
  CHECK_EQ(desk.stats().live + desk.stats().waiting + desk.stats().parked, size_t{0});
}

// A device with several models asks when the next round must begin.
void ARoundIsForTheListenerWhoRunsDryFirst() {
  Desk desk;
  desk.model.step_time = milliseconds(10);
  const auto now = std::make_shared<TestSink>(), later = std::make_shared<TestSink>(),
             open = std::make_shared<TestSink>();
  CHECK(!desk.scheduler.Look() || desk.scheduler.Look()->rank == Rank::kFiles);
  desk.StartDue("later frames=5", later, seconds(2));
  const auto far = desk.scheduler.Look();
  CHECK(far && far->rank == Rank::kListeners);
  CHECK(far->latest > desk.model.now() + milliseconds(1900) && far->latest <= desk.model.now() + seconds(2));
  desk.StartDue("now frames=5", now, Clock::duration::zero());
  const auto near = desk.scheduler.Look();
  CHECK(near && near->rank == Rank::kListeners && near->latest <= desk.model.now());
  desk.ToIdle();
  desk.StartOpen("open frames=5", open);
  desk.Rounds(2);
  desk.mailbox.Wake();
  const auto without_text = desk.scheduler.Look();
  CHECK(!without_text || without_text->rank == Rank::kFiles);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_scheduler) {
  using namespace parley::test;
  return Run({
      {"a stream is read, prefilled, stepped and decoded in its first round",
       AStreamIsReadPrefilledSteppedAndDecodedInItsFirstRound},
      {"chunks grow from one to twelve frames", ChunksGrowFromOneToTwelveFrames},
      {"chunks grow only as far as the listener is ahead", ChunksGrowOnlyAsFarAsTheListenerIsAhead},
      {"a listener who is behind gets every frame at once", AListenerWhoIsBehindGetsEveryFrameAtOnce},
      {"streams join and leave between frames", StreamsJoinAndLeaveBetweenFrames},
      {"first sounds are decoded before the others", FirstSoundsAreDecodedBeforeTheOthers},
      {"whoever waits for sound is not held up by large chunks",
       WhoeverWaitsForSoundIsNotHeldUpByLargeChunks},
      {"who is in no hurry gives way to those who may run dry", WhoIsInNoHurryGivesWayToThoseWhoMayRunDry},
      {"who is due first goes first", WhoIsDueFirstGoesFirst},
      {"among equals who came first goes first", AmongEqualsWhoCameFirstGoesFirst},
      {"a deadline moves on with what is written", ADeadlineMovesOnWithWhatIsWritten},
      {"long prompts are taken in parts while others speak", LongPromptsAreTakenInPartsWhileOthersSpeak},
      {"prompts of many are taken together as far as time allows",
       PromptsOfManyAreTakenTogetherAsFarAsTimeAllows},
      {"sound before a second prompt is heard while the prompt waits",
       SoundBeforeASecondPromptIsHeardWhileThePromptWaits},
      {"a stream whose sink is full parks until there is room", AStreamWhoseSinkIsFullParksUntilThereIsRoom},
      {"a sink of one frame is served frame by frame", ASinkOfOneFrameIsServedFrameByFrame},
      {"a parked stream does not hold up others", AParkedStreamDoesNotHoldUpOthers},
      {"a stream without text parks until more comes", AStreamWithoutTextParksUntilMoreComes},
      {"text after its end is ignored", TextAfterItsEndIsIgnored},
      {"text that came before the request was read is not lost",
       TextThatCameBeforeTheRequestWasReadIsNotLost},
      {"times are counted from the start", TimesAreCountedFromTheStart},
      {"steps and frames are counted", StepsAndFramesAreCounted},
      {"a round is for the listener who runs dry first", ARoundIsForTheListenerWhoRunsDryFirst},
  });
}
