#include "media/clock.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace parley {
namespace {

void PushListed(std::atomic<Stream*>* list, Stream* stream) {
  Stream* first = list->load(std::memory_order_relaxed);
  do {
    stream->next_listed = first;
  } while (!list->compare_exchange_weak(first, stream, std::memory_order_release, std::memory_order_relaxed));
}

}  // namespace

// Callers.

void Clock::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Clock::Stop() {
  stopping_.store(true);
  wake_.Set();
  if (thread_.joinable()) thread_.join();
}

void Clock::Add(Stream* stream) {
  PushListed(&inbox_, stream);
  wake_.Set();
}

void Clock::Quiesce() {
  const uint64_t turn = turns_.load();
  if (turn % 2 == 0) return;
  while (turns_.load() == turn) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

// The clock.

void Clock::Run() {
  pthread_setname_np(pthread_self(), "parley-clock");
  priority_.store(RaiseThreadPriority());
  while (!stopping_.load()) {
    const int64_t now_ns = time_.Now();
    RunDue(now_ns);
    TakeInbox(now_ns);
    PassNews();
    const int64_t next_ns = wheel_.NextDue();
    SleepUntil(next_ns == DeadlineWheel::kNever ? next_ns : std::min(next_ns, time_.Now() + kMaxSleepNs));
  }
}

// Either this thread sees a packet that was noted before it said when it wakes, or the other one sees that.
void Clock::SleepUntil(int64_t next_ns) {
  wakes_at_ns_.store(next_ns);
  if (relays_.any()) {
    next_ns = std::min(next_ns, time_.Now() + kRelayDelayNs);
    wakes_at_ns_.store(next_ns);
  }
  if (next_ns == DeadlineWheel::kNever) wake_.Wait();
  else wake_.WaitUntil(next_ns);
  wakes_at_ns_.store(0);
}

void Clock::NoteRelayed(size_t slot, int64_t now_ns) {
  relays_.Mark(slot);
  if (wakes_at_ns_.load() > now_ns + kRelayDelayNs) wake_.Set();
}

// Before the ticks: what came goes first.
void Clock::SendRelayed(int64_t now_ns) {
  relays_.TakeAll([&](Stream& stream, size_t slot) {
    if (stream.SendRelayed(now_ns)) relays_.Mark(slot);
    EndTurnAfter(1);
  });
}

// A turn is short: a thread may wait for its end.
void Clock::EndTurnAfter(size_t streams) {
  turn_streams_ += streams;
  if (turn_streams_ < kTurnStreams) return;
  turn_streams_ = 0;
  wire_.Flush();
  turns_.fetch_add(2);  // one turn ends, the next begins
}

// Streams wait for the end of the pass before they go back into the wheel,
// except to catch up: a due time far ahead of the oldest one would not fit in.
void Clock::RunDue(int64_t now_ns) {
  WheelNode* done = nullptr;
  WheelNode** done_end = &done;
  turn_streams_ = 0;
  turns_.fetch_add(1);
  SendRelayed(now_ns);
  while (WheelNode* node = wheel_.PopDue(now_ns)) {
    auto* stream = static_cast<Stream*>(node);
    const Audience* const audience = stream->audience();
    const size_t streams = 1 + (audience ? audience->size() : 0);
    if (!stream->Tick(now_ns)) {
      Retire(stream);
    } else if (stream->due_ns <= now_ns) {
      wheel_.Insert(stream);
    } else {
      *done_end = stream;
      done_end = &stream->next;
    }
    EndTurnAfter(streams);
  }
  wire_.Flush();
  turns_.fetch_add(1);

  *done_end = nullptr;
  while (done) {
    WheelNode* const next = done->next;
    wheel_.Insert(done);
    done = next;
  }
}

// The first due time of a stream is the first moment of its phase from now on.
void Clock::TakeInbox(int64_t now_ns) {
  Stream* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
  Stream* oldest = nullptr;
  while (newest) {
    Stream* const next = newest->next_listed;
    newest->next_listed = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest) {
    Stream* const next = oldest->next_listed;
    const int64_t period = oldest->config().period_ns;
    const int64_t phase = plan_.Take(period);
    const int64_t first = time_.start_ns() + phase;
    const int64_t periods = now_ns > first ? (now_ns - first + period - 1) / period : 0;
    oldest->Begin(first + periods * period, phase);
    wheel_.Insert(oldest);
    oldest = next;
  }
}

void Clock::Retire(Stream* stream) {
  plan_.Release(stream->config().period_ns, stream->phase_ns());
  PushListed(&retired_, stream);
  has_news_ = true;
}

void Clock::PassNews() {
  if (!has_news_) return;
  has_news_ = false;
  news_.Set();
}

bool Clock::PostEvent(const ClockEvent& event) {
  ClockEvent* place = events_.Place();
  if (!place) return false;
  *place = event;
  events_.Publish();
  has_news_ = true;
  return true;
}

void Clock::Trace(uint64_t stream, int64_t due_ns, int64_t sent_ns) {
  SpscRing<TraceEntry>* const trace = trace_.load(std::memory_order_acquire);
  TraceEntry* place = trace ? trace->Place() : nullptr;
  if (!place) return;
  *place = {stream, due_ns, sent_ns};
  trace->Publish();
}

namespace {

// Near the golden section of the phases and without a common factor with their
// number, so that neighbours in time of birth are far apart in phase.
int64_t StrideOf(int64_t phases) {
  int64_t stride = std::max<int64_t>(1, phases * 618 / 1000);
  while (std::gcd(stride, phases) != 1) stride++;
  return stride;
}

}  // namespace

int64_t PhasePlan::Take(int64_t period_ns) {
  const int64_t phases = std::max<int64_t>(1, period_ns / kStepNs);
  const int64_t stride = StrideOf(phases);
  const int64_t first = static_cast<int64_t>(taken_++ % static_cast<uint64_t>(phases)) * stride % phases;
  if (!Counted(period_ns)) return first * kStepNs;

  int64_t best = first;
  uint64_t best_cost = UINT64_MAX;
  for (int64_t n = 0; n < phases; n++) {
    const int64_t phase = (first + n * stride) % phases;
    uint64_t busiest = 0, sum = 0;
    for (int64_t step = phase; step < kSteps; step += phases) {
      busiest = std::max<uint64_t>(busiest, load_[static_cast<size_t>(step)]);
      sum += load_[static_cast<size_t>(step)];
    }
    const uint64_t cost = busiest << 32 | sum;
    if (cost < best_cost) {
      best = phase;
      best_cost = cost;
    }
  }
  Add(period_ns, best * kStepNs, 1);
  return best * kStepNs;
}

void PhasePlan::Release(int64_t period_ns, int64_t phase_ns) {
  if (Counted(period_ns)) Add(period_ns, phase_ns, -1);
}

uint32_t PhasePlan::Busiest() const { return *std::max_element(load_.begin(), load_.end()); }

void PhasePlan::Add(int64_t period_ns, int64_t phase_ns, int32_t change) {
  for (int64_t step = phase_ns / kStepNs; step < kSteps; step += period_ns / kStepNs) {
    load_[static_cast<size_t>(step)] += static_cast<uint32_t>(change);
  }
}

namespace {

// Above ordinary threads; below what the kernel and audio servers use.
constexpr int kFifoPriority = 10;
constexpr int kRaisedNice = -11;

}  // namespace

const char* NameOf(Priority priority) {
  switch (priority) {
    case Priority::kFifo:
      return "fifo";
    case Priority::kNice:
      return "nice";
    case Priority::kNormal:
      return "normal";
  }
  return "normal";
}

Priority RaiseThreadPriority() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns; the default of 50 µs delays every wake-up
  sched_param parameters{};
  parameters.sched_priority = kFifoPriority;
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0) return Priority::kFifo;
  return SetThreadNice(kRaisedNice) ? Priority::kNice : Priority::kNormal;
}

bool SetThreadNice(int nice) {
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  return setpriority(PRIO_PROCESS, thread, nice) == 0;
}

}  // namespace parley
