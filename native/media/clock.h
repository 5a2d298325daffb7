// The clock of a plane: wakes at the next due time and lets every stream that is due send its frame.
//
// It never takes a lock that a JavaScript thread may hold, allocates nothing and frees nothing. Streams
// arrive and leave through lock-free lists; events leave through a ring with one reader. Each pass is a turn.
// A thread that took something away from a stream waits for the turn to end (Quiesce); after that, the clock
// no longer uses it (an RCU-like grace period).
#ifndef PARLEY_MEDIA_CLOCK_H_
#define PARLEY_MEDIA_CLOCK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "media/counters.h"
#include "media/event.h"
#include "media/join/pending_relays.h"
#include "media/playout_queue.h"
#include "media/spsc_ring.h"
#include "media/stream.h"
#include "media/time.h"
#include "media/wheel.h"
#include "media/wire.h"

namespace parley {

// Scheduling of the calling thread.
enum class Priority { kNormal, kNice, kFifo };

const char* NameOf(Priority priority);

// Real time if the system allows it, else a negative nice value, else as it is.
// Also asks for timers without slack.
Priority RaiseThreadPriority();

// Sets the nice value, of this thread only. False when the system refuses.
bool SetThreadNice(int nice);

// Chooses the moment of its period at which a new stream sends, so that the packets
// of all streams are spread over time instead of leaving as one burst.
//
// The load of every quarter of a millisecond is counted over 120 ms, the common
// multiple of the usual periods; a new stream gets the phase whose busiest
// quarter is the least busy. A period that does not divide 120 ms wanders
// through all phases by itself and is not counted.
class PhasePlan {
 public:
  static constexpr int64_t kStepNs = 250'000;

  // The phase for a stream of this period, counted as taken: its due times are
  // origin + phase + n * period. The first one of all is 0.
  int64_t Take(int64_t period_ns);

  // Gives back what Take returned.
  void Release(int64_t period_ns, int64_t phase_ns);

  // Streams due in the busiest quarter of a millisecond.
  uint32_t Busiest() const;

 private:
  static constexpr int64_t kCycleNs = 120'000'000;
  static constexpr int64_t kSteps = kCycleNs / kStepNs;

  static bool Counted(int64_t period_ns) { return kCycleNs % period_ns == 0 && period_ns % kStepNs == 0; }
  void Add(int64_t period_ns, int64_t phase_ns, int32_t change);

  std::array<uint32_t, kSteps> load_{};
  uint64_t taken_ = 0;  // streams so far: rotates the order in which equal phases are tried
};

// An event for JavaScript.
struct ClockEvent {
  enum Kind : uint8_t { kMark, kRoom };
  Stream* stream;
  int64_t at_ns;
  uint32_t track;
  uint32_t mark;
  Kind kind;
};

struct TraceEntry {
  uint64_t stream;  // handle
  int64_t due_ns;
  int64_t sent_ns;
};

class Clock {
 public:
  static constexpr size_t kMaxStreams = 4096;
  // The clock is woken for a relayed packet unless it wakes within this time, so that one wake serves many.
  static constexpr int64_t kRelayDelayNs = kNsPerMs;
  // A stream has at most kMaxMarks marks and one notice of room on their way,
  // so the ring below cannot be full while streams are within kMaxStreams.
  static constexpr size_t kEvents = kMaxStreams * (PlayoutQueue::kMaxMarks + 1);

  Clock() = default;                        // on the machine's time
  Clock(int64_t start_ns, int64_t unix_ns)  // on a time that the caller sets
      : time_(start_ns, unix_ns) {}

  // Callers, any thread.
  void Start();              // the thread; not for a manual time source
  void Stop();               // joins it
  void Add(Stream* stream);  // must live until TakeRetired returns it
  void Quiesce();
  TimeSource& time() { return time_; }
  // The streams that packets of other far ends are relayed to.
  PendingRelays& relays() { return relays_; }
  // A packet that came at `now_ns` waits for the stream in this slot: it leaves within kRelayDelayNs.
  void NoteRelayed(size_t slot, int64_t now_ns);
  // Set when an event, a retired stream or a captured packet waits.
  Event& news() { return news_; }
  Wire& wire() { return wire_; }
  PlaneCounters& counters() { return counters_; }
  Priority priority() const { return priority_.load(); }
  void SetTrace(SpscRing<TraceEntry>* trace) { trace_.store(trace); }

  // One thread at a time: the reader of what the clock tells.
  SpscRing<ClockEvent>& events() { return events_; }
  // Streams that the clock has forgotten, linked by next_listed.
  Stream* TakeRetired() { return retired_.exchange(nullptr); }

  // The clock's thread, or the caller of a manual plane.
  void RunDue(int64_t now_ns);
  void TakeInbox(int64_t now_ns);
  int64_t NextDue() const { return wheel_.NextDue(); }

  // Streams, within a turn.
  uint8_t* frame() { return frame_.data(); }  // PlayoutQueue::kMaxPayload bytes for the tick's frame
  bool PostEvent(const ClockEvent& event);
  void NoteCapture() { has_news_ = true; }
  void Trace(uint64_t stream, int64_t due_ns, int64_t sent_ns);

 private:
  // The longest sleep while streams run: new ones and the end are seen by then.
  static constexpr int64_t kMaxSleepNs = 10 * kNsPerMs;
  static constexpr size_t kTurnStreams = 32;  // a turn is short: a thread may wait for its end

  void Run();
  void SleepUntil(int64_t next_ns);
  void SendRelayed(int64_t now_ns);
  void EndTurnAfter(size_t streams);
  void Retire(Stream* stream);
  void PassNews();

  TimeSource time_;
  Event news_;
  PlaneCounters counters_;
  std::atomic<Priority> priority_{Priority::kNormal};

  // The clock's.
  Wire wire_{time_};
  DeadlineWheel wheel_{time_.start_ns()};
  PhasePlan plan_;
  std::array<uint8_t, PlayoutQueue::kMaxPayload> frame_{};
  bool has_news_ = false;
  size_t turn_streams_ = 0;  // of this turn, listeners included

  PendingRelays relays_;
  std::atomic<int64_t> wakes_at_ns_{0};  // 0: it does not sleep
  SpscRing<ClockEvent> events_{kEvents};
  std::atomic<SpscRing<TraceEntry>*> trace_{nullptr};
  std::atomic<Stream*> inbox_{nullptr};  // newest first
  std::atomic<Stream*> retired_{nullptr};
  std::atomic<uint64_t> turns_{0};  // odd while a turn runs
  std::atomic<bool> stopping_{false};
  Event wake_;  // ends the clock's sleep
  std::thread thread_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_CLOCK_H_
