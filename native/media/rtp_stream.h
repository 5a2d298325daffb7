// An RTP stream that is sent (RFC 7656): one SSRC with its sequence numbers, timestamps, SRTP, target and
// reports. Its kinds are a call's own stream (stream.h) and a listener to it (listener.h).
//
//   a tick's sound ─▶ payload: frame, redundancy, silence or noise ─▶ header ─▶ SRTP ─▶ wire
//
// Ownership: the clock owns everything that a tick changes. Callers own control_mutex_ with what it guards.
// The target, and the right to encrypt with it, pass between them. A thread that takes the target away and
// waits for the clock's turn to end (Clock::Quiesce) owns what the tick used.
#ifndef PARLEY_MEDIA_RTP_STREAM_H_
#define PARLEY_MEDIA_RTP_STREAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "audio/voice_codec.h"
#include "media/counters.h"
#include "media/hear/sent_tap.h"
#include "media/opus_bundle.h"
#include "media/random.h"
#include "media/reception_mailbox.h"
#include "media/red.h"
#include "media/rtp.h"
#include "media/spsc_ring.h"
#include "media/srtp.h"
#include "media/time.h"
#include "media/wire.h"

namespace parley {

class Clock;
class JoinedSound;

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
  // In a pause the silent frame is sent at its beginning, then once per interval; 0: in each tick.
  int64_t silence_interval_ns = 0;
  ComfortNoise noise;
  RedConfig red;
  std::optional<VoiceCodec> codec;  // of the voice; absent: its frames are opaque
  // These limits belong to a stream with a queue.
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

// A timestamp and its moment.
struct MediaMoment {
  uint32_t timestamp;
  int64_t at_ns;
};

// One tick's sound, which a source and its listeners send.
struct TickSound {
  const uint8_t* voice = nullptr;  // null: a pause
  size_t bytes = 0;
  uint32_t timestamp = 0;                 // the source's
  const VoiceHistory* history = nullptr;  // null: none of these streams has RED
  bool again = false;                     // listeners have heard it
  bool before_mark = false;               // a mark follows, which is reached when this has left
};

class RtpStream : public PacketOwner {
 public:
  static constexpr size_t kMaxRtcp = 1400;  // bytes of a plain compound

  // `srtp` null sends plain RTP. `seed` decides when reports are sent.
  RtpStream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp,
            uint64_t seed);
  virtual ~RtpStream() = default;
  RtpStream(const RtpStream&) = delete;
  RtpStream& operator=(const RtpStream&) = delete;

  // Before the clock knows it: it goes on from there, with the sender that is left, if one is.
  void GoOnFrom(StreamRemains remains);

  // Callers, any thread.
  const StreamConfig& config() const { return config_; }
  uint64_t handle() const { return handle_; }
  void set_handle(uint64_t handle) { handle_ = handle; }  // before the clock knows the stream
  // Null lets go: after the return no packet leaves, a queue keeps what it has
  // and the former descriptor is closed. False once the stream is closed.
  bool SetTarget(std::unique_ptr<Target> target);
  // Leaves encrypted at the next tick. False: not this stream's SSRC, too long,
  // four wait already, or closed.
  bool SendRtcp(const uint8_t* compound, size_t bytes);
  // Voice payloads that each packet repeats from now on; at most config().red.distance.
  void SetRedundancy(uint32_t distance) { red_.SetDistance(distance); }
  // Opus frames that each packet has from now on, 1 to OpusBundle::kMaxFrames; 120 ms at most. A frame then
  // leaves with the last one of its packet.
  void SetFramesPerPacket(uint32_t frames);
  // The voice that leaves from now on is put there, too. Null: nobody listens. After the return the clock
  // does not use the former tap.
  void SetTap(std::shared_ptr<SentTap> tap);
  // Sound of a mixer, sent where the stream has no voice of its own. Null: there is none. After the return
  // the clock does not use the former one. A listener has its source's.
  virtual void SetJoined(std::shared_ptr<JoinedSound>) {}
  // Reception state of the stream's socket, for its reports.
  ReceptionMailbox& reception() { return reception_; }
  virtual StreamStats Stats() const;
  // Says BYE. After the return nothing leaves and the descriptor is closed.
  // Bytes of a BYE that JavaScript has to carry are put into `carried_bye`.
  void Close(std::vector<uint8_t>* carried_bye);
  // Closes without a BYE: another stream of the same SSRC goes on. False: it was closed already.
  bool Leave(StreamRemains* remains);
  bool closed() const { return closed_.load(); }
  // The sender's keys are these.
  bool HasKeys(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt, size_t salt_len);

  // The clock.
  void OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) override;

 protected:
  // Callers, under control_mutex_, once.
  virtual void OnClose() {}

  // The clock.
  const Target* target() const { return target_.load(); }
  // Before a tick's packets: a stream that catches up sends one frame after the other.
  void FlushUnsent();
  // Sends the frames that wait for their packet to be full.
  void SendBundle(const Target& target);
  void SendSound(const Target& target, const TickSound& sound);
  void CommitRtp(const Target& target, uint8_t* packet, const RtpHeader& header, size_t payload_bytes,
                 PacketKind kind);
  // A packet of another far end. `late`: others with greater numbers left before it.
  struct RelayedSound {
    TickSound sound;
    bool comfort_noise, late;
    int64_t due_ns;      // of its first sample, for those who listen
    int64_t arrival_ns;  // of the packet
  };
  // Writes the payload with its redundancy. The header's payload type is set here. False: the packet is lost.
  bool SendRelayed(const Target& target, const RelayedSound& relayed, RtpHeader header);
  void SendRtcpAndReports(const Target& target, int64_t now_ns);
  void BeginPause() { talking_ = false; }         // the next frame carries the marker bit
  void DropBundle();                              // nothing can be sent
  void RepeatSilence() { next_silence_ns_ = 0; }  // the next tick of a pause sends
  void Skip(int64_t ns);                          // timestamps go on by that much
  void EndTick();

  const std::shared_ptr<Clock> clock_;
  const StreamConfig config_;
  std::unique_ptr<SrtpSender> srtp_;  // belongs to the thread that owns the tick
  uint64_t handle_ = 0;

  // The clock's, until Close takes them over.
  int64_t tick_ns_ = 0;  // the next tick is due then, with timestamp_
  // The moment of the packet that was relayed last, by the clock of the far end that sent it. While it is
  // absent, timestamps follow the ticks.
  std::optional<MediaMoment> relayed_moment_;

  // Written by the clock, read by any thread.
  std::atomic<uint16_t> sequence_;
  std::atomic<uint32_t> timestamp_;
  Counter packets_, octets_, silence_packets_, late_ticks_, skipped_ticks_, send_errors_, carried_;

  std::mutex control_mutex_;  // the clock never takes it

 private:
  struct RtcpPacket {
    uint32_t bytes;
    uint8_t data[kMaxRtcp];
  };
  using RtcpRing = SpscRing<RtcpPacket>;

  static constexpr size_t kRtcpWaiting = 4;  // compounds

  // The clock's.
  Primary NextSilence();
  bool Bundles(const Target& target, const TickSound& sound, const Primary& primary, bool marker);
  size_t WriteNoise(uint8_t* payload, uint8_t* payload_type);
  size_t WritePrimary(const TickSound& sound, const Primary& primary, uint8_t* payload,
                      uint8_t* payload_type);
  // Takes the bundle: writes its payload and header fields. For either owner of the tick's state.
  size_t WriteBundle(uint8_t* payload, RtpHeader* header);
  void SendWaitingRtcp(const Target& target);
  void SendReport(const Target& target, int64_t now_ns);
  void CommitRtcp(const Target& target, uint8_t* packet, size_t bytes);
  void PutInTap(int64_t due_ns, const uint8_t* voice, size_t bytes);
  int64_t ReportDelay();
  // For either owner of the tick's state.
  size_t BuildReport(uint8_t* out, int64_t now_ns, bool bye);
  bool LookAtReception(int64_t now_ns, ReceptionBlock* block);
  void SayBye(std::vector<uint8_t>* carried);
  void SendLastBundle();
  void Count(SendResult result);
  void NoteLateness(int64_t late_ns);
  // Under control_mutex_. Takes the target away and waits for the clock. False: it was closed already.
  bool Detach();

  std::atomic<const Target*> target_{nullptr};
  std::atomic<RtcpRing*> rtcp_{nullptr};
  std::atomic<SentTap*> tap_{nullptr};
  std::atomic<OpusBundle*> bundle_{nullptr};
  std::atomic<bool> closed_{false};  // set under control_mutex_
  ReceptionMailbox reception_;
  RedEncoder red_;

  // The clock's, until Close takes them over.
  Random random_;
  int64_t next_report_ns_ = 0;                              // 0: no tick yet
  bool talking_ = false;                                    // the last tick sent a frame
  bool unsent_ = false;                                     // a packet of this stream waits in the wire
  int64_t next_silence_ns_ = 0;                             // 0: with the next pause
  uint64_t reported_expected_ = 0, reported_received_ = 0;  // at the last report

  // Guarded by control_mutex_.
  std::unique_ptr<const Target> held_target_;
  std::shared_ptr<SentTap> held_tap_;
  std::unique_ptr<OpusBundle> held_bundle_;  // made for the first packet of several frames
  std::unique_ptr<RtcpRing>
      held_rtcp_;  // made for the first compound; writers hold the mutex, the clock reads
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RTP_STREAM_H_
