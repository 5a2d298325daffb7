// The sound of one caller: a jitter buffer, the decoders, concealment and time stretching.
//
//   packets, as they arrive ──▶ Put ──▶ buffer ──▶ decode, recover or conceal ──▶ stretch ──▶ Pull
//
// Each Pull yields one quantum of sound, 16 ms for listeners, and 5 ms or a whole frame for joined calls, so
// that one minute of the call is one minute of samples. The delay between arrival and sound follows the
// jitter of the network. Time stretching moves it, and corrects the drift between the far end's clock and
// ours.
//
// An object belongs to one thread at a time. Time is a parameter. After construction memory is allocated only
// for the decoder of a codec that was not used before.
#ifndef PARLEY_MEDIA_HEAR_CALLER_SOUND_H_
#define PARLEY_MEDIA_HEAR_CALLER_SOUND_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "audio/time_stretch.h"
#include "audio/voice_codec.h"
#include "media/hear/delay_estimator.h"
#include "media/hear/media_timeline.h"
#include "media/hear/packet_buffer.h"
#include "media/hear/sound_queue.h"

namespace parley {

struct HeardPacket {
  // kComfortNoise: RFC 3389; silence until the next sound. kEvent: RFC 4733; it takes a sequence number.
  enum Kind : uint8_t { kSound, kComfortNoise, kEvent };
  Kind kind = kSound;
  VoiceCodec codec = VoiceCodec::kPcmu;  // of kSound
  uint32_t clock_rate = 8000;            // Hz of the RTP timestamp
  uint64_t sequence = 0;                 // extended over its wraps, continuous within one source
  uint64_t timestamp = 0;                // extended
  int64_t arrival_ns = 0;
  const uint8_t* payload = nullptr;
  size_t bytes = 0;
  bool redundant = false;  // a copy from a later RED packet (RFC 2198)
};

// Counters begin at construction and only grow.
struct HearingFigures {
  uint64_t samples = 0;    // yielded since the first packet
  uint64_t concealed = 0;  // samples in the place of lost or late sound, counted when the next packet comes
  uint64_t recovered = 0;  // samples from in-band FEC or RED
  uint64_t stretched = 0;  // samples that stretching inserted or removed
  uint64_t late_packets = 0;  // came after their time; they count as lost, too
  uint64_t lost_packets = 0;  // sequence numbers that had not come when it was their time
  uint64_t discarded = 0;     // packets: malformed, or the oldest of a full buffer
  uint64_t restarts = 0;      // changes of the source, and jumps of its timestamp or sequence number
  uint64_t missed = 0;        // samples: silence in a listener's ring, because the listening thread was late
  double delay_ms = 0;        // from the arrival of the fastest packets to their sound
  double target_ms = 0;       // the delay that the jitter asks for
  double jitter_ms = 0;       // RFC 3550, section 6.4.1
  double drift_ppm = 0;       // positive: the far end's clock is faster than ours
};

class CallerSound {
 public:
  static constexpr int kRate = 16'000;                            // Hz
  static constexpr size_t kQuantum = 256;                         // samples of a listener's Pull: 16 ms
  static constexpr size_t kMostQuantum = 960;                     // 60 ms
  static constexpr size_t kMostBytes = PacketBuffer::kMostBytes;  // of a payload

  struct Limits {
    double least_ms = 20, most_ms = 200;  // of the delay
    size_t quantum = kQuantum;            // samples of one Pull, at most kMostQuantum
  };
  using MakeDecoder = std::function<std::unique_ptr<VoiceDecoder>(VoiceCodec)>;

  // `make` makes decoders of kRate; VoiceDecoder::Make by default.
  explicit CallerSound(Limits limits, MakeDecoder make = nullptr);
  ~CallerSound();
  CallerSound(const CallerSound&) = delete;
  CallerSound& operator=(const CallerSound&) = delete;

  // Copies the payload. The buffer holds at most 1 s of sound or 100 packets; then the oldest are discarded.
  void Put(const HeardPacket& packet);
  // The packets that follow are of another source (SSRC), or their sequence numbers began again.
  void Restart();
  // Writes the quantum that is due at `now_ns`, which advances by a quantum from call to call. False:
  // all are zero, because nothing was heard yet or it is a pause.
  bool Pull(int64_t now_ns, float* out);
  const HearingFigures& figures() const { return figures_; }
  // Codec of the sound that was decoded last; absent before the first.
  std::optional<VoiceCodec> codec() const { return codec_; }
  // The samples of each Pull from now on. `follows_packets`: where a quantum is a whole number of packets, it
  // ends where a packet ends, so that it waits for no packet longer than the jitter asks for.
  void SetQuantum(size_t samples, bool follows_packets);

 private:
  static constexpr int kCodecs = 5;
  // Samples of kRate:
  static constexpr size_t kMostPayload = static_cast<size_t>(VoiceDecoder::kMostMs) * kRate / 1000;
  static constexpr size_t kMostConcealed = 1920;  // in a row; silence follows
  // The delay is corrected where it is so far above or below its target.
  static constexpr double kMostAbove = 192, kMostBelow = 48;
  // A quantum that follows packets ends so long before the end of its last packet, which rounding needs.
  static constexpr double kCushion = 16;
  // It waits for a packet less only where that packet would still be so much earlier than it has to be.
  static constexpr double kMarginSlack = 96;
  // The time between two corrections is shorter where the delay is kUrgent above its target.
  static constexpr double kStretchPause = 1536, kUrgentPause = 512, kUrgent = 1600;
  // The delay starts afresh after so many milliseconds without packets.
  static constexpr double kPauseMs = 2000;

  void CountLate(uint32_t epoch, uint64_t sequence);
  bool Accepts(const HeardPacket& packet, size_t* samples);
  MediaTimeline::Place PlaceOf(const HeardPacket& packet, size_t samples);
  void BeginEpoch(const MediaTimeline::Place& place, bool first);
  void Observe(const HeardPacket& packet, const MediaTimeline::Place& place, size_t samples);
  void Store(const HeardPacket& packet, const MediaTimeline::Place& place, size_t samples);
  size_t Enough() const { return quantum_ + TimeStretch::kLongest; }  // to remove a period and to pull
  void Fill(size_t count);
  void Produce(size_t count);
  void Hold(size_t count);
  void FillGap(const BufferedPacket& next, size_t count);
  bool Recover(const BufferedPacket& next, size_t gap);
  void PassSilence(size_t gap, size_t count);
  bool Wait(const BufferedPacket& next, size_t count);
  void Take();
  void TakeSilence(const BufferedPacket& packet);
  void TakeSound(const BufferedPacket& packet);
  void Steer();
  void Conceal(size_t count);
  void Advance(size_t count);
  uint64_t MissingBefore(const BufferedPacket& packet) const;
  void Count(const BufferedPacket& packet);
  void Settle(bool was_sound);
  VoiceDecoder* DecoderOf(VoiceCodec codec);
  double Samples(int64_t ns) const { return static_cast<double>(ns - origin_ns_) * (kRate * 1e-9); }
  double DelayAt(int64_t position) const;
  bool FollowsPackets() const {
    return follows_packets_ && packet_samples_ > 0 && quantum_ % packet_samples_ == 0;
  }
  double ChooseTarget() const;
  double MostBelow() const { return FollowsPackets() ? kCushion + 2 : kMostBelow; }

  size_t quantum_;
  bool follows_packets_ = false;
  const MakeDecoder make_;
  std::array<std::unique_ptr<VoiceDecoder>, kCodecs> decoders_;
  VoiceDecoder* decoder_ = nullptr;  // of the sound that was decoded last
  uint32_t decoder_epoch_ = 0;       // of the same
  std::optional<VoiceCodec> codec_;  // of the same
  HearingFigures figures_;
  DelayEstimator estimator_;
  MediaTimeline timeline_;
  PacketBuffer buffer_;
  SoundQueue queue_;

  int64_t origin_ns_ = 0, arrival_ns_ = 0;  // the first arrival, and the last one
  double now_ = 0;                          // samples since the first arrival
  double target_ = 0;                       // of the delay at this Pull, in samples
  int64_t packet_position_ = 0;             // of the packet with sound that came last
  size_t packet_samples_ = 0;               // of the same
  double stretched_at_ = 0;                 // the same, of the last stretching
  // The cursor is the position of the sample that is appended next. The sound from the floor to the cursor
  // was concealed before it was known to be late, lost or a pause. If it still comes, the cursor goes back
  // to it.
  int64_t cursor_ = 0, floor_ = 0;
  size_t unsettled_ = 0;                             // samples concealed between the two
  size_t concealed_ = 0;                             // in a row
  bool in_pause_ = true;                             // silence until the next sound
  bool fresh_start_ = true;                          // the next sound begins with the target delay
  bool corrects_ = true;                             // packets seem to carry in-band error correction
  int uncorrected_ = 0;                              // losses in a row for which they had none
  uint64_t not_in_ = 0;                              // sequence number of the last packet that had none
  uint32_t last_epoch_ = 0;                          // of the packet that was taken last
  uint64_t first_sequence_ = 0, last_sequence_ = 0;  // taken in that epoch
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HEAR_CALLER_SOUND_H_
