#include "media/thread_priority.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace parley {
namespace {

// Above ordinary threads; below what the kernel and audio servers use.
constexpr int kFifoPriority = 10;
constexpr int kRaisedNice = -11;

}  // namespace

const char* NameOf(Priority priority) {
  switch (priority) {
    case Priority::kFifo: return "fifo";
    case Priority::kNice: return "nice";
    case Priority::kNormal: return "normal";
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
