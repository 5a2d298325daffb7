// One call's outgoing RTP: a queue of encoded sound, and the clock's work for it at each tick.
//
//   tick: marks at the head ─▶ digit, frame, joined sound or silence ─▶ wire ─▶ marks behind it
//                                        └──▶ each listener, under its own header (listener.h)
//
// Packets of another far end may take the place of the pauses (join/relay.h): they leave when they come, and
// not at a tick.
//
// Ownership as in rtp_stream.h; callers own the queue as well.
#ifndef PARLEY_MEDIA_STREAM_H_
#define PARLEY_MEDIA_STREAM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "media/digit_sender.h"
#include "media/fade.h"
#include "media/join/joined_sound.h"
#include "media/join/relay.h"
#include "media/listener.h"
#include "media/playout_queue.h"
#include "media/ready.h"
#include "media/replay.h"
#include "media/rtp_stream.h"
#include "media/wheel.h"

namespace parley {

class Stream : public RtpStream, public WheelNode, public std::enable_shared_from_this<Stream> {
 public:
  Stream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp, uint64_t seed);

  // Callers, any thread.
  PlayoutQueue& queue() { return queue_; }
  // False: as many wait as may, or closed.
  bool PressDigit(const DigitTone& tone);
  void SetPaused(bool paused) { paused_.store(paused); }
  bool WatchRoom(std::shared_ptr<ReadySink> sink);
  ClearedQueue Clear();
  TakenQueue Take(size_t most_sent);
  // Frames of the track that have left and need not be sent again.
  uint64_t Sent(uint32_t track);
  // The far end received nothing after this RTP timestamp: what left since, and was not cleared, is sent once
  // more, before what is queued. Returns the frames; the queue keeps those of half a second or more.
  // To be called while the stream has no target, so that nothing else goes before.
  size_t Rewind(uint32_t received_timestamp);
  // The voice fades out within the next frame that leaves, if it is one of the track, and pauses. Frames may
  // leave before, while the faded one is encoded. It takes up to 2 ms: not for the clock's thread. Without a
  // codec in the configuration, or if the frame is malformed, the voice is cut off at a frame's end.
  FadeResult Fade(uint32_t track);
  // Ends the pause of a fade of this track. Its last `back_frames` frames that Sent() counts and what waits
  // are sent next; a frame that faded out is repeated in any case. Returns the frames that are sent once
  // more: they stay counted. Absent: this track is not faded, and nothing changes.
  std::optional<size_t> ResumeFade(uint32_t track, uint32_t back_frames);
  // The track that fades out or is paused; absent: nothing is faded.
  std::optional<uint32_t> FadedTrack();
  bool faded() const { return fade_.load() != nullptr; }
  // Before the clock knows it: begins in the pause of a fade that another stream of the same SSRC began.
  void BeginFaded(uint32_t track);
  void MarksDelivered(uint32_t count);
  StreamStats Stats() const override;
  // Packets of the relay leave from now on as if they were this stream's, while no voice or key of ours
  // waits. Null: closed, relayed to already, or without a codec in the configuration.
  std::shared_ptr<Relay> OpenRelay();
  // After the return the clock does not use it. The pause of the stream is its own again.
  void CloseRelay(const Relay* relay);
  void SetJoined(std::shared_ptr<JoinedSound> joined) override;

  // Callers, one at a time: the plane holds its mutex.
  Audience& OpenAudience(bool with_history);
  // Null: it never had listeners.
  Audience* audience() const { return audience_.load(); }

  // The thread that hears of the clock's events.
  void NotifyRoom() { room_.Fire(); }

  // The clock.
  void Begin(int64_t due_ns, int64_t phase_ns);
  int64_t phase_ns() const { return phase_ns_; }
  // False: the stream is closed, the clock must forget it.
  bool Tick(int64_t now_ns);
  // Sends what the relay holds. True: some of it waits for the next turn.
  bool SendRelayed(int64_t now_ns);
  void OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) override;
  Stream* next_listed = nullptr;  // link in the clock's inbox, or in its retired list

 private:
  static constexpr int64_t kMaxCatchUp = 3;  // frames sent at once after a late wake-up

  // The next frame of the voice, and what is needed to fade it out.
  struct NextVoice {
    FramePlace place;
    uint32_t generation;  // the queue's
    uint64_t replays;
    uint32_t timestamp;
    std::vector<uint8_t> payload;
    std::vector<SentFrame> heard;  // the last frames before it
  };

  void OnClose() override;
  enum class Stopped : uint8_t { kCleared, kTaken };
  Replay::Rest StopReplay(Stopped how, size_t most_sent, ClearedQueue* cleared);
  void MakeReplay(std::unique_ptr<Replay> replay);
  const Replay* RunningReplay() const;  // null: there is none, or a clear stopped it
  bool LookAtVoice(uint32_t track, NextVoice* next);
  std::vector<uint8_t> FadedPayload(const NextVoice& next) const;
  bool BeginFade(const NextVoice& next, std::unique_ptr<FadeFrame> fade);
  void EndFade(uint32_t cleared_generation);

  // The clock's.
  int64_t DueOfTick(int64_t now_ns) const;
  void SkipMissed(int64_t now_ns);
  void Transmit(const Target& target, const JoinedSound::Frame& joined, int64_t now_ns);
  void SendToListeners(TickSound sound, int64_t now_ns);
  TickSound TakeSound(const JoinedSound::Frame& joined);
  TickSound TakeVoice(const JoinedSound::Frame& joined);
  JoinedSound::Frame TakeJoined();
  TickSound TakeRepeated(FadeFrame* fade);
  TickSound TakeQueued(FadeFrame* fade, const JoinedSound::Frame& joined);
  TickSound StandStill();
  bool MarksWait() const;
  void SendDigit(const Target& target, const DigitSender::Packet& digit);
  void ReachMarks(int64_t at_ns);

  void LeaveRelay();
  void RelayOne(Relay& relay, const RelayedPacket& packet, const uint8_t* payload, int64_t now_ns);
  void SendRelayedSound(const Target& target, Relay& relay, const RelayedPacket& packet,
                        const uint8_t* payload, const RelayNumbers::Place& place, int64_t now_ns);
  bool RelaySounds(int64_t now_ns) const;
  bool VoiceGoesFirst() const;
  StreamPlace NextPlace() const;
  void GoOnAfterRelay();

  PlayoutQueue queue_;
  std::atomic<bool> paused_{false};
  ReadyWatch room_;
  DigitSender digits_;

  // The clock's.
  int64_t phase_ns_ = 0;
  bool in_track_ = false;      // the last frame's track has not reached its end
  uint32_t track_ = 0;         // the last frame's
  uint32_t generation_ = 0;    // the last frame's
  bool relayed_last_ = false;  // the last packet was relayed, and its sound ends at relayed_end_
  uint32_t relayed_end_ = 0;
  Counter underruns_;  // read by any thread

  // Made by callers, never taken back, used by the clock.
  std::unique_ptr<Audience> held_audience_;
  std::atomic<Audience*> audience_{nullptr};
  // Made by callers under control_mutex_, used by the clock unless it is rewinding.
  std::unique_ptr<Replay> held_replay_;
  std::atomic<Replay*> replay_{nullptr};
  std::atomic<bool> rewinding_{false};
  uint64_t replays_ = 0;  // made so far; under control_mutex_
  // Made by callers under control_mutex_, used by the clock. Null in fade_: nothing is faded.
  std::unique_ptr<FadeFrame> held_fade_;
  std::atomic<FadeFrame*> fade_{nullptr};
  std::shared_ptr<Relay> held_relay_;
  std::atomic<Relay*> relay_{nullptr};
  std::shared_ptr<JoinedSound> held_joined_;
  std::atomic<JoinedSound*> joined_{nullptr};
  std::unique_ptr<VoiceHistory> held_history_;
  std::atomic<VoiceHistory*> history_{nullptr};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_STREAM_H_
