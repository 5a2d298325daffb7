// Checks the playout queue on one thread (order, bounds, exact answers to a clear) and under several.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "media/playout_queue.h"
#include "media/random.h"
#include "test/check.h"

namespace parley::test {
namespace {

constexpr uint32_t kLow = 4, kHigh = 10;

PushResult PushText(PlayoutQueue& queue, const std::string& text, uint32_t track = 1,
                    uint32_t generation = 0) {
  return queue.Push(generation ? generation : queue.generation(), track,
                    reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// The next frame's payload, or empty.
std::string Take(PlayoutQueue& queue) {
  uint8_t payload[PlayoutQueue::kMaxPayload];
  const PlayoutQueue::Frame frame = queue.TakeFrame(payload, 0);
  return {reinterpret_cast<const char*>(payload), frame.bytes};
}

bool Taken(PushResult result) { return result == PushResult::kTaken; }
bool Full(PushResult result) { return result == PushResult::kFull; }
bool Stale(PushResult result) { return result == PushResult::kStale; }

void FramesAndMarksLeaveInOrder() {
  PlayoutQueue queue(kLow, kHigh);
  CHECK(Taken(PushText(queue, "one")));
  CHECK(Taken(queue.Mark(1, 1, 77, false)));
  CHECK(Taken(PushText(queue, "two")));
  CHECK(Taken(queue.Mark(1, 1, 78, true)));
  PlayoutQueue::ReachedMark mark{};
  CHECK(!queue.TakeMark(&mark));  // a frame comes first
  CHECK_EQ(Take(queue), "one");
  CHECK_EQ(Take(queue), "");  // a mark comes first
  CHECK(queue.TakeMark(&mark));
  CHECK_EQ(mark.mark, 77U);
  CHECK(!mark.end_of_track);
  CHECK_EQ(Take(queue), "two");
  CHECK(queue.TakeMark(&mark));
  CHECK(mark.end_of_track);
  CHECK(!queue.TakeMark(&mark));
  CHECK_EQ(Take(queue), "");
}

void TheQueueIsFullAtItsHighMark() {
  PlayoutQueue queue(kLow, kHigh);
  for (uint32_t i = 0; i < kHigh; i++) CHECK(Taken(PushText(queue, "x")));
  CHECK(Full(PushText(queue, "x")));
  CHECK_EQ(queue.QueuedFrames(), kHigh);
  Take(queue);
  CHECK(Taken(PushText(queue, "x")));
  CHECK(Full(PushText(queue, "x")));
}

void WhereThereIsRoomItSufficesForTheLargestFrame() {
  PlayoutQueue queue(kLow, kHigh);
  const std::string large(PlayoutQueue::kMaxPayload, 'L');
  size_t most = 0;
  for (int round = 0; round < 1000; round++) {
    while (queue.HasRoom()) CHECK(Taken(PushText(queue, large)));
    most = std::max<size_t>(most, queue.QueuedFrames());
    if (round % 7 == 0) PushText(queue, std::string(static_cast<size_t>(1 + round), 's'));
    CHECK(!Take(queue).empty());
  }
  CHECK(most > 2);
}

// A queue that usual frames fill holds them all.
void UsualFramesFillTheQueueToItsHighMark() {
  for (const uint32_t high : {10U, 75U, 150U}) {
    PlayoutQueue queue(kLow, high);
    const std::string usual(160, 'u');
    for (int round = 0; round < 500; round++) {
      while (queue.QueuedFrames() < high) CHECK(Taken(PushText(queue, usual)));
      CHECK(Full(PushText(queue, usual)));
      for (int n = 0; n < 7; n++) CHECK_EQ(Take(queue).size(), usual.size());
    }
  }
}

// Payloads of every length wrap around the ring's end many times.
void PayloadsSurviveTheEndOfTheRing() {
  PlayoutQueue queue(kLow, kHigh);
  Random random(2);
  uint32_t pushed = 0, taken = 0;
  const auto text = [](uint32_t n) {
    return std::string(1 + n * 37 % 1500, static_cast<char>('a' + n % 26));
  };
  for (int i = 0; i < 20'000; i++) {
    if (random.Next() % 2 == 0) {
      if (Taken(PushText(queue, text(pushed)))) pushed++;
    } else if (taken < pushed) {
      CHECK(Take(queue) == text(taken));
      taken++;
    }
  }
  CHECK(pushed > 5'000);
}

void AClearTellsWhatWasSentAndWhatWasDropped() {
  PlayoutQueue queue(kLow, kHigh);
  PlayoutQueue::ReachedMark mark{};
  PushText(queue, "a", 1);
  queue.Mark(1, 1, 10, true);
  PushText(queue, "b", 2);
  queue.Mark(1, 2, 20, false);
  PushText(queue, "c", 2);
  queue.Mark(1, 2, 21, true);
  PushText(queue, "d", 3);
  queue.Mark(1, 3, 30, true);
  Take(queue);
  queue.TakeMark(&mark);
  Take(queue);
  const ClearedQueue cleared = queue.Clear();

  CHECK_EQ(cleared.generation, 2U);
  CHECK_EQ(cleared.tracks.size(), size_t{2});  // track 1 had reached its end
  CHECK_EQ(cleared.tracks[0].track, 2U);
  CHECK_EQ(cleared.tracks[0].sent_frames, uint64_t{1});
  CHECK_EQ(cleared.tracks[0].dropped_frames, uint64_t{1});
  CHECK(cleared.tracks[0].dropped_marks == std::vector<uint32_t>({20, 21}));
  CHECK_EQ(cleared.tracks[1].sent_frames, uint64_t{0});
  CHECK_EQ(cleared.tracks[1].dropped_frames, uint64_t{1});
  CHECK(!queue.TakeMark(&mark));
  CHECK_EQ(Take(queue), "");
  CHECK_EQ(queue.Sent(1), uint64_t{1});
  CHECK_EQ(queue.Sent(2), uint64_t{1});
  CHECK_EQ(queue.Sent(3), uint64_t{0});
  CHECK_EQ(queue.QueuedFrames(), 0U);
}

std::string TextOf(const TakenEntry& entry) { return {entry.payload.begin(), entry.payload.end()}; }

void ATakeHandsOutWhatWaitsAfterTheLastThatLeft() {
  PlayoutQueue queue(kLow, kHigh);
  CHECK(Taken(PushText(queue, "dropped", 1)));
  queue.Clear();
  for (const char* text : {"one", "two", "three", "four"}) CHECK(Taken(PushText(queue, text, 2)));
  CHECK(Taken(queue.Mark(queue.generation(), 2, 77, false)));
  CHECK(Taken(queue.Rest(queue.generation(), 2)));
  CHECK(Taken(queue.Mark(queue.generation(), 2, 78, true)));
  CHECK(Taken(PushText(queue, "next", 3)));
  Take(queue);
  Take(queue);
  const uint32_t before = queue.generation();
  const TakenQueue taken = queue.Take(8);
  CHECK_EQ(taken.cleared.generation, before + 1);
  CHECK_EQ(taken.cleared.tracks.size(), size_t{2});
  CHECK_EQ(taken.cleared.tracks[0].sent_frames, uint64_t{2});
  CHECK_EQ(taken.cleared.tracks[0].dropped_frames, uint64_t{2});
  CHECK_EQ(taken.sent.size(), size_t{2});  // not what a clear dropped
  CHECK_EQ(TextOf(taken.sent[0]), "one");
  CHECK_EQ(TextOf(taken.sent[1]), "two");
  CHECK_EQ(taken.entries.size(), size_t{6});
  CHECK_EQ(TextOf(taken.entries[0]), "three");
  CHECK_EQ(TextOf(taken.entries[1]), "four");
  CHECK(taken.entries[2].kind == EntryKind::kMark);
  CHECK_EQ(taken.entries[2].mark, 77U);
  CHECK(taken.entries[3].kind == EntryKind::kRest);
  CHECK(taken.entries[4].kind == EntryKind::kTrackEnd);
  CHECK_EQ(TextOf(taken.entries[5]), "next");
  CHECK_EQ(taken.entries[5].track, 3U);
  CHECK_EQ(Take(queue), "");
  CHECK_EQ(queue.QueuedFrames(), 0U);
  CHECK(Stale(PushText(queue, "late", 3, before)));
}

void ATakeHandsOutNoPayloadWhoseBytesWereUsedAgain() {
  PlayoutQueue queue(kLow, kHigh);
  for (int round = 0; round < 200; round++) {
    const std::string text(700 + round, static_cast<char>('a' + round % 26));
    CHECK(Taken(PushText(queue, text)));
    if (queue.QueuedFrames() > 3) Take(queue);
  }
  const TakenQueue taken = queue.Take(100);
  CHECK(taken.sent.size() > 2);
  CHECK(taken.sent.size() < 100);
  size_t round = 200 - 3 - taken.sent.size();
  for (const auto* list : {&taken.sent, &taken.entries}) {
    for (const TakenEntry& entry : *list) {
      CHECK_EQ(TextOf(entry), std::string(700 + round, static_cast<char>('a' + round % 26)));
      round++;
    }
  }
  CHECK_EQ(round, size_t{200});
}

void AClosedQueueCanStillBeTaken() {
  PlayoutQueue queue(kLow, kHigh);
  CHECK(Taken(PushText(queue, "one")));
  CHECK(Taken(PushText(queue, "two")));
  Take(queue);
  queue.Close();
  const TakenQueue taken = queue.Take(8);
  CHECK_EQ(taken.cleared.tracks[0].sent_frames, uint64_t{1});
  CHECK_EQ(TextOf(taken.entries[0]), "two");
}

void WhatCarriesAnOldGenerationIsRefused() {
  PlayoutQueue queue(kLow, kHigh);
  queue.Clear();
  CHECK(Stale(PushText(queue, "late", 1, 1)));
  CHECK(Stale(queue.Mark(1, 1, 5, true)));
  CHECK(Taken(PushText(queue, "fresh", 1, 2)));
  CHECK_EQ(Take(queue), "fresh");
  queue.Close();
  CHECK(Stale(PushText(queue, "after", 1, 2)));
}

// Nothing releases what a clear drops, so its places must come back by themselves.
void ClearsWithoutAClockNeverRunOutOfPlaces() {
  PlayoutQueue queue(kLow, kHigh);
  const std::string large(PlayoutQueue::kMaxPayload, 'L');
  for (int round = 0; round < 500; round++) {
    for (uint32_t i = 0; i < kLow; i++) CHECK(Taken(PushText(queue, large)));
    CHECK(Taken(queue.Mark(queue.generation(), 1, 1, false)));
    if (round % 3 == 0) Take(queue);
    queue.Clear();
  }
}

void MarksAreBoundedUntilTheyAreDelivered() {
  PlayoutQueue queue(kLow, kHigh);
  for (uint32_t i = 0; i < PlayoutQueue::kMaxMarks; i++) CHECK(Taken(queue.Mark(1, 1, i, false)));
  CHECK(Full(queue.Mark(1, 1, 99, false)));
  CHECK(!queue.HasRoom());
  PlayoutQueue::ReachedMark mark{};
  while (queue.TakeMark(&mark)) {
  }
  CHECK(Full(queue.Mark(1, 1, 99, false)));  // reached, but nobody has heard of them yet
  queue.MarksDelivered(PlayoutQueue::kMaxMarks);
  CHECK(queue.HasRoom());
  CHECK(Taken(queue.Mark(1, 1, 99, false)));
}

void RoomIsTold(const char*, void (*make_room)(PlayoutQueue&)) {
  PlayoutQueue queue(kLow, kHigh);
  CHECK(queue.AwaitRoom());
  CHECK(!queue.ShouldNotify());  // nobody waits
  for (uint32_t i = 0; i < kHigh; i++) PushText(queue, "x");
  CHECK(!queue.AwaitRoom());
  CHECK(!queue.ShouldNotify());
  make_room(queue);
  CHECK(queue.ShouldNotify());
  CHECK(!queue.ShouldNotify());  // once
}

void RoomIsToldOnceBelowTheLowMark() {
  RoomIsTold("drained", [](PlayoutQueue& queue) {
    for (uint32_t i = kHigh; i > kLow; i--) Take(queue);
    CHECK(!queue.ShouldNotify());
    Take(queue);
  });
  RoomIsTold("cleared", [](PlayoutQueue& queue) { queue.Clear(); });
  RoomIsTold("closed", [](PlayoutQueue& queue) { queue.Close(); });
}

void ManyTracksAreCountedApart() {
  PlayoutQueue queue(kLow, kHigh);
  PlayoutQueue::ReachedMark mark{};
  for (uint32_t track = 1; track <= 500; track++) {
    CHECK(Taken(PushText(queue, "x", track)));
    CHECK(Taken(queue.Mark(1, track, 0, true)));
    Take(queue);
    CHECK(queue.TakeMark(&mark));
    queue.MarksDelivered(1);
    CHECK_EQ(queue.Sent(track), uint64_t{1});
  }
  CHECK(queue.Clear().tracks.empty());
}

// --- two producers, a clearing thread and a clock use one queue: afterwards every accepted frame and mark
// is accounted for exactly once, as sent or as dropped, and none is torn

struct Payload {
  uint32_t generation, track, number;
  uint8_t fill[180];
};

constexpr int kProducers = 2;

struct Journal {
  std::map<uint32_t, uint64_t> pushed;  // frames by track
  std::set<uint32_t> marks;             // all marks taken, each of its own number
};

struct Round {
  PlayoutQueue queue{20, 75};
  std::atomic<bool> pushing{true}, clocking{true};
  Journal journals[kProducers];
  // The clock's.
  std::map<uint32_t, std::vector<uint32_t>> sent;  // frame numbers by track
  std::set<uint32_t> reached;
  uint64_t torn = 0;
  // The clearing thread's.
  std::vector<TrackCount> cleared;
};

// Each producer has tracks of its own: one per generation that it meets.
void Produce(Round& round, uint32_t producer) {
  Journal& journal = round.journals[producer];
  uint32_t number = 0, track = 0, mark = 0;
  uint32_t generation = 0;
  Payload payload{};
  while (round.pushing.load()) {
    const uint32_t now = round.queue.generation();
    if (now != generation) {
      generation = now;
      track = now * kProducers + producer;
      number = 0;
    }
    payload.generation = generation;
    payload.track = track;
    payload.number = number;
    std::memset(payload.fill, static_cast<int>(number * 7 + track), sizeof(payload.fill));
    const auto result = round.queue.Push(generation, track, reinterpret_cast<const uint8_t*>(&payload),
                                         sizeof(payload) - number % 90);
    if (result == PushResult::kFull) std::this_thread::yield();
    if (result != PushResult::kTaken) continue;
    number++;
    journal.pushed[track]++;
    const uint32_t id = (mark * kProducers + producer) + 1;
    if (number % 5 == 0 && round.queue.Mark(generation, track, id, false) == PushResult::kTaken) {
      journal.marks.insert(id);
      mark++;
    }
  }
}

void RunClock(Round& round) {
  uint8_t buffer[PlayoutQueue::kMaxPayload];
  PlayoutQueue::ReachedMark mark{};
  while (round.clocking.load()) {
    while (round.queue.TakeMark(&mark)) {
      if (!round.reached.insert(mark.mark).second) round.torn++;
      round.queue.MarksDelivered(1);
    }
    const PlayoutQueue::Frame frame = round.queue.TakeFrame(buffer, 0);
    if (frame.bytes == 0) continue;
    Payload payload;
    std::memcpy(&payload, buffer, sizeof(payload));
    const auto fill = static_cast<uint8_t>(payload.number * 7 + payload.track);
    if (frame.track != payload.track || frame.bytes != sizeof(payload) - payload.number % 90) round.torn++;
    for (size_t i = 0; i < frame.bytes - 12; i++) round.torn += payload.fill[i] != fill;
    round.sent[payload.track].push_back(payload.number);
  }
}

void ClearOften(Round& round, int clears, uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < clears; i++) {
    std::this_thread::sleep_for(std::chrono::microseconds(random.Next() % 300));
    for (TrackCount& track : round.queue.Clear().tracks) round.cleared.push_back(std::move(track));
  }
}

void Verify(Round& round) {
  CHECK_EQ(round.torn, uint64_t{0});
  std::map<uint32_t, uint64_t> pushed;
  std::set<uint32_t> marks;
  for (const Journal& journal : round.journals) {
    pushed.insert(journal.pushed.begin(), journal.pushed.end());
    marks.insert(journal.marks.begin(), journal.marks.end());
  }
  std::set<uint32_t> seen = round.reached;
  std::set<uint32_t> tracks;
  for (const TrackCount& track : round.cleared) {
    CHECK(tracks.insert(track.track).second);  // reported by one clear only
    CHECK_EQ(track.sent_frames + track.dropped_frames, pushed[track.track]);
    CHECK_EQ(track.sent_frames, uint64_t{round.sent[track.track].size()});
    for (const uint32_t mark : track.dropped_marks) CHECK(seen.insert(mark).second);
  }
  CHECK(seen == marks);
  // Frames leave in order, without a gap and without a repetition.
  for (const auto& [track, numbers] : round.sent) {
    for (size_t i = 0; i < numbers.size(); i++) CHECK_EQ(numbers[i], static_cast<uint32_t>(i));
  }
  for (const auto& [track, count] : pushed) CHECK_EQ(tracks.count(track), size_t{1});
}

void NothingIsLostOrSentAndDropped() {
  uint64_t sent = 0, dropped = 0;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    Round round;
    std::thread clock([&] { RunClock(round); });
    std::vector<std::thread> producers;
    for (uint32_t i = 0; i < kProducers; i++) producers.emplace_back([&round, i] { Produce(round, i); });
    ClearOften(round, 500, seed);
    round.pushing.store(false);
    for (std::thread& producer : producers) producer.join();
    ClearOften(round, 1, seed);
    round.clocking.store(false);
    clock.join();
    Verify(round);
    for (const TrackCount& track : round.cleared) {
      sent += track.sent_frames;
      dropped += track.dropped_frames;
    }
  }
  std::printf("       %llu frames sent, %llu dropped\n", static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(dropped));
  CHECK(sent > 1000 && dropped > 100);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(playout_queue) {
  using namespace parley::test;
  return Run({
      {"frames and marks leave in order", FramesAndMarksLeaveInOrder},
      {"the queue is full at its high mark", TheQueueIsFullAtItsHighMark},
      {"where there is room it suffices for the largest frame", WhereThereIsRoomItSufficesForTheLargestFrame},
      {"usual frames fill the queue to its high mark", UsualFramesFillTheQueueToItsHighMark},
      {"payloads survive the end of the ring", PayloadsSurviveTheEndOfTheRing},
      {"a clear tells what was sent and what was dropped", AClearTellsWhatWasSentAndWhatWasDropped},
      {"a take hands out what waits after the last that left", ATakeHandsOutWhatWaitsAfterTheLastThatLeft},
      {"a take hands out no payload whose bytes were used again",
       ATakeHandsOutNoPayloadWhoseBytesWereUsedAgain},
      {"a closed queue can still be taken", AClosedQueueCanStillBeTaken},
      {"what carries an old generation is refused", WhatCarriesAnOldGenerationIsRefused},
      {"clears without a clock never run out of places", ClearsWithoutAClockNeverRunOutOfPlaces},
      {"marks are bounded until they are delivered", MarksAreBoundedUntilTheyAreDelivered},
      {"room is told once below the low mark", RoomIsToldOnceBelowTheLowMark},
      {"many tracks are counted apart", ManyTracksAreCountedApart},
      {"nothing is lost, and nothing is both sent and dropped", NothingIsLostOrSentAndDropped},
  });
}
