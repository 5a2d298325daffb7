// A device: the thread that owns a GPU, or processors, and serves all models that lie there. Models with the
// same options share it, its kernels and its memory; each of them is loaded and given back by itself.
//
// After each round the thread chooses the next one. Listeners go first, then final texts, other live texts
// and files. Text is recognised between two frames of sound where that fits: no listener may come near the
// end of what was sent to it. Text waits a fifth of a second at most for its next round, a file a second. A
// model that is being loaded lets others go on between two parts of the load (Kernels::Pause).
#ifndef PARLEY_RUNTIME_DEVICE_H_
#define PARLEY_RUNTIME_DEVICE_H_

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/speech_kernels.h"
#include "runtime/mailbox.h"
#include "runtime/processor.h"
#include "runtime/result.h"
#include "runtime/rounds.h"

namespace parley::runtime {

// The kernels and the memory that a model is loaded with.
struct Place {
  SpeechKernels& kernels;
  size_t memory;                    // bytes that are free there
  std::string no_cuda = {};         // why there is no GPU although one was asked for; empty: not so
  cpu::ThreadPool* host = nullptr;  // threads for the host's work beside a GPU; null: the kernels have all

  bool is_gpu() const { return kernels.Figures().memory_total > 0; }
};

// Returns the error for a model that finds too little memory.
std::string DoesNotFit(const Place& place);

// Returns the bytes that a model may take, its weights included.
size_t MostMemory(const DeviceOptions& options, const Place& place);

// Returns the bytes that a model may take beside its weights; a problem if no byte is left.
Result<size_t> MemoryBeside(size_t weights, const DeviceOptions& options, const Place& place);

// A model's rounds on a device, and the time when they were served last.
struct Served {
  std::unique_ptr<Rounds> rounds;
  std::optional<Need> need = std::nullopt;
  Clock::time_point since{};  // it was served last, or has needed something since
  std::promise<void> gone = {};
};

// Returns the rounds to serve next, with `spare` set to the time that they may take, or null if no model
// needs a round.
Served* ChooseNext(const std::vector<std::unique_ptr<Served>>& all, Clock::time_point now,
                   Clock::duration* spare);

class Device {
 public:
  // Makes a model's rounds, on the thread. May throw.
  using Maker = std::function<Result<std::unique_ptr<Rounds>>(const Place& place)>;
  // Opens the kernels, on the thread. May throw.
  using Opener = std::function<Result<std::unique_ptr<SpeechKernels>>()>;

  // Finds or opens the device.
  static Result<std::shared_ptr<Device>> Open(const DeviceOptions& options);
  // Opens a device that the other function does not find.
  static Result<std::shared_ptr<Device>> Open(const Opener& open);
  // Waits for the thread: not to be called by it. No rounds may be left.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The mailboxes of its rounds share this signal.
  const std::shared_ptr<Signal>& signal() const { return signal_; }
  // Blocks until the rounds are made; other rounds go on meanwhile. They are served until they are closing,
  // then end their streams and are freed, and the future is ready. A problem: they could not be made.
  Result<std::shared_future<void>> Serve(const Maker& make);

 private:
  struct Slot;  // one for each device of the machine
  struct Loading {
    const Maker& make;
    std::promise<Result<std::shared_future<void>>> done = {};
  };

  Device(std::shared_ptr<Slot> slot, const DeviceOptions& options);
  static Result<std::shared_ptr<Device>> Find(const std::string& name, const DeviceOptions& options,
                                              const Opener& open);
  Result<> Begin(const Opener& open);
  void Run(const Opener& open, std::promise<Result<>>* opened);
  Result<> OpenKernels(const Opener& open);
  Loading* NextLoading();
  void Load(Loading* loading);
  void LetOthersWork();
  std::optional<Rank> Turn();
  void Look();
  void Guarded(Served* one, const std::function<void()>& work);
  void Lose(const std::string& problem);
  cpu::ThreadPool* HostThreads();
  void EndAll(Served* one, Outcome outcome, const std::string& problem);
  Clock::time_point LooksAgain() const;

  const std::shared_ptr<Slot> slot_;
  const DeviceOptions options_;
  const std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  std::atomic<bool> lost_{false};
  std::mutex mutex_;
  std::vector<Loading*> loadings_;  // guarded by the mutex, as are the next two
  std::string no_cuda_;
  bool ends_ = false;
  std::thread thread_;

  // Only the thread uses these.
  std::unique_lock<std::mutex> owned_;
  std::unique_ptr<SpeechKernels> kernels_;
  std::unique_ptr<cpu::ThreadPool> host_;  // beside a GPU, from the first load on
  Clock::time_point loads_since_{};        // a load goes on without a pause
  std::vector<std::unique_ptr<Served>> served_;
};

// An engine's part of a device: its rounds, and its share in keeping the device open.
class Seat {
 public:
  explicit Seat(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  Result<> Open(const Device::Maker& make) {
    const auto served = device_->Serve(make);
    if (!served) return served.reason();
    gone_ = *served;
    return Done{};
  }
  // Waits for the end of the rounds, which `closing` brings about. May be called again, by any thread but the
  // device's.
  void Leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (gone_.valid()) gone_.wait();
    device_.reset();
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Device> device_;
  std::shared_future<void> gone_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_DEVICE_H_
