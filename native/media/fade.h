// Fades a voice out within one frame, so that it can stop in the middle of a word without a click.
//
//   frames that left ──▶ decoder ──▶ encoder        both are near the states that they have at the two ends
//   next frame ────────▶ decode ──▶ × 0.5 (1 + cos πt) ──▶ encode ──▶ FadeFrame ──▶ clock
//
// A caller makes the frame. The clock sends it in place of the next one, and nothing of the voice after it
// until the pause ends.
#ifndef PARLEY_MEDIA_FADE_H_
#define PARLEY_MEDIA_FADE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "audio/voice_codec.h"
#include "media/playout_queue.h"

namespace parley {

class Replay;

enum class FadeResult : uint8_t {
  kNothing,  // the next frame is none of the track, or the stream is paused or closed
  kCut,      // the voice stops at the end of a frame, without a fade
  kFaded,
};

// Encodes a frame that fades out.
class FadeEncoder {
 public:
  // `ticks`: of the RTP timestamp in a frame. `silence`: what the stream sends in a pause; may be empty.
  struct Form {
    VoiceCodec codec;
    int64_t period_ns;
    uint32_t ticks;
    const std::vector<uint8_t>& silence;
  };

  explicit FadeEncoder(const Form& form) : form_(form) {}

  // Frames that left before, as many as the codec needs.
  static size_t WarmFrames(VoiceCodec codec, int64_t period_ns);

  // `heard`: the last frames that left, oldest first. `frame` leaves next, with this RTP timestamp. Empty:
  // the frame is malformed, or it does not last one period.
  std::vector<uint8_t> Encode(const std::vector<SentFrame>& heard, const std::vector<uint8_t>& frame,
                              uint32_t timestamp) const;

 private:
  using Payloads = std::vector<const std::vector<uint8_t>*>;

  Payloads Received(const std::vector<SentFrame>& heard, uint32_t timestamp) const;

  const Form form_;
};

// The place of a frame that waits: an entry of the queue, or of a replay.
struct FramePlace {
  const Replay* replay;  // null: the queue
  uint64_t number;

  bool operator==(const FramePlace& other) const { return replay == other.replay && number == other.number; }
};

// The pause of a stream that fades out, with the frame that leaves before it. Callers make it, the clock uses
// it.
class FadeFrame {
 public:
  // `generation` is the queue's. Without a payload the pause begins at once.
  FadeFrame(uint32_t track, uint32_t generation, FramePlace place, std::vector<uint8_t> payload)
      : track_(track),
        generation_(generation),
        place_(place),
        payload_(std::move(payload)),
        state_(payload_.empty() ? State::kPaused : State::kWaits) {}

  // Any thread.
  uint32_t track() const { return track_; }
  uint32_t generation() const { return generation_; }
  const FramePlace& place() const { return place_; }
  // Nothing of the voice leaves any more.
  bool paused() const { return state_.load() != State::kWaits; }
  bool has_left() const { return state_.load() == State::kLeft; }

  // The clock. Null: another frame leaves at that place. Else the payload leaves now, and the pause begins.
  const std::vector<uint8_t>* TakeFor(const FramePlace& place) {
    State waits = State::kWaits;
    if (!(place == place_) || !state_.compare_exchange_strong(waits, State::kLeft)) return nullptr;
    return &payload_;
  }
  // The voice stopped for another reason, so that the pause begins without the frame. Callers as well, while
  // the clock does not use it.
  void Pause() {
    State waits = State::kWaits;
    state_.compare_exchange_strong(waits, State::kPaused);
  }

 private:
  enum class State : uint8_t { kWaits, kLeft, kPaused };

  const uint32_t track_;
  const uint32_t generation_;
  const FramePlace place_;
  const std::vector<uint8_t> payload_;
  std::atomic<State> state_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_FADE_H_
