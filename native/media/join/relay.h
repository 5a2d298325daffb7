// RTP packets of one far end on their way to another, without decoding: one direction of a bridge.
//
//   intake of the one call ──Put──▶ ring ──▶ clock ──▶ stream of the other call (stream_relay.cc)
//
// The stream sends them under its own SSRC, numbers, timestamps and keys. The ring is fixed in size and the
// number of packets a second is limited, so that a flood on the one side reaches the other one thinned.
#ifndef PARLEY_MEDIA_JOIN_RELAY_H_
#define PARLEY_MEDIA_JOIN_RELAY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "audio/voice_codec.h"
#include "media/counters.h"
#include "media/join/relay_numbers.h"
#include "media/record_ring.h"

namespace parley {

class Clock;

class Relay {
 public:
  static constexpr size_t kBytes = size_t{1} << 14;  // 1.5 s of G.711
  static constexpr int64_t kMostPerSecond = 250;     // packets; frames of 10 ms are 100
  static constexpr int64_t kMostAtOnce = 100;        // packets, after a silence of the network
  static constexpr size_t kMaxPayload = 1500;        // bytes

  // The payloads that the other far end understands.
  struct Format {
    VoiceCodec codec;
    uint32_t clock_rate;
    bool comfort_noise;
  };
  struct Figures {
    uint64_t packets = 0, octets = 0;  // that were handed to the wire
    uint64_t paused = 0;    // dropped, because a voice or key of ours went first, or nothing can be sent
    uint64_t refused = 0;   // not understood by the other far end; keys are not counted
    uint64_t repeated = 0;  // too late, or recovered from RED before
    uint64_t dropped = 0;   // above the rate, or without room in the ring
  };

  // `slot`: the stream's among the clock's relays.
  Relay(std::shared_ptr<Clock> clock, size_t slot, const Format& format)
      : clock_(std::move(clock)), slot_(slot), format_(format) {}

  // Any thread.
  // False: packets are dropped uncounted, and the stream sends its own pause.
  void SetOpen(bool open) { open_.store(open); }
  bool open() const { return open_.load() && !closed(); }
  // The stream does not read any more.
  void Close() { closed_.store(true); }
  bool closed() const { return closed_.load(); }
  Figures figures() const;
  size_t slot() const { return slot_; }
  const Format& format() const { return format_; }

  // The intake, one thread at a time.
  void Put(RelayedPacket packet, const uint8_t* payload);
  void NoteRefused() { refused_.Add(); }

  // The clock. The oldest packet, valid until Pop(). False: none waits.
  bool Front(RelayedPacket* packet, const uint8_t** payload) { return ring_.Front(packet, payload); }
  void Pop() { ring_.Pop(); }
  void NoteSent(size_t octets) { packets_.Add(), octets_.Add(octets); }
  void NotePaused() { paused_.Add(); }
  void NoteRepeated() { repeated_.Add(); }
  struct Progress {
    RelayNumbers numbers;
    int64_t quiet_from_ns = INT64_MIN;  // without another packet the far end is silent from then on
    uint32_t due_timestamp = 0;         // of a packet that is due at due_ns for those who listen
    int64_t due_ns = 0;
  };
  Progress& progress() { return progress_; }

 private:
  bool HasTurn(int64_t now_ns);

  const std::shared_ptr<Clock> clock_;
  const size_t slot_;
  const Format format_;
  std::atomic<bool> open_{true}, closed_{false};

  // The intake's.
  bool was_open_ = true;
  uint32_t openings_ = 0;
  int64_t turn_ns_ = 0;  // when the packets that had a turn would all be due at kMostPerSecond

  Progress progress_;  // the clock's
  RecordRing<RelayedPacket> ring_{kBytes};
  Counter packets_, octets_, paused_, refused_, repeated_, dropped_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_RELAY_H_
