// Checks the pause of a voice that fades out: exactly one frame leaves after the decision, what is sent once
// more when the voice goes on, and the counts.
#include <optional>
#include <string>
#include <vector>

#include "media/plane.h"
#include "test/check.h"
#include "test/letters.h"

namespace parley::test {
namespace {

// A stream on a clock that stands still between calls. Its ticks come at 0 ms, 10 ms and so on. Nothing is
// sent in pauses.
class Rig {
 public:
  explicit Rig(StreamConfig config = Config(VoiceCodec::kPcmu))
      : stream(plane->MakeStream(std::move(config), nullptr)) {
    stream->set_handle(1);
    CHECK(plane->Begin(stream.get()));
    Connect(true);
  }

  void Connect(bool on) { stream->SetTarget(on ? plane->CaptureTarget() : nullptr); }

  void Say(uint32_t track, const std::string& letters) {
    for (const char letter : letters) {
      const std::vector<uint8_t> frame = FrameOf(letter);
      CHECK(stream->queue().Push(stream->queue().generation(), track, frame.data(), frame.size()) ==
            PushResult::kTaken);
    }
  }
  void Mark(uint32_t track, uint32_t mark, bool end = false) {
    CHECK(stream->queue().Mark(stream->queue().generation(), track, mark, end) == PushResult::kTaken);
  }

  std::vector<CapturedPacket> Packets(int ticks) {
    now_ns_ += ticks * kFrame;
    plane->Advance(now_ns_ - 1);
    return plane->TakePackets();
  }
  // Letters of the stream's next packets. A dash is before a frame with the marker bit.
  std::string Heard(int ticks, uint64_t handle = 1) {
    std::string text;
    for (const CapturedPacket& packet : Packets(ticks)) {
      if (packet.stream != handle || packet.rtcp) continue;
      if (packet.data[1] & 0x80) text += '-';
      text += LetterOf(packet);
    }
    return text;
  }
  size_t Marks() { return plane->TakeMarks().size(); }
  // Frames that are repeated.
  size_t Resume(uint32_t track, uint32_t back_frames) {
    const std::optional<size_t> frames = stream->ResumeFade(track, back_frames);
    CHECK(frames.has_value());
    return frames.value_or(SIZE_MAX);
  }

  const std::shared_ptr<MediaPlane> plane = MediaPlane::OpenManual(1, 0, 0);
  const std::shared_ptr<Stream> stream;

 private:
  int64_t now_ns_ = 0;
};

bool Cut(FadeResult result) { return result == FadeResult::kCut; }
bool Nothing(FadeResult result) { return result == FadeResult::kNothing; }

// "abcD" has left, and the last `back` frames of it are sent once more, before "ef".
void FadeAndRepeat(Rig& rig, uint32_t back) {
  rig.Say(1, "abcdef");
  rig.Heard(3);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(1), "D");
  CHECK_EQ(rig.Resume(1, back), size_t{back});
}

void OneFrameLeavesAfterAFade() {
  Rig rig;
  rig.Say(1, "abcdefgh");
  CHECK_EQ(rig.Heard(3), "-abc");
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(5), "D");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{4});
  CHECK_EQ(rig.stream->Stats().underruns, uint64_t{0});
  CHECK_EQ(rig.Resume(1, 0), size_t{1});
  CHECK_EQ(rig.stream->Sent(1), uint64_t{4});  // it had left
  CHECK_EQ(rig.Heard(6), "-defgh");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{8});
}

void OtherTracksAndPausesAreLeftAlone() {
  Rig rig;
  CHECK(Nothing(rig.stream->Fade(1)));
  rig.Say(1, "ab");
  rig.Mark(1, 9, true);
  rig.Say(2, "cdef");
  CHECK(Nothing(rig.stream->Fade(2)));
  CHECK_EQ(rig.Heard(2), "-ab");
  CHECK(Nothing(rig.stream->Fade(1)));
  rig.stream->SetPaused(true);
  CHECK(Nothing(rig.stream->Fade(2)));
  rig.stream->SetPaused(false);
  CHECK_EQ(rig.Heard(1), "c");
  CHECK(Faded(rig.stream->Fade(2)));
  CHECK(Nothing(rig.stream->Fade(2)));
  CHECK_EQ(rig.Heard(3), "D");
  CHECK(Nothing(rig.stream->Fade(2)));
  rig.plane->CloseStream(rig.stream.get());
  CHECK(Nothing(rig.stream->Fade(2)));
  CHECK(!rig.stream->ResumeFade(2, 0));
}

void AResumeGoesBackWithinTheTrack() {
  Rig rig;
  rig.Say(1, "xy");
  rig.Mark(1, 9, true);
  rig.Say(2, "abcdefgh");
  CHECK_EQ(rig.Heard(6), "-xyabcd");
  CHECK(Faded(rig.stream->Fade(2)));
  CHECK_EQ(rig.Heard(2), "E");
  CHECK_EQ(rig.Resume(2, 3), size_t{3});
  CHECK_EQ(rig.Heard(4), "-cdef");
  CHECK(Faded(rig.stream->Fade(2)));
  CHECK_EQ(rig.Heard(2), "G");
  CHECK_EQ(rig.Resume(2, UINT32_MAX), size_t{7});  // all of the track
  CHECK_EQ(rig.stream->Sent(2), uint64_t{7});
  CHECK_EQ(rig.Heard(20), "-abcdefgh");
  CHECK_EQ(rig.stream->Sent(2), uint64_t{8});
}

void ARepeatedFrameFadesToo() {
  Rig rig;
  rig.Say(1, "abcdefgh");
  rig.Heard(5);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(1), "F");
  CHECK_EQ(rig.Resume(1, 4), size_t{4});
  CHECK_EQ(rig.Heard(1), "c");
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(3), "D");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{6});
  // The same place as before, although the voice stopped sooner.
  CHECK_EQ(rig.Resume(1, 4), size_t{2});
  CHECK_EQ(rig.stream->Sent(1), uint64_t{6});
  CHECK_EQ(rig.Heard(2), "-cd");
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(1), "E");
  CHECK_EQ(rig.Resume(1, 0), size_t{1});
  CHECK_EQ(rig.Heard(9), "efgh");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{8});
}

void AFadeThatIsResumedBeforeItLeftChangesNothing() {
  Rig rig;
  rig.Say(1, "abcdef");
  rig.Heard(2);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Resume(1, 3), size_t{0});
  CHECK_EQ(rig.Heard(5), "cdef");
}

void MarksBehindTheFadedFrameWait() {
  Rig rig;
  rig.Say(1, "ab");
  rig.Heard(1);
  rig.Mark(1, 5);
  rig.Mark(1, 9, true);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(3), "B");
  CHECK_EQ(rig.Marks(), size_t{0});
  CHECK_EQ(rig.Resume(1, 2), size_t{2});
  CHECK_EQ(rig.Heard(1), "-a");
  CHECK_EQ(rig.Marks(), size_t{0});
  CHECK_EQ(rig.Heard(1), "b");
  CHECK_EQ(rig.Marks(), size_t{2});
}

void MarksBeforeTheFadedFrameAreReached() {
  Rig rig;
  rig.Say(1, "a");
  rig.Heard(1);
  rig.Mark(1, 5);
  rig.Say(1, "b");
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(3), "B");
  CHECK_EQ(rig.Marks(), size_t{1});
}

void AClearEndsThePause() {
  Rig rig;
  rig.Say(1, "abcdef");
  rig.Mark(1, 9, true);
  rig.Heard(2);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(2), "C");
  const ClearedQueue cleared = rig.stream->Clear();
  CHECK_EQ(cleared.tracks.size(), size_t{1});
  CHECK_EQ(cleared.tracks[0].sent_frames, uint64_t{3});
  CHECK_EQ(cleared.tracks[0].dropped_frames, uint64_t{3});
  CHECK_EQ(cleared.tracks[0].dropped_marks.size(), size_t{1});
  CHECK(!rig.stream->ResumeFade(1, 3));
  rig.Say(2, "xyz");
  CHECK_EQ(rig.Heard(5), "-xyz");
}

void AClearBeforeTheFadedFrameDropsIt() {
  Rig rig;
  rig.Say(1, "abcd");
  rig.Heard(2);
  CHECK(Faded(rig.stream->Fade(1)));
  const ClearedQueue cleared = rig.stream->Clear();
  CHECK_EQ(cleared.tracks[0].sent_frames, uint64_t{2});
  CHECK_EQ(cleared.tracks[0].dropped_frames, uint64_t{2});
  rig.Say(2, "xy");
  CHECK_EQ(rig.Heard(5), "xy");
}

// The words of repeated frames left once.
void AClearCountsRepeatedFramesAsSent() {
  Rig rig;
  FadeAndRepeat(rig, 4);
  CHECK_EQ(rig.Heard(1), "a");
  const ClearedQueue cleared = rig.stream->Clear();
  CHECK_EQ(cleared.tracks[0].sent_frames, uint64_t{4});
  CHECK_EQ(cleared.tracks[0].dropped_frames, uint64_t{2});
  CHECK_EQ(rig.Heard(5), "");
}

void AHoldIsAnotherPause() {
  Rig rig;
  rig.Say(1, "abcdefgh");
  rig.Heard(2);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(1), "C");
  rig.stream->SetPaused(true);
  CHECK_EQ(rig.Resume(1, 0), size_t{1});
  CHECK_EQ(rig.Heard(3), "");
  rig.stream->SetPaused(false);
  CHECK_EQ(rig.Heard(2), "-cd");
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(1), "E");
  rig.stream->SetPaused(true);
  rig.stream->SetPaused(false);
  CHECK_EQ(rig.Heard(3), "");
  rig.stream->SetPaused(true);
  rig.stream->Clear();
  rig.Say(2, "xy");
  CHECK_EQ(rig.Heard(3), "");
  rig.stream->SetPaused(false);
  CHECK_EQ(rig.Heard(3), "-xy");
}

// A faded frame behind silence would click at its beginning.
void AVoiceThatStopsOtherwiseNeedsNoFadedFrame() {
  for (const bool digit : {false, true}) {
    Rig rig;
    rig.Say(1, "abcdef");
    rig.Heard(2);
    CHECK(Faded(rig.stream->Fade(1)));
    if (digit) {
      CHECK(rig.stream->PressDigit({5, 101, 10, 8000, 30 * kNsPerMs, 0}));
    } else {
      rig.stream->SetPaused(true);
    }
    rig.Heard(10);
    rig.stream->SetPaused(false);
    CHECK_EQ(rig.Heard(3), "");
    CHECK_EQ(rig.stream->Sent(1), uint64_t{2});
    CHECK_EQ(rig.Resume(1, 1), size_t{1});
    CHECK_EQ(rig.Heard(9), "-bcdef");
    CHECK_EQ(rig.stream->Sent(1), uint64_t{6});
  }
}

void AStreamWithoutACodecIsCutOff() {
  Rig rig(Config(std::nullopt));
  rig.Say(1, "abcdef");
  rig.Heard(3);
  CHECK(Cut(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(3), "");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{3});
  CHECK_EQ(rig.Resume(1, 2), size_t{2});
  CHECK_EQ(rig.Heard(9), "-bcdef");
}

// The unfinished word begins at "c". Its frames that count as sent are repeated, no more and no fewer.
void AResumeBeginsWithTheWordAfterAFadeAndAfterACut() {
  for (const bool cut : {false, true}) {
    Rig rig(Config(cut ? std::nullopt : std::optional<VoiceCodec>(VoiceCodec::kPcmu)));
    rig.Say(1, "abcdefghij");
    rig.Heard(4);
    CHECK(cut ? Cut(rig.stream->Fade(1)) : Faded(rig.stream->Fade(1)));
    CHECK_EQ(rig.Heard(3), cut ? "" : "E");
    const auto unfinished = static_cast<uint32_t>(rig.stream->Sent(1)) - 2;
    CHECK_EQ(rig.Resume(1, unfinished), size_t{unfinished});
    CHECK_EQ(rig.Heard(1), "-c");
    // The voice stops once more in the same word, while it is repeated.
    CHECK(cut ? Cut(rig.stream->Fade(1)) : Faded(rig.stream->Fade(1)));
    CHECK_EQ(rig.Heard(3), cut ? "" : "D");
    rig.Resume(1, unfinished);
    CHECK_EQ(rig.Heard(12), "-cdefghij");
    CHECK_EQ(rig.stream->Sent(1), uint64_t{10});
  }
}

// Another fade has begun when the resume of the one before comes.
void AResumeOfAnotherTrackIsRefused() {
  Rig rig;
  rig.Say(1, "abcd");
  rig.Heard(2);
  CHECK(Faded(rig.stream->Fade(1)));
  rig.Heard(1);
  rig.stream->Clear();
  CHECK(!rig.stream->FadedTrack());
  rig.Say(2, "uvwxyz");
  CHECK_EQ(rig.Heard(2), "uv");
  CHECK(Faded(rig.stream->Fade(2)));
  for (int n = 0; n < 2; n++) {  // before and after the faded frame has left
    CHECK(!rig.stream->ResumeFade(1, 2));
    CHECK_EQ(rig.stream->FadedTrack().value_or(0), uint32_t{2});
    CHECK_EQ(rig.Heard(2), n == 0 ? "W" : "");
  }
  CHECK_EQ(rig.Resume(2, 2), size_t{2});
  CHECK_EQ(rig.Heard(9), "-vwxyz");
  CHECK(!rig.stream->ResumeFade(2, 2));
}

void AFrameOfAnotherLengthIsCutOff() {
  Rig rig(Config(VoiceCodec::kPcmu));
  rig.Say(1, "ab");
  const uint8_t odd[kTicks + 1] = {};
  rig.stream->queue().Push(1, 1, odd, sizeof(odd));
  rig.Heard(2);
  CHECK(Cut(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(3), "");
}

void ATakeEndsThePauseAndHandsOutWhatWaits() {
  Rig rig;
  rig.Say(1, "abcdef");
  rig.Heard(2);
  CHECK(Faded(rig.stream->Fade(1)));
  rig.Heard(1);
  const TakenQueue taken = rig.stream->Take(2);
  CHECK_EQ(taken.cleared.tracks[0].sent_frames, uint64_t{3});
  CHECK_EQ(taken.sent.size(), size_t{2});
  CHECK_EQ(taken.entries.size(), size_t{3});
  CHECK(taken.entries[0].payload == FrameOf('d'));
  rig.Say(2, "x");
  CHECK_EQ(rig.Heard(2), "x");
}

// The stream that goes on sends the rest of the repeated frames, and counts them.
void ATakeHandsOutRepeatedFrames() {
  Rig rig;
  FadeAndRepeat(rig, 4);
  CHECK_EQ(rig.Heard(1), "a");
  const TakenQueue taken = rig.stream->Take(8);
  CHECK_EQ(taken.cleared.tracks[0].sent_frames, uint64_t{1});
  CHECK_EQ(taken.cleared.tracks[0].dropped_frames, uint64_t{5});
  std::string text;
  for (const TakenEntry& entry : taken.entries) {
    text += entry.kind == EntryKind::kFrame ? LetterOf(entry.payload.data(), entry.payload.size()) : '_';
  }
  CHECK_EQ(text, "bcd_ef");
}

void AStreamMayBeginInThePauseOfAnother() {
  Rig rig;
  rig.stream->BeginFaded(1);
  rig.Say(1, "abc");
  CHECK(rig.stream->faded());
  CHECK_EQ(rig.Heard(3), "");
  CHECK(!rig.stream->ResumeFade(2, 5));
  CHECK_EQ(rig.Heard(3), "");
  CHECK_EQ(rig.Resume(1, 5), size_t{0});
  CHECK_EQ(rig.Heard(4), "-abc");
}

uint32_t TimestampOf(const CapturedPacket& packet) {
  uint32_t timestamp = 0;
  for (size_t n = 4; n < 8; n++) timestamp = timestamp << 8 | packet.data[n];
  return timestamp;
}

void AFadedVoiceMayBeRewound() {
  Rig rig;
  rig.Say(1, "abcdefgh");
  const uint32_t received = TimestampOf(rig.Packets(4)[1]);  // "ab"
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(1), "E");
  rig.Connect(false);
  CHECK_EQ(rig.stream->Rewind(received), size_t{3});
  rig.Connect(true);
  CHECK_EQ(rig.stream->Sent(1), uint64_t{2});
  CHECK_EQ(rig.Heard(3), "");  // still paused
  rig.Resume(1, 0);
  CHECK_EQ(rig.Heard(12).substr(0, 1), "-");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{8});
}

void ARewindBeforeTheFadedFrameBeginsThePause() {
  Rig rig;
  rig.Say(1, "abcdefgh");
  const uint32_t received = TimestampOf(rig.Packets(4)[1]);
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.stream->Rewind(received), size_t{2});
  CHECK_EQ(rig.Heard(3), "");
  rig.Resume(1, 0);
  CHECK_EQ(rig.Heard(12), "-cdefgh");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{8});
}

void RepeatedFramesThatWereLostAreSentAgain() {
  Rig rig;
  FadeAndRepeat(rig, 3);
  const uint32_t received = TimestampOf(rig.Packets(3)[0]);  // "b" of "bcd"
  CHECK_EQ(rig.stream->Rewind(received), size_t{2});
  CHECK_EQ(rig.stream->Sent(1), uint64_t{2});
  CHECK_EQ(rig.Heard(9), "cdef");
  CHECK_EQ(rig.stream->Sent(1), uint64_t{6});
}

void ListenersHearTheFadeAndTheRepetition() {
  Rig rig;
  const auto listener = rig.plane->MakeListener(Config(std::nullopt, 2), nullptr);
  listener->set_handle(2);
  CHECK(listener->SetTarget(rig.plane->CaptureTarget()));
  rig.Say(1, "abcdef");
  CHECK(rig.plane->FollowSource(listener.get(), rig.stream) == MediaPlane::Follow::kFollows);
  CHECK_EQ(rig.Heard(3, 2), "-abc");
  CHECK(Faded(rig.stream->Fade(1)));
  CHECK_EQ(rig.Heard(3, 2), "D");
  rig.Resume(1, 2);
  CHECK_EQ(rig.Heard(9, 2), "-cdef");
}

// Packets behind the fade repeat the faded payload.
void RedundancyRepeatsTheFadedFrame() {
  StreamConfig config = Config(VoiceCodec::kPcmu);
  config.silence.assign(kTicks, 0xff);
  config.red = {63, 2};
  Rig rig(config);
  rig.stream->SetRedundancy(2);
  rig.Say(1, "abcdef");
  rig.Packets(3);
  CHECK(Faded(rig.stream->Fade(1)));
  std::string text;
  for (const CapturedPacket& packet : rig.Packets(4)) {
    const uint8_t* const payload = packet.data.data() + 12;
    const bool red = (packet.data[1] & 0x7f) == 63;
    const size_t blocks = red ? (packet.data.size() - 12) / kTicks : 1;
    const uint8_t* block = payload + (red ? 4 * (blocks - 1) + 1 : 0);
    for (size_t n = 0; n < blocks; n++, block += kTicks) {
      text += block[0] == 0xff ? '_' : LetterOf(block, kTicks);
    }
    text += ' ';
  }
  CHECK_EQ(text, "bcD cD_ D_ _ ");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(fade) {
  using namespace parley::test;
  return Run({
      {"one frame leaves after a fade", OneFrameLeavesAfterAFade},
      {"other tracks and pauses are left alone", OtherTracksAndPausesAreLeftAlone},
      {"a resume goes back within the track", AResumeGoesBackWithinTheTrack},
      {"a repeated frame fades too", ARepeatedFrameFadesToo},
      {"a fade that is resumed before it left changes nothing", AFadeThatIsResumedBeforeItLeftChangesNothing},
      {"marks behind the faded frame wait", MarksBehindTheFadedFrameWait},
      {"marks before the faded frame are reached", MarksBeforeTheFadedFrameAreReached},
      {"a clear ends the pause", AClearEndsThePause},
      {"a clear before the faded frame drops it", AClearBeforeTheFadedFrameDropsIt},
      {"a clear counts repeated frames as sent", AClearCountsRepeatedFramesAsSent},
      {"a hold is another pause", AHoldIsAnotherPause},
      {"a voice that stops otherwise needs no faded frame", AVoiceThatStopsOtherwiseNeedsNoFadedFrame},
      {"a stream without a codec is cut off", AStreamWithoutACodecIsCutOff},
      {"a resume begins with the word, after a fade and after a cut",
       AResumeBeginsWithTheWordAfterAFadeAndAfterACut},
      {"a resume of another track is refused", AResumeOfAnotherTrackIsRefused},
      {"a frame of another length is cut off", AFrameOfAnotherLengthIsCutOff},
      {"a take ends the pause and hands out what waits", ATakeEndsThePauseAndHandsOutWhatWaits},
      {"a take hands out repeated frames", ATakeHandsOutRepeatedFrames},
      {"a stream may begin in the pause of another", AStreamMayBeginInThePauseOfAnother},
      {"a faded voice may be rewound", AFadedVoiceMayBeRewound},
      {"a rewind before the faded frame begins the pause", ARewindBeforeTheFadedFrameBeginsThePause},
      {"repeated frames that were lost are sent again", RepeatedFramesThatWereLostAreSentAgain},
      {"listeners hear the fade and the repetition", ListenersHearTheFadeAndTheRepetition},
      {"redundancy repeats the faded frame", RedundancyRepeatsTheFadedFrame},
  });
}
