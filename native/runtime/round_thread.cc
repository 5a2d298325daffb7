#include "runtime/round_thread.h"

#ifdef __linux__
#include <malloc.h>
#endif

#include <chrono>
#include <exception>
#include <future>
#include <new>
#include <stdexcept>

#include "kernels/kernels.h"

namespace parley::runtime {
namespace {

constexpr char kOutOfMemory[] = "memory is out";
constexpr int kTriesToEnd = 100;
constexpr std::chrono::milliseconds kBetweenTries{10};

// Returns memory freed piece by piece to the system; otherwise the allocator keeps it for this process.
void GiveBackToSystem() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::unique_ptr<Rounds> Made(const RoundThread::Maker& make, std::string* problem) {
  try {
    return make(problem);
  } catch (const std::bad_alloc&) {
    *problem = kOutOfMemory;
  } catch (const std::exception& error) {
    *problem = error.what();
  }
  return nullptr;
}

}  // namespace

bool RoundThread::Open(const Maker& make, std::string* problem) {
  std::promise<std::string> opened;
  std::future<std::string> result = opened.get_future();
  thread_ = std::thread([&make, &opened] {
    std::string why;
    auto rounds = Made(make, &why);
    if (rounds == nullptr) {
      GiveBackToSystem();
      return opened.set_value(why.empty() ? "the engine could not be made" : why);
    }
    opened.set_value("");  // both are gone after this
    Serve(*rounds);
    rounds.reset();
    GiveBackToSystem();
  });
  *problem = result.get();
  return problem->empty();
}

void RoundThread::Join() {
  const std::lock_guard<std::mutex> lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

void RoundThread::Serve(Rounds& rounds) {
  while (!rounds.closing()) {
    if (!Round(rounds) && !rounds.closing()) rounds.Wait();
  }
  EndAll(rounds, Outcome::kClosed, "the engine closed");
}

// A round that fails as a whole ends all present streams; later streams are served.
bool RoundThread::Round(Rounds& rounds) {
  Outcome outcome = Outcome::kFailed;
  std::string problem;
  bool busy = true;
  try {
    return rounds.Round();
  } catch (const std::bad_alloc&) {
    outcome = Outcome::kOutOfMemory;
    problem = kOutOfMemory;
  } catch (const BackendLost& lost) {
    outcome = Outcome::kLost;
    problem = lost.what();
    busy = false;  // until a request arrives, which gets the same answer
  } catch (const std::exception& error) {
    problem = std::string("a mistake in the engine: ") + error.what();
  }
  EndAll(rounds, outcome, problem);
  return busy;
}

// Out of memory even this may fail; each try ends some more streams, which frees their memory.
void RoundThread::EndAll(Rounds& rounds, Outcome outcome, const std::string& problem) {
  for (int tries = 1; tries < kTriesToEnd; tries++) {
    try {
      return rounds.EndAll(outcome, problem);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
  rounds.EndAll(outcome, problem);
}

const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kBudget:
      return "budget";
    case Outcome::kRunaway:
      return "runaway";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kTooLarge:
      return "too large";
    case Outcome::kBadRequest:
      return "bad request";
    case Outcome::kOutOfMemory:
      return "out of memory";
    case Outcome::kClosed:
      return "closed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kLost:
      return "lost";
  }
  return "failed";
}

}  // namespace parley::runtime
