#include "runtime/device.h"

#ifdef __linux__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <new>
#include <stdexcept>
#include <utility>

#include "kernels/cuda/plugin.h"
#include "runtime/attempt.h"
#include "runtime/machine_memory.h"

namespace parley::runtime {
namespace {

using std::chrono::milliseconds;

constexpr int kTriesToEnd = 100;
constexpr milliseconds kBetweenTries{10};

// A text or a file that waits longer is served next, even if listeners are short of sound.
constexpr milliseconds kMostWaitOfText{200}, kMostWaitOfFiles{1000};
// Every listener must keep so much sound after a piece of text, and must have so much before a piece of a
// file.
constexpr milliseconds kKept{100}, kSafe{500};
// Limit of a round that other models wait for.
constexpr milliseconds kTogether{10};

// Returns memory freed piece by piece to the system; otherwise the allocator keeps it for this process.
void GiveBackToSystem() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

// "cuda" or "cuda:3". False: it is neither.
bool ReadNumber(const std::string& device, int* number) {
  const std::string prefix = "cuda:";
  if (device == "cuda" || device == "auto") return true;
  if (device.compare(0, prefix.size(), prefix) != 0 || device.size() == prefix.size() ||
      device.size() > prefix.size() + 3)
    return false;
  for (size_t i = prefix.size(); i < device.size(); i++) {
    if (device[i] < '0' || device[i] > '9') return false;
    *number = 10 * *number + (device[i] - '0');
  }
  return true;
}

std::string NameOf(const cpu::ThreadPoolOptions& threads, const ProcessorOptions& options) {
  std::string name = "cpu " + std::to_string(threads.threads);
  for (const int core : threads.cores) name += " " + std::to_string(core);
  return name + " " + std::to_string(options.numa_node.value_or(-1));
}

std::string Mib(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

std::string DoesNotFit(const Place& place) {
  return std::string(place.kernels.Name()) + ": the model does not fit into the " + Mib(place.memory) +
         " that are free of " + Mib(place.kernels.Figures().memory_total) +
         "; other models here, or another process, have the rest";
}

namespace {

// 0: none is named.
size_t LimitOf(const DeviceOptions& options, const Place& place) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  const size_t all = place.is_gpu() ? place.kernels.Figures().memory_total : place.memory;
  return static_cast<size_t>(options.memory_share * static_cast<double>(all));
}

}  // namespace

size_t MostMemory(const DeviceOptions& options, const Place& place) {
  const size_t limit = LimitOf(options, place);
  return limit > 0 ? std::min(limit, place.memory) : place.memory;
}

Result<size_t> MemoryBeside(size_t weights, const DeviceOptions& options, const Place& place) {
  const size_t most = LimitOf(options, place);
  if (most == 0) return (place.memory - std::min(place.memory, weights)) / 4 * 3;
  if (most <= weights) {
    return Problem{"the model may take " + Mib(most) + ", and its weights alone take " + Mib(weights)};
  }
  return most - weights;
}

// --- which rounds are next

Served* ChooseNext(const std::vector<std::unique_ptr<Served>>& all, Clock::time_point now,
                   Clock::duration* spare) {
  Served *listeners = nullptr, *text = nullptr, *waiting_text = nullptr, *file = nullptr;
  const auto take_better = [](Served** best, Served* one, const auto& goes_first) {
    if (*best == nullptr || goes_first(*one, **best)) *best = one;
  };
  const auto is_due = [](const Served& a, const Served& b) { return a.need->latest < b.need->latest; };
  const auto waits = [](const Served& a, const Served& b) { return a.since < b.since; };
  for (const auto& one : all) {
    if (!one->need) continue;
    if (one->need->rank == Rank::kListeners) take_better(&listeners, one.get(), is_due);
    if (one->need->rank == Rank::kFiles) take_better(&file, one.get(), waits);
    if (one->need->rank != Rank::kLiveText) continue;
    take_better(&waiting_text, one.get(), waits);
    take_better(&text, one.get(), [&](const Served& a, const Served& b) {
      return a.need->is_final != b.need->is_final ? a.need->is_final : is_due(a, b);
    });
  }
  const bool text_is_late = waiting_text != nullptr && now - waiting_text->since >= kMostWaitOfText;
  if (text_is_late) text = waiting_text;
  *spare = all.size() > 1 ? Clock::duration(kTogether) : Clock::duration::max();
  if (listeners == nullptr) {
    const bool is_files_turn = text == nullptr || (file && now - file->since >= kMostWaitOfFiles);
    return is_files_turn ? file : text;
  }
  const Clock::duration slack = listeners->need->latest - now;
  *spare = std::clamp(slack - kKept, Clock::duration::zero(), *spare);
  if (text && (slack >= kKept + text->need->least || text_is_late)) return text;
  if (file && now - file->since >= kMostWaitOfFiles) return file;
  // If listeners have enough sound, files and listeners take turns.
  return file && !text && slack >= kSafe + file->need->least && file->since < listeners->since ? file
                                                                                               : listeners;
}

// --- opening

// `owned` is held by the thread that has the device: a later one waits until all memory is given back.
struct Device::Slot {
  std::mutex opening;
  std::weak_ptr<Device> device;  // guarded by it
  std::mutex owned;
};

Result<std::shared_ptr<Device>> Device::Open(const DeviceOptions& options) {
  std::string no_cuda;
  int number = 0;
  const auto threads = ReadThreads(options);
  if (!threads) return threads.reason();
  if (options.device != "cpu" && !ReadNumber(options.device, &number)) {
    return Problem{"device is \"" + options.device + "\"; it can be auto, cpu, cuda, cuda:<number>"};
  }
  if (options.device != "cpu") {
    const auto open = [&]() -> Result<std::unique_ptr<SpeechKernels>> {
      cuda::PluginOptions wanted;
      wanted.device = number;
      wanted.graphs = options.cuda_graphs;
      wanted.full_vectors = options.full_vectors;
      cpu::LowerPriority(threads->nice);
      std::string why;
      auto kernels = cuda::OpenPlugin(options.cuda_file, wanted, &why);
      if (kernels == nullptr) return Problem{why};
      return kernels;
    };
    auto gpu = Find("cuda:" + std::to_string(number), options, open);
    if (gpu) return gpu;
    if (options.device != "auto") return Problem{options.device + ": " + gpu.problem()};
    no_cuda = gpu.problem();
  }
  auto processors =
      Find(NameOf(*threads, options), options, [&] { return OpenProcessor(options, *threads); });
  if (processors && !no_cuda.empty()) {
    const std::lock_guard<std::mutex> lock((*processors)->mutex_);
    (*processors)->no_cuda_ = no_cuda;
  }
  return processors;
}

Result<std::shared_ptr<Device>> Device::Open(const Opener& open) {
  std::shared_ptr<Device> device(new Device(std::make_shared<Slot>(), {}));
  const Result<> begun = device->Begin(open);
  if (!begun) return begun.reason();
  return device;
}

Result<std::shared_ptr<Device>> Device::Find(const std::string& name, const DeviceOptions& options,
                                             const Opener& open) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Slot>> slots;
  std::unique_lock<std::mutex> lock(mutex);
  std::shared_ptr<Slot>& found = slots[name];
  if (found == nullptr) found = std::make_shared<Slot>();
  const std::shared_ptr<Slot> slot = found;
  lock.unlock();
  const std::lock_guard<std::mutex> opening(slot->opening);
  std::shared_ptr<Device> device = slot->device.lock();
  if (device != nullptr && !device->lost_) {
    const DeviceOptions& its = device->options_;
    if (name.compare(0, 4, "cuda") != 0 ||
        (its.cuda_graphs == options.cuda_graphs && its.full_vectors == options.full_vectors))
      return device;
    return Problem{"another model uses it with other options (CUDA graphs, full vectors)"};
  }
  device.reset(new Device(slot, options));
  const Result<> begun = device->Begin(open);
  if (!begun) return begun.reason();
  slot->device = device;
  return device;
}

Device::Device(std::shared_ptr<Slot> slot, const DeviceOptions& options)
    : slot_(std::move(slot)), options_(options) {}

Device::~Device() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  signal_->Notify();
  if (thread_.joinable()) thread_.join();
}

Result<> Device::Begin(const Opener& open) {
  std::promise<Result<>> opened;
  thread_ = std::thread([&] { Run(open, &opened); });
  return opened.get_future().get();
}

// --- the thread

void Device::Run(const Opener& open, std::promise<Result<>>* opened) {
  owned_ = std::unique_lock<std::mutex>(slot_->owned);
  const Result<> begun = OpenKernels(open);
  opened->set_value(begun);  // the caller of Begin frees `open` and `opened`
  while (begun) {
    if (Loading* const loading = NextLoading()) {
      Load(loading);
      continue;
    }
    if (Turn()) continue;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ends_) break;
      if (!loadings_.empty()) continue;
    }
    signal_->Wait(LooksAgain());
  }
  for (const auto& one : served_) EndAll(one.get(), Outcome::kClosed, "the engine closed");
  served_.clear();
  kernels_.reset();
  GiveBackToSystem();
  if (owned_.owns_lock()) owned_.unlock();
}

Result<> Device::OpenKernels(const Opener& open) {
  auto kernels = Attempt(open);
  if (!kernels) return kernels.reason();
  kernels_ = std::move(*kernels);
  kernels_->WhilePaused([this] { LetOthersWork(); });
  return Done{};
}

Result<std::shared_future<void>> Device::Serve(const Maker& make) {
  Loading loading{make};
  auto made = loading.done.get_future();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    loadings_.push_back(&loading);
  }
  signal_->Notify();
  return made.get();
}

Device::Loading* Device::NextLoading() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (loadings_.empty()) return nullptr;
  Loading* const next = loadings_.front();
  loadings_.erase(loadings_.begin());
  return next;
}

void Device::Load(Loading* loading) {
  auto one = std::make_unique<Served>();
  const BackendFigures figures = kernels_->Figures();
  Place place{*kernels_, figures.memory_total > 0 ? figures.memory_free : AvailableMemory()};
  loads_since_ = Clock::now();
  std::optional<Problem> problem;
  try {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      place.no_cuda = no_cuda_;
    }
    place.host = HostThreads();
    auto rounds = loading->make(place);
    if (rounds) one->rounds = std::move(*rounds);
    else problem = rounds.reason();
  } catch (const BackendLost& lost) {
    problem = Problem{lost.what()};
    if (!kernels_->ReadsHostMemory()) Lose(lost.what());
  } catch (const std::bad_alloc&) {
    problem = Problem{place.is_gpu() ? DoesNotFit(place) : kMemoryIsOut};
  } catch (const std::exception& error) {
    problem = Problem{error.what()};
  }
  kernels_->Rehearse(false);
  if (problem) {
    GiveBackToSystem();
    loading->done.set_value(*problem);
    return;
  }
  std::shared_future<void> gone = one->gone.get_future();
  served_.push_back(std::move(one));
  loading->done.set_value(std::move(gone));
}

// Serves the other models between two parts of a load. Files get one round, so that the load goes on.
void Device::LetOthersWork() {
  const Clock::time_point began = Clock::now();
  if (began - loads_since_ < kTogether) return;
  const bool rehearses = kernels_->Rehearses();  // the model that is loaded; others do not
  kernels_->Rehearse(false);
  for (Clock::time_point now = began; now < began + kMostWaitOfText; now = Clock::now()) {
    const std::optional<Rank> rank = Turn();
    if (!rank || *rank == Rank::kFiles) break;
  }
  kernels_->Rehearse(rehearses);
  loads_since_ = Clock::now();
}

// Serves a round of one model, and returns its rank; no rank if no model needs a round.
std::optional<Rank> Device::Turn() {
  Look();
  Clock::duration spare{};
  Served* const next = ChooseNext(served_, Clock::now(), &spare);
  if (next == nullptr) return std::nullopt;
  const Rank rank = next->need->rank;
  Guarded(next, [&] { next->rounds->Work(spare); });
  next->since = Clock::now();
  return rank;
}

// Takes all orders, and frees the rounds that are closing.
void Device::Look() {
  for (const auto& one : served_) {
    const bool needed = one->need.has_value();
    one->need.reset();
    Guarded(one.get(), [&] { one->need = one->rounds->Look(); });
    if (!needed) one->since = Clock::now();
  }
  for (size_t n = 0; n < served_.size();) {
    if (!served_[n]->rounds->closing()) {
      n++;
      continue;
    }
    const std::unique_ptr<Served> over = std::move(served_[n]);
    served_.erase(served_.begin() + static_cast<ptrdiff_t>(n));
    EndAll(over.get(), Outcome::kClosed, "the engine closed");
    over->rounds.reset();
    GiveBackToSystem();
    over->gone.set_value();
  }
}

// A round that fails as a whole ends all its streams; later streams are served. A lost GPU is the end of the
// streams of all models.
void Device::Guarded(Served* one, const std::function<void()>& work) {
  Outcome outcome = Outcome::kFailed;
  std::string problem;
  try {
    return work();
  } catch (const std::bad_alloc&) {
    outcome = Outcome::kOutOfMemory;
    problem = kMemoryIsOut;
  } catch (const BackendLost& lost) {
    outcome = Outcome::kLost;
    problem = lost.what();
  } catch (const std::exception& error) {
    problem = std::string("a mistake in the engine: ") + error.what();
  }
  if (outcome != Outcome::kLost || kernels_->ReadsHostMemory()) return EndAll(one, outcome, problem);
  Lose(problem);
}

// The next model that asks for this device opens it anew.
void Device::Lose(const std::string& problem) {
  lost_ = true;
  if (owned_.owns_lock()) owned_.unlock();
  for (const auto& each : served_) EndAll(each.get(), Outcome::kLost, problem);
}

// Returns null for a device of processors, whose kernels have threads of their own. The threads are not
// pinned, because pinning would also pin the device's thread.
cpu::ThreadPool* Device::HostThreads() {
  if (kernels_->Figures().memory_total == 0) return nullptr;
  if (host_ != nullptr) return host_.get();
  auto threads = ReadThreads(options_);
  if (!threads) throw std::invalid_argument(threads.problem());
  threads->cores.clear();
  host_ = std::make_unique<cpu::ThreadPool>(*threads);
  return host_.get();
}

// Ending a stream may fail, too, if memory is out. Each try ends some more streams, which frees their memory.
void Device::EndAll(Served* one, Outcome outcome, const std::string& problem) {
  one->need.reset();
  for (int tries = 1; tries < kTriesToEnd; tries++) {
    try {
      return one->rounds->EndAll(outcome, problem);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kBetweenTries);
    }
  }
  one->rounds->EndAll(outcome, problem);
}

Clock::time_point Device::LooksAgain() const {
  Clock::time_point next = Clock::time_point::max();
  for (const auto& one : served_) next = std::min(next, one->rounds->LooksAgain());
  return next;
}

}  // namespace parley::runtime
