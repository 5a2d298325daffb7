// The rounds of a recogniser: each takes new orders, lets every recognition look at its sound, and does one
// piece of work, of some 30 ms on processors and of a few on a GPU.
//
// Final texts of live turns go first, the earliest first; then their partial texts; then files. Work of one
// kind is done for many streams together. A file's work is not dropped for a live turn: it waits between two
// pieces.
#ifndef PARLEY_RUNTIME_RECOGNITION_SCHEDULER_H_
#define PARLEY_RUNTIME_RECOGNITION_SCHEDULER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/recognition/recognition_work.h"
#include "runtime/machine_memory.h"
#include "runtime/mailbox.h"
#include "runtime/recognition.h"
#include "runtime/rounds.h"
#include "runtime/work_rate.h"

namespace parley::runtime {

struct RecognitionArrival {
  StreamId id = 0;
  RecognitionRequest request;
  std::shared_ptr<SoundSource> source;
  std::shared_ptr<TextSink> sink;
  Clock::time_point at;
};

struct RecognitionOrders {
  std::vector<RecognitionArrival> arrivals;
  std::vector<std::pair<StreamId, PlacedOrder>> turns;
  std::vector<StreamId> cancels;
  bool close = false;
};

class RecognitionMailbox : public Mailbox<RecognitionOrders> {
 public:
  explicit RecognitionMailbox(TimeSource now, std::shared_ptr<Signal> signal = std::make_shared<Signal>())
      : Mailbox(std::move(signal)), now_(std::move(now)) {}

  StreamId Start(RecognitionRequest request, std::shared_ptr<SoundSource> source,
                 std::shared_ptr<TextSink> sink);
  void Order(StreamId stream, PlacedOrder order);
  void Cancel(StreamId stream);

 private:
  const TimeSource now_;
  StreamId last_id_ = 0;  // guarded by the mailbox
};

struct RecognitionSchedulerOptions {
  size_t max_files = 256;   // at a time; others wait
  size_t memory_bytes = 0;  // for all
  // Returns the bytes of memory that the device has free now.
  std::function<size_t()> free_memory = [] { return AvailableMemory(); };
  TimeSource now = Clock::now;
  std::function<void(const RecogniserStats&)> publish = [](const RecogniserStats&) {};
};

class RecognitionScheduler {
 public:
  // Both outlive it.
  RecognitionScheduler(const RecognitionSetup& setup, RecognitionMailbox& mailbox,
                       const RecognitionSchedulerOptions& options);

  // Takes orders and new sound. Returns no need if there is nothing to do for now.
  std::optional<Need> Look();
  // Does one piece of work after a look, of about `spare` where it can choose. Returns false if there was
  // none.
  bool Work(Clock::duration spare = Clock::duration::max());
  // True: sound may come without an order, so another round is due soon.
  bool Listens() const { return !live_.empty(); }
  void EndAll(Outcome outcome, const std::string& problem);
  bool closing() const { return closing_; }

 private:
  using Streams = std::vector<model::RecognitionStream*>;

  void TakeOrders();
  void Admit();
  bool Begin(RecognitionArrival* arrival);
  bool FitsMemory(RecognitionRequest* request, RecognitionEnd* refusal);
  std::unique_ptr<Recognition> Made(RecognitionArrival* arrival, RecognitionEnd* refusal);
  std::unique_ptr<Recognition> MadeAlignment(RecognitionArrival* arrival, std::shared_ptr<SoundReader> reader,
                                             RecognitionEnd* refusal);
  std::shared_ptr<const model::ResamplingTaps> TapsOf(uint32_t rate);
  bool LookAtSound();
  bool GuardedLook(Recognition& one, Clock::time_point now, const Room& room);
  bool IsWorkedOn(Recognition& one);
  size_t FreeMemory(Clock::time_point now);
  void SortWanted();
  Clock::duration LeastOf(const model::RecognitionStream& stream) const;
  void WorkOn(Rank rank, Clock::duration spare);
  bool BeginWork(Rank rank, const Streams& streams, Clock::duration spare);
  void Decode(const Streams& first);
  void DropStaleWork();
  void Tell(const Streams& streams);
  bool Guarded(const Streams& streams, const std::function<void()>& work);
  void EndOwners(const Streams& streams, Outcome outcome, const std::string& problem);
  void EndOver();
  void End(Recognition& one);
  void UpdateStats();

  const RecognitionSetup setup_;
  RecognitionMailbox& mailbox_;
  const RecognitionSchedulerOptions options_;
  std::vector<RecognitionArrival> waiting_;
  std::vector<std::unique_ptr<Recognition>> live_;
  std::unordered_map<uint32_t, std::weak_ptr<const model::ResamplingTaps>> taps_;
  std::vector<WantedPass> wanted_;  // of this round, the most urgent first
  model::RecognitionWork live_work_, file_work_;
  std::vector<std::pair<std::shared_ptr<TextSink>, RecognitionEnd>> ends_;
  WorkRate encode_rate_{8}, prefill_rate_{512}, decode_rate_{1};  // blocks, rows, steps
  WorkRate piece_rate_{1};                                        // pieces, on processors
  size_t pieces_given_way_ = 0;                                   // of live work, while a file waited
  size_t free_ = 0;
  Clock::time_point free_until_{};
  bool closing_ = false;
  std::string lost_;
  RecogniserStats stats_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_RECOGNITION_SCHEDULER_H_
