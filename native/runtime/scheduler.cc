#include "runtime/scheduler.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace parley::runtime {

Scheduler::Scheduler(FrameModel& model, SpeechMailbox& mailbox, const SchedulerOptions& options)
    : model_(model),
      mailbox_(mailbox),
      options_(options),
      round_times_(options.times.rounds),
      step_times_(options.times.steps),
      before_(model.Times()),
      chunks_before_(model.Chunks()) {
  UpdateStats();
}

bool Scheduler::Round() {
  idle_ = true;  // also after an exception
  const bool busy = RoundOfWork();
  idle_ = !busy;
  return busy;
}

bool Scheduler::RoundOfWork() {
  const Clock::time_point began = options_.now();
  TakeOrders();
  bool busy = ReadWaiting();
  busy = Admit() || busy;
  NotifyEnds();
  if (Prefill()) {
    busy = true;
    TakeOrders();
  }
  const Clock::time_point ready = options_.now();
  const bool stepped = Step();
  busy = Decode() || stepped || busy;
  const Clock::duration worked = options_.now() - ready;
  busy = EndFinished() || busy;
  const Clock::duration took = options_.now() - began;
  if (stepped) Measure(worked, took);
  if (busy) stats_.busy_ms += std::chrono::duration<double, std::milli>(took).count();
  ends_.empty() ? UpdateStats() : NotifyEnds();
  if (!lost_.empty()) throw BackendLost(lost_);  // it is the end of all others, too
  return busy;
}

// `worked`: in step and decoding.
void Scheduler::Measure(Clock::duration worked, Clock::duration took) {
  round_times_.Record(stepped_, worked);
  other_rate_.Record(1, took - worked);
  round_rate_.Record(1, took);
}

void Scheduler::EndAll(Outcome outcome, const std::string& problem) {
  TakeOrders();
  for (const Streams* streams : {&waiting_, &live_}) {
    for (const auto& stream : *streams) End(*stream, outcome, problem);
  }
  NotifyEnds();
}

// --- arrivals

void Scheduler::TakeOrders() {
  Orders orders = mailbox_.Take();
  closing_ = closing_ || orders.close;
  for (Arrival& arrival : orders.arrivals) Arrive(std::move(arrival));
  for (MoreText& more : orders.texts) {
    if (Stream* const stream = Find(more.stream)) stream->AddText(std::move(more));
  }
  for (const StreamId id : orders.cancels) {
    if (Stream* const stream = Find(id)) End(*stream, Outcome::kCancelled, "it was cancelled");
  }
  DropGone();
  Sort();
}

void Scheduler::Arrive(Arrival arrival) {
  auto stream = std::make_unique<Stream>(std::move(arrival), model_);
  by_id_[stream->id()] = stream.get();
  waiting_.push_back(std::move(stream));
}

Stream* Scheduler::Find(StreamId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void Scheduler::Sort() {
  for (Streams* streams : {&waiting_, &live_}) {
    std::sort(streams->begin(), streams->end(), [](const auto& a, const auto& b) {
      if (a->rank() != b->rank()) return a->rank() < b->rank();
      return a->due() != b->due() ? a->due() < b->due() : a->id() < b->id();
    });
  }
}

// --- ends

bool Scheduler::Guarded(const Some& streams, const std::function<void()>& work) {
  Outcome outcome = Outcome::kFailed;
  std::string problem;
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    outcome = Outcome::kOutOfMemory;
    problem = "memory is out";
  } catch (const BackendLost& lost) {
    outcome = Outcome::kLost;
    problem = lost_ = lost.what();
  } catch (const std::exception& error) {
    problem = std::string("a mistake in the engine: ") + error.what();
  }
  for (Stream* const stream : streams) End(*stream, outcome, problem);
  return false;
}

void Scheduler::End(Stream& stream, Outcome outcome, std::string problem) {
  if (stream.gone()) return;
  CountEnd(stream, outcome);
  ends_.push_back(stream.End(outcome, std::move(problem), options_.now()));
}

bool Scheduler::EndFinished() {
  const Some over = LiveWith(Stream::Turn::kFinished);
  for (Stream* const stream : over) EndWithReason(*stream);
  DropGone();
  return !over.empty();
}

void Scheduler::EndWithReason(Stream& stream) {
  CountEnd(stream, stream.outcome());
  ends_.push_back(stream.End(options_.now()));
}

void Scheduler::NotifyEnds() {
  if (ends_.empty()) return;
  DropGone();
  UpdateStats();
  for (EndNotice& notice : std::exchange(ends_, {})) notice.Notify();
}

void Scheduler::CountEnd(const Stream& stream, Outcome outcome) {
  by_id_.erase(stream.id());
  stream_bytes_ -= stream.bytes();
  switch (outcome) {
    case Outcome::kDone:
    case Outcome::kBudget:
      stats_.done++;
      break;
    case Outcome::kRunaway:
      stats_.runaways++;
      break;
    case Outcome::kCancelled:
    case Outcome::kClosed:
      stats_.cancelled++;
      break;
    case Outcome::kOutOfMemory:
    case Outcome::kFailed:
    case Outcome::kLost:
      stats_.failed++;
      break;
    case Outcome::kTooLarge:
    case Outcome::kBadRequest:
      stats_.refused++;
      break;
  }
}

void Scheduler::DropGone() {
  for (Streams* streams : {&waiting_, &live_}) {
    streams->erase(
        std::remove_if(streams->begin(), streams->end(), [](const auto& one) { return one->gone(); }),
        streams->end());
  }
}

void Scheduler::UpdateStats() {
  stats_.live = live_.size();
  stats_.waiting = waiting_.size();
  stats_.parked = LiveWith(Stream::Turn::kPark).size();
  const StageTimes times = model_.Times();
  stats_.prefill_ms = times.prefill - before_.prefill;
  stats_.talker_ms = times.talker - before_.talker;
  stats_.predictor_ms = times.predictor - before_.predictor;
  stats_.codec_ms = times.codec - before_.codec;
  stats_.voice_ms = times.voice - before_.voice;
  stats_.voices = model_.Voices();
  const ChunkFigures chunks = model_.Chunks();
  stats_.chunks = {chunks.cut_short - chunks_before_.cut_short, chunks.repeated - chunks_before_.repeated,
                   chunks.endless - chunks_before_.endless};
  const BackendFigures figures = model_.Figures();
  stats_.device_memory_in_use = figures.memory_in_use;
  stats_.eager = figures.eager;
  stats_.captures = figures.captures;
  stats_.launches = figures.launches;
  stats_.list_bytes = figures.list_bytes;
  stats_.memory_in_use = stream_bytes_ + model_.VoiceBytes();
  stats_.memory_limit = options_.memory_bytes;
  options_.publish(stats_);
}

}  // namespace parley::runtime
