// The relayed packets of a stream: when they leave, their place in it, and who else hears them.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "media/clock.h"
#include "media/stream.h"

namespace parley {
namespace {

constexpr size_t kMostInATurn = 16;  // packets of one stream
// After so long without a packet the stream sends the pause of its own again. In discontinuous transmission
// Opus sends each 400 ms, and comfort noise may stand for seconds.
constexpr int64_t kSoundLastsNs = 500 * kNsPerMs, kNoiseLastsNs = 10 * kNsPerSecond;
constexpr int64_t kMostAheadNs = 120 * kNsPerMs;
constexpr int64_t kMostBehindNs = kNsPerSecond;  // after a longer stall of the timestamps they count anew
constexpr size_t kMostDtxBytes = 2;              // of an Opus packet without sound (RFC 7587, 3.1.3)

bool IsNoise(const RelayedPacket& packet, const Relay& relay) {
  return packet.kind == RelayedPacket::kComfortNoise ||
         (relay.format().codec == VoiceCodec::kOpus && packet.bytes <= kMostDtxBytes);
}

// The first sample is due for listeners then: at distances of the source's timestamps. A packet is
// never due before it leaves, so that the latest ones decide; and where the source's clock is faster than
// ours, not long after it.
int64_t DueOf(Relay::Progress* progress, const RelayNumbers::Place& place, uint32_t clock_rate,
              int64_t now_ns) {
  const auto step = static_cast<int32_t>(place.timestamp - progress->due_timestamp);
  const int64_t due_ns = progress->due_ns + step * kNsPerSecond / int64_t{clock_rate};
  const bool fits = !place.begins && due_ns >= now_ns && due_ns <= now_ns + kMostAheadNs;
  progress->due_timestamp = place.timestamp;
  progress->due_ns = fits ? due_ns : now_ns;
  return progress->due_ns;
}

// The moment of a timestamp by the far end's clock, as the fastest packets show it. Later ones move it by no
// more than 500 ppm, which follows a clock that is slower than ours.
MediaMoment MomentOf(const std::optional<MediaMoment>& before, const MediaMoment& arrival,
                     uint32_t clock_rate) {
  if (!before) return arrival;
  const auto step = static_cast<int32_t>(arrival.timestamp - before->timestamp);
  const int64_t step_ns = step * kNsPerSecond / int64_t{clock_rate};
  const int64_t expected_ns = before->at_ns + step_ns + std::abs(step_ns) / 2000;
  const bool fits = arrival.at_ns - expected_ns < kMostBehindNs;
  return {arrival.timestamp, fits ? std::min(arrival.at_ns, expected_ns) : arrival.at_ns};
}

bool IsBefore(uint32_t one, uint32_t other) { return static_cast<int32_t>(one - other) < 0; }

}  // namespace

// Callers.

std::shared_ptr<Relay> Stream::OpenRelay() {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (closed() || held_relay_ || !config_.codec) return nullptr;
  const std::optional<size_t> slot = clock_->relays().Add(this);
  if (!slot) return nullptr;
  const Relay::Format format{*config_.codec, config_.clock_rate, config_.noise.on};
  held_relay_ = std::make_shared<Relay>(clock_, *slot, format);
  relay_.store(held_relay_.get());
  return held_relay_;
}

void Stream::CloseRelay(const Relay* relay) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (!held_relay_ || held_relay_.get() != relay) return;
  LeaveRelay();
  clock_->Quiesce();
  held_relay_.reset();
}

// Under control_mutex_. The clock may use it until its turn ends.
void Stream::LeaveRelay() {
  if (!relay_.exchange(nullptr)) return;
  held_relay_->Close();
  clock_->relays().Remove(held_relay_->slot());
}

// The clock.

bool Stream::SendRelayed(int64_t now_ns) {
  Relay* const relay = relay_.load();
  RelayedPacket packet;
  const uint8_t* payload = nullptr;
  for (size_t count = 0; relay && relay->Front(&packet, &payload); count++) {
    if (count == kMostInATurn) return true;
    RelayOne(*relay, packet, payload, now_ns);
    relay->Pop();
  }
  return false;
}

void Stream::RelayOne(Relay& relay, const RelayedPacket& packet, const uint8_t* payload, int64_t now_ns) {
  if (!relay.open()) return;
  Relay::Progress& progress = relay.progress();
  const bool sounds = packet.kind != RelayedPacket::kLeftOut;
  if (sounds) progress.quiet_from_ns = now_ns + (IsNoise(packet, relay) ? kNoiseLastsNs : kSoundLastsNs);
  const Target* const way = target();
  if (!way || VoiceGoesFirst()) return sounds ? relay.NotePaused() : void();
  SendBundle(*way);
  RelayNumbers::Place place;
  bool repeated = false;
  if (progress.numbers.Map(packet, NextPlace(), &place, &repeated)) {
    SendRelayedSound(*way, relay, packet, payload, place, now_ns);
  } else if (repeated) {
    relay.NoteRepeated();
  }
}

// A packet that others overtook is repeated nowhere: its place has passed.
void Stream::SendRelayedSound(const Target& target, Relay& relay, const RelayedPacket& packet,
                              const uint8_t* payload, const RelayNumbers::Place& place, int64_t now_ns) {
  VoiceHistory* const history = history_.load();
  const bool is_voice = packet.kind == RelayedPacket::kSound && !place.late;
  TickSound sound{payload, packet.bytes};
  sound.timestamp = place.timestamp;
  sound.history = is_voice ? history : nullptr;
  const int64_t due_ns = is_voice ? DueOf(&relay.progress(), place, config_.clock_rate, now_ns) : now_ns;
  const RtpHeader header{packet.marker || place.begins, config_.payload_type, place.sequence, place.timestamp,
                         config_.ssrc};
  const bool is_noise = packet.kind == RelayedPacket::kComfortNoise;
  if (RtpStream::SendRelayed(target, {sound, is_noise, place.late, due_ns, packet.arrival_ns}, header))
    relay.NoteSent(packet.bytes);
  if (place.late) return;
  relayed_last_ = true;
  relayed_end_ = place.timestamp + (is_noise ? 0 : TicksIn(*config_.codec, payload, packet.bytes));
  if (!is_voice) return;
  if (place.begins) relayed_moment_.reset();
  relayed_moment_ = MomentOf(relayed_moment_, {place.timestamp, packet.arrival_ns}, config_.clock_rate);
  if (const Audience* const audience = audience_.load())
    audience->ForEach([&](Listener& listener) { listener.Tick(sound, due_ns, now_ns); });
  if (history) history->Add(payload, packet.bytes, place.timestamp);
}

// The answer is about the bridge, not about a pause in it.
bool Stream::RelaySounds(int64_t now_ns) const {
  Relay* const relay = relay_.load();
  if (!relay) return false;
  if (!relay->open()) relay->progress().quiet_from_ns = INT64_MIN;
  return now_ns < relay->progress().quiet_from_ns;
}

// Its frame may be late: what another far end says does not fit into a word of ours.
bool Stream::VoiceGoesFirst() const {
  if (paused_.load() || rewinding_.load() || fade_.load() || digits_.waiting() > 0) return true;
  const Replay* const replay = replay_.load();
  if (replay && replay->left() > 0) return true;
  return queue_.QueuedFrames() > 0 || (in_track_ && queue_.generation() == generation_);
}

StreamPlace Stream::NextPlace() const {
  const uint32_t timestamp = timestamp_.load(std::memory_order_relaxed);
  const bool is_behind = relayed_last_ && IsBefore(timestamp, relayed_end_);
  return {sequence_.load(std::memory_order_relaxed), is_behind ? relayed_end_ : timestamp};
}

// The far end's clock may be ahead of ours.
void Stream::GoOnAfterRelay() {
  timestamp_.store(NextPlace().timestamp, std::memory_order_relaxed);
  relayed_last_ = false;
  relayed_moment_.reset();
}

}  // namespace parley
