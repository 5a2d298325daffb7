// One request from its arrival to its end. Only the engine's thread touches it.
//
//   waiting: unread -> read -> (text enough, memory, a place) -> live: begun -> prefilled -> frames
#ifndef PARLEY_RUNTIME_STREAM_H_
#define PARLEY_RUNTIME_STREAM_H_

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/frame_model.h"
#include "runtime/speech_mailbox.h"
#include "runtime/token_budget.h"

namespace parley::runtime {

// Chooses the number of frames that are decoded at a time. It begins with one, so that the sound starts
// early, and grows, because many frames together cost less than each alone.
class ChunkRamp {
 public:
  static constexpr size_t kSizes[] = {1, 2, 4, 8, 12};  // frames
  static constexpr size_t kMost = 12;

  // Frames of the next chunk: one size above the last chunk, but at most as many as can be generated in half
  // of the time until the written sound has been played.
  size_t Size(Clock::duration ahead, Clock::duration frame) {
    rung_ = next_;
    while (rung_ > 0 && ahead / 2 < static_cast<Clock::rep>(kSizes[rung_]) * frame) rung_--;
    return kSizes[rung_];
  }

  // The chunk was decoded: the next one may be larger.
  void Next() {
    constexpr size_t kLast = sizeof kSizes / sizeof *kSizes - 1;
    next_ = rung_ < kLast ? rung_ + 1 : kLast;
  }

 private:
  size_t rung_ = 0;
  size_t next_ = 0;
};

// An end of a stream, and the sink to notify.
struct EndNotice {
  std::shared_ptr<SpeechSink> sink;
  StreamEnd end;

  void Notify();
};

class Stream {
 public:
  // Next action for a live stream.
  enum class Turn : uint8_t {
    kPrefill,  // rows of its prompt are left
    kStep,
    kDecode,    // a chunk is complete, or no frame can be added now
    kPark,      // no room in the sink, or no text
    kFinished,  // nothing is left: the scheduler ends it
  };

  Stream(Arrival arrival, const FrameModel& model);

  StreamId id() const { return id_; }
  Clock::time_point due() const { return due_; }
  const SpeechRequest& request() const { return request_; }
  Generation* generation() const { return generation_.get(); }  // null: not read yet

  void WasRead(std::unique_ptr<Generation> generation);
  // Adds text that comes later, already read or not. Text after the end is ignored.
  void AddText(MoreText more);

  void Begun(const TokenBudget& budget, size_t bytes, Clock::time_point now);
  size_t bytes() const { return bytes_; }  // in the model's memory; 0: not live

  // `frame`: time to generate one frame.
  Turn NextTurn(Clock::time_point now, Clock::duration frame);
  // True for a listener with little sound ahead whose next prompt is not computed, and who can hear frames of
  // the one before it: they are decoded although its turn is kPrefill.
  bool HasSoundBeforePrompt(Clock::time_point now);
  // The first sound of a stream goes before all others.
  bool Silent() const { return samples_ == 0; }
  // True if the stream has a deadline for its next audio; false if only the whole counts.
  bool InHurry() const { return due_ != Clock::time_point::max(); }
  // True if its listener plays the sound while it is generated.
  bool live() const { return InHurry() && request_.listener == Listener::kLive; }
  // Order among streams: 0 live listeners, 1 readers, 2 the server's prompts.
  int rank() const { return live() ? 0 : request_.listener == Listener::kServer ? 2 : 1; }
  // Time that the listener's audio lasts; Clock::duration::max() without a deadline.
  Clock::duration Ahead(Clock::time_point now) const;
  // True for a live listener, and for a reader that has audio left: the engine avoids that it runs out. A
  // reader with none left reads slower than real time anyway.
  bool MayRunDry(Clock::time_point now) const { return live() || (InHurry() && due_ > now); }
  // Notifies the sink of a change.
  void SetWaits(bool waits);
  bool waits() const { return waits_; }
  uint64_t last_step() const { return last_step_; }
  size_t to_decode() const {
    return to_decode_;
  }  // frames, since NextTurn returned kDecode or HasSoundBeforePrompt true
  // `step`: the number of the step.
  void Stepped(FrameResult result, uint64_t step);
  void Decoded(const float* samples, size_t frames, Clock::time_point now);

  // Ends the stream for this reason once all generated frames are written; the first reason counts.
  void EndWith(Outcome outcome, std::string problem);
  // Frees the model's memory and hands over the sink, which the scheduler notifies.
  EndNotice End(Clock::time_point now);
  // Ends the stream at once; this reason replaces an earlier one.
  EndNotice End(Outcome outcome, std::string problem, Clock::time_point now);
  bool gone() const { return sink_ == nullptr; }
  bool ending() const { return ending_.has_value(); }
  Outcome outcome() const { return ending_->outcome; }  // requires ending()

 private:
  void SinkThrew(const std::exception& error);
  size_t KeptFrames(Clock::time_point now) const;
  size_t RoomInFrames();
  void OutOfDraws();

  const StreamId id_;
  SpeechRequest request_;
  std::shared_ptr<SpeechSink> sink_;
  const FrameModel& model_;
  const Clock::time_point started_;
  Clock::time_point due_;
  std::vector<MoreText> unread_;
  std::unique_ptr<Generation> generation_;

  TokenBudget budget_;
  size_t bytes_ = 0;
  size_t most_room_ = 0;  // largest room seen, in frames: the capacity of the sink
  ChunkRamp ramp_;
  size_t undecoded_ = 0, to_decode_ = 0;
  uint64_t frames_ = 0, samples_ = 0, last_step_ = 0;
  bool waits_ = false;
  double queue_ms_ = 0, first_frame_ms_ = 0;
  std::optional<Refusal> ending_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_STREAM_H_
