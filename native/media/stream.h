// One call's outgoing RTP: the clock's work for it at each tick.
//
//   tick: marks at the head ─▶ frame or silence ─▶ header ─▶ SRTP ─▶ wire ─▶ marks behind it
//
// Ownership: the clock owns everything that a tick changes. Callers own the queue, and control_mutex_ with
// what it guards. The target, and the right to encrypt with it, pass between them. A thread that takes the
// target away and waits for the clock's turn to end (Clock::Quiesce) owns what the tick used.
#ifndef PARLEY_MEDIA_STREAM_H_
#define PARLEY_MEDIA_STREAM_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "media/counters.h"
#include "media/playout_queue.h"
#include "media/random.h"
#include "media/ready.h"
#include "media/reception_mailbox.h"
#include "media/rtp.h"
#include "media/spsc_ring.h"
#include "media/srtp.h"
#include "media/time.h"
#include "media/wheel.h"
#include "media/wire.h"

namespace parley {

// Keys that a stream presses at the far end: packets of RFC 4733 in the place of
// the stream's frames, one for each of its ticks.
//
//   tick   1     2     3    ...    n     n+1   n+2  │ pause
//          M                       E      E     E   │ silence
//   all with the timestamp of tick 1, the duration growing up to tick n
//
// The voice stands still meanwhile; its timestamps go on as if it had sounded.
struct DigitTone {
  uint8_t event;         // RFC 4733, 3.2
  uint8_t payload_type;  // telephone-event's, as negotiated
  uint8_t volume;        // -dBm0, 0 to 63
  uint32_t clock_rate;   // that payload type's, in Hz
  int64_t duration_ns;
  int64_t pause_ns;  // silence after it
};

class DigitSender {
 public:
  static constexpr size_t kWaiting = 64;
  static constexpr size_t kPayloadBytes = 4;
  static constexpr int64_t kLongestTicks = 0xffff;

  enum class Turn : uint8_t { kNothing, kEvent, kPause };

  struct Packet {
    uint8_t payload_type;
    bool marker;
    uint32_t timestamp;
    uint8_t payload[kPayloadBytes];
  };

  // One caller at a time. False: as many wait as may.
  bool Put(const DigitTone& tone) {
    DigitTone* const place = tones_.Place();
    if (!place) return false;
    *place = tone;
    waiting_.fetch_add(1);
    tones_.Publish();
    return true;
  }

  // Tones that are not over; any thread.
  uint32_t waiting() const { return waiting_.load(); }

  // The clock, once a tick.
  Turn Next(uint32_t timestamp, int64_t period_ns, Packet* out) {
    if (stage_ == Stage::kIdle && !Begin(timestamp, period_ns)) return Turn::kNothing;
    if (stage_ == Stage::kPause) {
      if (--pause_ticks_ == 0) End();
      return Turn::kPause;
    }
    tick_++;
    const int64_t length = std::min(tick_ * period_ns, tone_.duration_ns);
    const auto ticks =
        static_cast<uint16_t>(std::min(length * tone_.clock_rate / kNsPerSecond, kLongestTicks));
    const bool end = tick_ >= ticks_;
    *out = {tone_.payload_type, tick_ == 1, timestamp_, {tone_.event, 0, 0, 0}};
    out->payload[1] = static_cast<uint8_t>((end ? 0x80 : 0) | (tone_.volume & 0x3f));
    PutBig16(out->payload + 2, ticks);
    if (tick_ == ticks_ + kEndRepeats) {
      stage_ = Stage::kPause;
      if (pause_ticks_ == 0) End();
    }
    return Turn::kEvent;
  }

  // The way out was lost in the middle of a tone: it is not begun again.
  void Abandon() {
    if (stage_ != Stage::kIdle) End();
  }

 private:
  enum class Stage : uint8_t { kIdle, kEvent, kPause };
  static constexpr int64_t kEndRepeats = 2;  // the end is sent three times (RFC 4733, 2.5.1.4)

  bool Begin(uint32_t timestamp, int64_t period_ns) {
    const DigitTone* const next = tones_.Front();
    if (!next) return false;
    tone_ = *next;
    tones_.Pop();
    stage_ = Stage::kEvent;
    timestamp_ = timestamp;
    tick_ = 0;
    ticks_ = std::max<int64_t>(1, (tone_.duration_ns + period_ns - 1) / period_ns);
    pause_ticks_ = (tone_.pause_ns + period_ns - 1) / period_ns;
    return true;
  }

  void End() {
    stage_ = Stage::kIdle;
    waiting_.fetch_sub(1);
  }

  SpscRing<DigitTone> tones_{kWaiting};
  std::atomic<uint32_t> waiting_{0};

  // The clock's.
  Stage stage_ = Stage::kIdle;
  DigitTone tone_{};
  uint32_t timestamp_ = 0;
  int64_t tick_ = 0;
  int64_t ticks_ = 0;
  int64_t pause_ticks_ = 0;
};

class Clock;

// Instead of silent frames, where the far end understands it (RFC 3389).
struct ComfortNoise {
  bool on = false;
  uint8_t payload_type = 13;
  uint8_t level = 60;                 // -dBov, 0 to 127
  int64_t interval_ns = 200'000'000;  // between two of them in a longer pause
};

struct StreamConfig {
  uint32_t ssrc = 0;
  uint8_t payload_type = 0;
  uint32_t clock_rate = 8000;      // Hz of the RTP timestamp
  uint32_t ticks_per_frame = 160;  // in units of the RTP timestamp
  int64_t period_ns = 20'000'000;  // one frame's
  uint16_t sequence = 0;           // the first packet's
  uint32_t timestamp = 0;          // the first tick's
  std::vector<uint8_t> silence;    // payload of one silent frame; empty: pauses send nothing
  ComfortNoise noise;
  uint32_t low_frames = 20;
  uint32_t high_frames = 75;
  std::string cname;
  int64_t report_interval_ns = 0;  // mean time between sender reports; 0: none, and no BYE
};

struct StreamStats {
  uint64_t packets, octets, silence_packets, underruns, late_ticks, skipped_ticks, send_errors, carried;
  double queued_ms;
  uint16_t sequence;   // the next packet's
  uint32_t timestamp;  // the next tick's
  uint32_t digits_waiting;
};

// State that a stream passes to its successor, so that the far end sees no restart.
struct StreamRemains {
  std::unique_ptr<SrtpSender> srtp;
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  uint64_t packets = 0, octets = 0;
};

class Stream : public WheelNode, public PacketOwner, public std::enable_shared_from_this<Stream> {
 public:
  static constexpr size_t kMaxRtcp = 1400;  // bytes of a plain compound

  // `srtp` null sends plain RTP. `seed` decides when reports are sent.
  Stream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp, uint64_t seed);
  // Before the clock knows it: it goes on from there, with the sender that is left, if one is.
  void GoOnFrom(StreamRemains remains);

  // Callers, any thread.
  PlayoutQueue& queue() { return queue_; }
  const StreamConfig& config() const { return config_; }
  uint64_t handle() const { return handle_; }
  void set_handle(uint64_t handle) { handle_ = handle; }  // before the clock knows the stream
  // Null lets go: after the return no packet leaves, the queue keeps what it has
  // and the former descriptor is closed. False once the stream is closed.
  bool SetTarget(std::unique_ptr<Target> target);
  // Leaves encrypted at the next tick. False: not this stream's SSRC, too long,
  // four wait already, or closed.
  bool SendRtcp(const uint8_t* compound, size_t bytes);
  // False: as many wait as may, or closed.
  bool PressDigit(const DigitTone& tone);
  // Reception state of the stream's socket, for its reports.
  ReceptionMailbox& reception() { return reception_; }
  void SetPaused(bool paused) { paused_.store(paused); }
  bool WatchRoom(std::shared_ptr<ReadySink> sink);
  ClearedQueue Clear();
  TakenQueue Take(size_t most_sent);
  void MarksDelivered(uint32_t count);
  StreamStats Stats() const;
  // Says BYE. After the return nothing leaves and the descriptor is closed.
  // Bytes of a BYE that JavaScript has to carry are put into `carried_bye`.
  void Close(std::vector<uint8_t>* carried_bye);
  // Closes without a BYE: another stream of the same SSRC goes on. False: it was closed already.
  bool Leave(StreamRemains* remains);
  // The sender's keys are these.
  bool HasKeys(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt, size_t salt_len);

  // The thread that hears of the clock's events.
  void NotifyRoom() { room_.Fire(); }

  // The clock.
  void Begin(int64_t due_ns, int64_t phase_ns);
  int64_t phase_ns() const { return phase_ns_; }
  // False: the stream is closed, the clock must forget it.
  bool Tick(Clock& clock, int64_t now_ns);
  void OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) override;
  Stream* next_listed = nullptr;  // link in the clock's inbox, or in its retired list

 private:
  struct RtcpPacket {
    uint32_t bytes;
    uint8_t data[kMaxRtcp];
  };

  static constexpr int64_t kMaxCatchUp = 3;  // frames sent at once after a late wake-up
  static constexpr size_t kRtcpWaiting = 4;  // compounds

  // The clock's.
  void SkipMissed(int64_t now_ns);
  void Transmit(const Target& target, int64_t now_ns);
  void SendFrame(const Target& target);
  bool SendDigit(const Target& target);
  size_t NoiseInto(uint8_t* payload);
  void CommitRtp(const Target& target, uint8_t* packet, const RtpHeader& header, size_t payload_bytes,
                 PacketKind kind);
  void SendWaitingRtcp(const Target& target);
  void SendReport(const Target& target, int64_t now_ns);
  void CommitRtcp(const Target& target, uint8_t* packet, size_t bytes);
  void ReachMarks(int64_t at_ns);
  int64_t ReportDelay();
  // For either owner of the tick's state.
  size_t BuildReport(uint8_t* out, int64_t now_ns, bool bye);
  bool LookAtReception(int64_t now_ns, ReceptionBlock* block);
  void SayBye(std::vector<uint8_t>* carried);
  void Count(SendResult result);

  const std::shared_ptr<Clock> clock_;
  const StreamConfig config_;
  std::unique_ptr<SrtpSender> srtp_;  // belongs to the thread that owns the tick
  uint64_t handle_ = 0;
  PlayoutQueue queue_;
  std::atomic<bool> paused_{false};
  std::atomic<const Target*> target_{nullptr};
  ReadyWatch room_;
  DigitSender digits_;
  ReceptionMailbox reception_;

  // The clock's, until Close takes them over.
  Random random_;
  int64_t phase_ns_ = 0;
  int64_t next_report_ns_ = 0;                              // 0: no tick yet
  bool talking_ = false;                                    // the last tick sent a frame
  bool in_track_ = false;                                   // the last frame's track has not reached its end
  bool unsent_ = false;                                     // a packet of this stream waits in the wire
  uint32_t track_ = 0;                                      // the last frame's
  uint32_t generation_ = 0;                                 // the last frame's
  int64_t next_noise_ns_ = 0;                               // 0: with the next pause
  uint64_t reported_expected_ = 0, reported_received_ = 0;  // at the last report

  // Written by the clock, read by any thread.
  std::atomic<uint16_t> sequence_;
  std::atomic<uint32_t> timestamp_;
  Counter packets_, octets_, silence_packets_, underruns_, late_ticks_, skipped_ticks_, send_errors_,
      carried_;

  std::mutex control_mutex_;  // guards everything below; the clock never takes it
  std::unique_ptr<const Target> held_target_;
  SpscRing<RtcpPacket> rtcp_{kRtcpWaiting};  // writers hold the mutex, the clock reads
};

}  // namespace parley

#endif  // PARLEY_MEDIA_STREAM_H_
