// Joins Opus packets of one frame into one packet of several (RFC 6716, section 3.2.5). A stream on a thin
// link so sends fewer RTP packets: at 50 a second their headers take 20 kbit/s or more. The frames stay as
// they are, so that the queue, its marks and its counts know nothing of it.
//
//   frame ─▶ Add ─▶ Add ─▶ full ─▶ Take: one payload, with the timestamp of the first frame
#ifndef PARLEY_MEDIA_OPUS_BUNDLE_H_
#define PARLEY_MEDIA_OPUS_BUNDLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "media/red.h"

namespace parley {

class OpusBundle {
 public:
  static constexpr size_t kMaxFrames = 6;
  static constexpr size_t kMaxBytes = VoiceHistory::kMaxBlock;  // RED can repeat a whole bundle

  // Fields of the RTP header of the bundle.
  struct Head {
    uint32_t timestamp;
    bool marker;
    bool voice;  // otherwise silence
  };

  // Any thread. Frames of a packet from now on; 1: each frame is a packet of its own.
  void SetFrames(uint32_t frames) { frames_.store(frames); }

  // The clock.
  bool on() const { return frames_.load(std::memory_order_relaxed) > 1; }
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ >= frames_.load(std::memory_order_relaxed); }
  const Head& head() const { return head_; }
  // A packet that can be joined with others at all: one frame, not too long.
  static bool Joins(const uint8_t* packet, size_t bytes);
  // It can follow the frames that wait. `timestamp` is its own.
  bool Continues(const uint8_t* packet, size_t bytes, uint32_t timestamp, bool voice) const;
  // After Joins, and after Continues unless it is empty. `ticks` is the length of a frame.
  void Add(const uint8_t* packet, size_t bytes, const Head& head, uint32_t ticks);
  // Writes the payload, at most kMaxBytes, and is empty then.
  size_t Take(uint8_t* out);
  void Drop() { count_ = 0; }
  // The bundles that have left, for RED.
  VoiceHistory& history() { return history_; }

 private:
  static constexpr size_t kMaxOverhead = 2 + 2 * (kMaxFrames - 1);  // TOC, count, lengths

  std::atomic<uint32_t> frames_{1};

  // The clock's.
  Head head_{};
  uint32_t next_timestamp_ = 0;
  uint8_t toc_ = 0;
  size_t count_ = 0, bytes_ = 0;
  std::array<uint16_t, kMaxFrames> lengths_{};
  std::array<uint8_t, kMaxBytes> data_{};
  VoiceHistory history_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_OPUS_BUNDLE_H_
