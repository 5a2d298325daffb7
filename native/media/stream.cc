#include "media/stream.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "media/clock.h"

namespace parley {

Stream::Stream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp,
               uint64_t seed)
    : RtpStream(std::move(clock), std::move(config), std::move(srtp), seed),
      queue_(config_.low_frames, config_.high_frames) {
  if (config_.red.distance == 0) return;
  held_history_ = std::make_unique<VoiceHistory>();
  history_.store(held_history_.get());
}

// Callers.

bool Stream::PressDigit(const DigitTone& tone) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  return !queue_.closed() && digits_.Put(tone);
}

bool Stream::WatchRoom(std::shared_ptr<ReadySink> sink) {
  room_.Arm(std::move(sink), handle_);
  const bool room = queue_.AwaitRoom();
  if (room) room_.Disarm();
  return room;
}

ClearedQueue Stream::Clear() {
  ClearedQueue cleared = queue_.Clear();
  StopReplay(0, &cleared);
  if (queue_.ShouldNotify()) room_.Fire();
  return cleared;
}

TakenQueue Stream::Take(size_t most_sent) {
  TakenQueue taken = queue_.Take(most_sent);
  Replay::Rest rest = StopReplay(most_sent, &taken.cleared);
  if (!rest.left.empty()) {
    // The track may have ended before it is heard again: what follows its frames is no underrun.
    rest.left.push_back({EntryKind::kRest, rest.left.back().track, 0, {}});
    taken.sent = std::move(rest.sent);
    taken.entries.insert(taken.entries.begin(), std::make_move_iterator(rest.left.begin()),
                         std::make_move_iterator(rest.left.end()));
  }
  if (queue_.ShouldNotify()) room_.Fire();
  return taken;
}

// The counts become those of what was heard: frames that were to be sent again count as dropped.
Replay::Rest Stream::StopReplay(size_t most_sent, ClearedQueue* cleared) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (!held_replay_) return {};
  Replay::Rest rest = held_replay_->Stop(most_sent);
  for (const TakenEntry& frame : rest.left) {
    for (TrackCount& count : cleared->tracks) {
      if (count.track != frame.track) continue;
      count.sent_frames--;
      count.dropped_frames++;
    }
  }
  return rest;
}

uint64_t Stream::Sent(uint32_t track) {
  const uint64_t sent = queue_.Sent(track);
  std::lock_guard<std::mutex> lock(control_mutex_);
  return sent - std::min(sent, held_replay_ ? held_replay_->LeftOf(track) : 0);
}

size_t Stream::Rewind(uint32_t received_timestamp) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  rewinding_.store(true);
  clock_->Quiesce();
  const bool goes_on = held_replay_ && !held_replay_->stopped();
  auto replay = std::make_unique<Replay>(queue_, goes_on ? held_replay_.get() : nullptr, received_timestamp);
  replay_.store(replay.get());
  held_replay_ = std::move(replay);
  rewinding_.store(false);
  return held_replay_->left();
}

void Stream::MarksDelivered(uint32_t count) {
  queue_.MarksDelivered(count);
  if (queue_.ShouldNotify()) room_.Fire();
}

StreamStats Stream::Stats() const {
  StreamStats stats = RtpStream::Stats();
  stats.underruns = underruns_.value();
  stats.queued_ms = NsToMs(config_.period_ns) * queue_.QueuedFrames();
  stats.digits_waiting = digits_.waiting();
  return stats;
}

void Stream::OnClose() {
  queue_.Close();
  if (queue_.ShouldNotify()) room_.Fire();
}

Audience& Stream::OpenAudience(bool with_history) {
  if (with_history && !held_history_) {
    held_history_ = std::make_unique<VoiceHistory>();
    history_.store(held_history_.get());
  }
  if (!held_audience_) {
    held_audience_ = std::make_unique<Audience>();
    audience_.store(held_audience_.get());
  }
  return *held_audience_;
}

// The clock.

void Stream::Begin(int64_t due, int64_t phase) {
  tick_ns_ = due_ns = due;
  phase_ns_ = phase;
}

bool Stream::Tick(int64_t now_ns) {
  if (queue_.closed()) return false;
  SkipMissed(now_ns);
  if (const Target* const way = target()) {
    Transmit(*way, now_ns);
  } else {
    BeginPause();
    digits_.Abandon();
  }
  EndTick();
  due_ns = tick_ns_;
  if (queue_.ShouldNotify() && !clock_->PostEvent({this, now_ns, 0, 0, ClockEvent::kRoom}))
    queue_.RepeatNotice();
  return true;
}

// After a longer stall the stream goes on from now: a burst of old frames would
// only fill the far end's jitter buffer. The frames stay queued and come later.
void Stream::SkipMissed(int64_t now_ns) {
  const int64_t missed = (now_ns - tick_ns_) / config_.period_ns;
  if (missed <= kMaxCatchUp) return;
  Skip(missed * config_.period_ns);
  skipped_ticks_.Add(static_cast<uint64_t>(missed));
  clock_->counters().skipped_ticks.Add(static_cast<uint64_t>(missed));
}

// A key, a frame, or silence in their place. Listeners get no keys.
void Stream::Transmit(const Target& target, int64_t now_ns) {
  FlushUnsent();
  if (!paused_.load() && !HasReplay()) ReachMarks(now_ns);
  DigitSender::Packet digit;
  const DigitSender::Turn turn = digits_.Next(timestamp_.load(), config_.period_ns, &digit);
  TickSound sound = turn == DigitSender::Turn::kNothing ? TakeSound() : TickSound{};
  VoiceHistory* const history = history_.load();
  sound.timestamp = timestamp_.load();
  sound.history = history;
  if (turn == DigitSender::Turn::kEvent) {
    SendDigit(target, digit);
  } else {
    SendSound(target, sound);
  }
  if (const Audience* const audience = audience_.load()) {
    audience->ForEach([&](Listener& listener) { listener.Tick(sound, tick_ns_, now_ns); });
  }
  if (history && sound.voice) history->Add(sound.voice, sound.bytes, sound.timestamp);
  SendRtcpAndReports(target, now_ns);
}

TickSound Stream::TakeSound() {
  if (paused_.load() || rewinding_.load()) return {};
  if (Replay* const replay = replay_.load()) {
    // The frames stay where they are until callers make another replay.
    if (const SentFrame* const frame = replay->Claim(timestamp_.load())) {
      return {frame->payload.data(), frame->payload.size()};
    }
  }
  const PlayoutQueue::Frame frame = queue_.TakeFrame(clock_->frame(), timestamp_.load());
  if (frame.bytes > 0) {
    track_ = frame.track;
    generation_ = frame.generation;
    in_track_ = true;
    return {clock_->frame(), frame.bytes};
  }
  // Read after the queue was found empty: a clear, also one in the middle of this
  // tick, raises the generation before it empties the queue.
  if (in_track_ && queue_.generation() == generation_) {
    underruns_.Add();
    clock_->counters().underruns.Add();
  }
  return {};
}

// Marks in the queue are behind it.
bool Stream::HasReplay() const {
  if (rewinding_.load()) return true;
  const Replay* const replay = replay_.load();
  return replay && replay->left() > 0;
}

void Stream::SendDigit(const Target& target, const DigitSender::Packet& digit) {
  BeginPause();
  RepeatSilence();
  uint8_t* const packet = clock_->wire().Buffer();
  std::memcpy(packet + kRtpHeaderBytes, digit.payload, sizeof(digit.payload));
  const uint16_t sequence = sequence_.load(std::memory_order_relaxed);
  const RtpHeader header{digit.marker, digit.payload_type, sequence, digit.timestamp, config_.ssrc};
  CommitRtp(target, packet, header, sizeof(digit.payload), PacketKind::kDigit);
}

// Everything before the queue's head has been sent, so marks at the head are reached.
void Stream::ReachMarks(int64_t at_ns) {
  PlayoutQueue::ReachedMark mark;
  while (queue_.TakeMark(&mark)) {
    if ((mark.end_of_track || mark.rest) && mark.track == track_) in_track_ = false;
    if (mark.rest) continue;
    if (!clock_->PostEvent({this, at_ns, mark.track, mark.mark, ClockEvent::kMark})) {
      queue_.MarksDelivered(1);
      clock_->counters().marks_lost.Add();
    }
  }
}

void Stream::OnSent(const Outgoing& packet, SendResult result, int64_t at_ns) {
  RtpStream::OnSent(packet, result, at_ns);
  if (packet.kind == PacketKind::kVoice && !HasReplay()) ReachMarks(at_ns);
}

}  // namespace parley
