// Scheduler: the device's thread asks Look() what the next round is for, and calls Round(). A round takes new
// requests, admits streams, and advances every live stream that can by one frame.
//
// The earliest deadline goes first: among waiting streams, in prefill and in decoding. Fairness between
// clients belongs to src/engines/sentence-queue.ts. Its scheduler lets at most max_streams streams in, and
// alone bounds how many wait. No call here blocks, and no stream holds up another: a stream without room or
// text is parked.
#ifndef PARLEY_RUNTIME_SCHEDULER_H_
#define PARLEY_RUNTIME_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame_model.h"
#include "runtime/round_times.h"
#include "runtime/rounds.h"
#include "runtime/speech_mailbox.h"
#include "runtime/stream.h"
#include "runtime/work_rate.h"

namespace parley::runtime {

struct SchedulerOptions {
  size_t max_streams = 32;
  size_t max_batch = SIZE_MAX;  // streams in one step
  size_t memory_bytes = 0;      // for streams and voices
  size_t max_new_tokens = 0;    // as EngineOptions
  MeasuredTimes times;          // the warm-up's
  bool keeps_pace =
      true;  // else a stream with room is admitted, however long rounds take: a baseline for tests
  TimeSource now = Clock::now;
  std::function<void(const EngineStats&)> publish = [](const EngineStats&) {};
};

class Scheduler {
 public:
  // The model and the mailbox outlive it.
  Scheduler(FrameModel& model, SpeechMailbox& mailbox, const SchedulerOptions& options);

  // Takes orders, and says what the next round is for. After a round without work it returns no need until
  // there is something in the mailbox.
  std::optional<Need> Look();
  // False when there is nothing to do until there is something in the mailbox. Throws BackendLost at its end.
  bool Round();
  // Ends all streams, waiting and live.
  void EndAll(Outcome outcome, const std::string& problem);

  bool closing() const { return closing_; }
  const EngineStats& stats() const { return stats_; }  // last published

 private:
  // Limit on consecutive rounds that leave out streams without a deadline, while a listener may run dry.
  static constexpr size_t kRoundsGivenWay = 3;
  // Share of a frame's time that rounds may take on average: below 1, so that listeners' buffers grow.
  static constexpr double kUsable = 0.86;

  using Streams = std::vector<std::unique_ptr<Stream>>;
  using Some = std::vector<Stream*>;

  bool RoundOfWork();
  void Measure(Clock::duration worked, Clock::duration took);

  void TakeOrders();
  void Arrive(Arrival arrival);
  Stream* Find(StreamId id) const;

  // Waiting streams. A bool result is true if there was work.
  bool ReadWaiting();
  void Read(Stream& stream);
  bool MayWork(Stream& stream);
  std::string TooMuch(size_t bytes) const;
  bool Admit();
  size_t PutOverdueFirst();
  void ReportWaits(bool no_place);
  enum class Admission : uint8_t { kLive, kNotYet, kNoPlace };
  Admission AdmitOne(Stream& stream);
  BudgetQuestion BudgetOf(const Stream& stream) const;
  bool FindMemory(size_t bytes);
  bool DeviceLacks(size_t bytes, size_t given_back) const;
  bool KeepsPace(const Stream& newcomer);
  Clock::duration Frame() const;
  Clock::duration WorkOf(size_t streams) const;
  Clock::duration RoundOf(size_t streams) const;
  Clock::duration LeastWorkOf(size_t streams, size_t bare) const;
  size_t Bare() const;

  // Live streams.
  size_t RowsToSpare(const Some& newcomers);
  bool Prefill();
  bool Step();
  Clock::duration LeastAhead();
  Clock::duration WithSwing(Clock::duration time) const;
  Some StreamsToStep();
  Clock::duration LeastOf(const Some& listeners) const;
  Clock::duration TimeOfATurn(size_t listeners) const;
  size_t OthersWithin(Clock::duration most, size_t listeners, size_t others) const;
  bool IsHeard(Stream& stream);
  bool Decode();
  Some StreamsToDecode();
  static size_t FramesOf(const Some& streams);
  size_t FramesToSpare();
  // Frames of `streams` streams that are decoded in any case, so that no stream waits for ever.
  static size_t LeastDecoded(size_t streams) { return streams / 2 + 1; }
  size_t DecodeSome(Some streams, size_t most);  // at most so many frames; returns their number
  Some LiveWith(Stream::Turn turn);
  bool EndFinished();

  // Runs work that may throw. If it does, returns false and ends its streams.
  bool Guarded(const Some& streams, const std::function<void()>& work);
  void End(Stream& stream, Outcome outcome, std::string problem);
  void EndWithReason(Stream& stream);  // Stream::EndWith
  void CountEnd(const Stream& stream, Outcome outcome);
  void DropGone();
  void Sort();
  // Notifies the sinks of ended streams, after the stats have been published without them.
  void NotifyEnds();
  void UpdateStats();

  FrameModel& model_;
  SpeechMailbox& mailbox_;
  const SchedulerOptions options_;
  Streams waiting_,
      live_;  // as they are due, earlier arrivals first; the gone are still among them for a while
  std::unordered_map<StreamId, Stream*> by_id_;
  size_t stream_bytes_ = 0;  // live streams'
  bool voice_worked_ = false;
  size_t rounds_given_way_ = 0;
  bool last_out_of_order_ = false;  // the last stream that got a place went before those of a higher rank
  size_t rounds_put_off_ = 0;       // in a row, in which prompts had no time
  WorkRate prefill_rate_{32};       // rows
  WorkRate decode_rate_{8};         // frames
  WorkRate round_rate_{1};          // rounds with a step: each is a frame of every stream
  RoundTimes round_times_;          // step and decoding
  RoundTimes step_times_;           // step alone
  WorkRate other_rate_{1};          // everything else in a round: prompts, requests, notifications
  StepSwing swing_;
  size_t stepped_ = 0;  // streams, in this round
  std::vector<float> samples_;
  std::vector<EndNotice> ends_;
  bool closing_ = false;
  bool idle_ = false;        // the last round had no work
  std::string lost_;         // reason for the loss of the compute device
  const StageTimes before_;  // the model's totals before this engine's work
  const ChunkFigures chunks_before_;
  EngineStats stats_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_SCHEDULER_H_
