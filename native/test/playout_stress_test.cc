// The playout queue under threads: two producers, a clearing thread and a clock
// hammer one queue. Afterwards every frame and every mark that was taken must be
// accounted for exactly once, as sent or as dropped, and nothing may be torn.
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "media/playout_queue.h"
#include "media/random.h"
#include "test/check.h"

namespace parley::test {
namespace {

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
    const PlayoutQueue::Frame frame = round.queue.TakeFrame(buffer);
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

TEST_GROUP(playout_stress) {
  using namespace parley::test;
  return Run({{"nothing is lost, and nothing is both sent and dropped", NothingIsLostOrSentAndDropped}});
}
