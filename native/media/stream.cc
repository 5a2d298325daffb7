#include "media/stream.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "media/clock.h"

namespace parley {

namespace {

// Of 64 kbit/s, and of 384 kbit/s with L16, whatever the length of a frame, so that the queue remembers as
// many milliseconds.
size_t UsualPayload(const StreamConfig& config) {
  const int64_t bytes_per_ms = config.codec == VoiceCodec::kL16 ? 48 : 8;
  return static_cast<size_t>(config.period_ns * bytes_per_ms / kNsPerMs);
}

std::vector<TakenEntry> EntriesOf(std::vector<SentFrame> frames) {
  std::vector<TakenEntry> entries;
  entries.reserve(frames.size());
  for (SentFrame& frame : frames) {
    entries.push_back({EntryKind::kFrame, frame.track, 0, std::move(frame.payload)});
  }
  return entries;
}

}  // namespace

Stream::Stream(std::shared_ptr<Clock> clock, StreamConfig config, std::unique_ptr<SrtpSender> srtp,
               uint64_t seed)
    : RtpStream(std::move(clock), std::move(config), std::move(srtp), seed),
      queue_(config_.low_frames, config_.high_frames, UsualPayload(config_)) {
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
  StopReplay(Stopped::kCleared, 0, &cleared);
  if (queue_.ShouldNotify()) room_.Fire();
  return cleared;
}

TakenQueue Stream::Take(size_t most_sent) {
  TakenQueue taken = queue_.Take(most_sent);
  Replay::Rest rest = StopReplay(Stopped::kTaken, most_sent, &taken.cleared);
  if (!rest.left.empty()) {
    // The track may have ended before it is heard again: what follows its frames is no underrun.
    std::vector<TakenEntry> left = EntriesOf(std::move(rest.left));
    left.push_back({EntryKind::kRest, left.back().track, 0, {}});
    taken.sent = EntriesOf(std::move(rest.sent));
    taken.entries.insert(taken.entries.begin(), std::make_move_iterator(left.begin()),
                         std::make_move_iterator(left.end()));
  }
  if (queue_.ShouldNotify()) room_.Fire();
  return taken;
}

// The counts become those of what was heard: frames that were to be sent again count as dropped. Repeated
// frames were heard, but count as dropped as well where another queue sends them.
Replay::Rest Stream::StopReplay(Stopped how, size_t most_sent, ClearedQueue* cleared) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  EndFade(cleared->generation);
  if (!held_replay_) return {};
  Replay::Rest rest = held_replay_->Stop(most_sent);
  for (const SentFrame& frame : rest.left) {
    if (frame.counted && how == Stopped::kCleared) continue;
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
  // Another frame is the next one now.
  if (FadeFrame* const fade = fade_.load()) fade->Pause();
  MakeReplay(std::make_unique<Replay>(queue_, RunningReplay(), received_timestamp));
  rewinding_.store(false);
  return held_replay_->left();
}

// Under control_mutex_, while the clock does not use it.
void Stream::MakeReplay(std::unique_ptr<Replay> replay) {
  replay_.store(replay.get());
  held_replay_ = std::move(replay);
  replays_++;
}

const Replay* Stream::RunningReplay() const {
  return held_replay_ && !held_replay_->stopped() ? held_replay_.get() : nullptr;
}

// The clock may take the frame while it is encoded: the next one is tried then. A thread that gets no time
// stops the voice without a fade.
FadeResult Stream::Fade(uint32_t track) {
  constexpr int kFadeTries = 3, kTries = 5;
  for (int n = 0; n < kTries; n++) {
    NextVoice next;
    if (!LookAtVoice(track, &next)) return FadeResult::kNothing;
    std::vector<uint8_t> payload = n < kFadeTries ? FadedPayload(next) : std::vector<uint8_t>();
    const FadeResult result = payload.empty() ? FadeResult::kCut : FadeResult::kFaded;
    auto fade = std::make_unique<FadeFrame>(track, next.generation, next.place, std::move(payload));
    if (BeginFade(next, std::move(fade))) return result;
  }
  return FadeResult::kNothing;
}

bool Stream::LookAtVoice(uint32_t track, NextVoice* next) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (closed() || paused_.load() || faded()) return false;
  const size_t most = config_.codec ? FadeEncoder::WarmFrames(*config_.codec, config_.period_ns) : 0;
  next->timestamp = timestamp_.load();  // before the frames: all that left later have later ones
  next->generation = queue_.generation();
  next->replays = replays_;
  const Replay* const replay = RunningReplay();
  size_t at = 0;
  if (const SentFrame* const frame = replay ? replay->LookAtNext(&at) : nullptr) {
    next->place = {replay, at};
    next->payload = frame->payload;
    next->heard = replay->Before(at, most);
    return frame->track == track;
  }
  PlayoutQueue::NextFrame queued;
  if (!queue_.LookAtNext(&queued) || queued.track != track) return false;
  next->place = {nullptr, queued.number};
  next->payload = std::move(queued.payload);
  std::vector<SentFrame> since = queue_.SentSince(replay ? replay->sent_up_to() : 0, most).frames;
  if (replay) next->heard = replay->Before(replay->size(), most - since.size());
  std::move(since.begin(), since.end(), std::back_inserter(next->heard));
  return true;
}

std::vector<uint8_t> Stream::FadedPayload(const NextVoice& next) const {
  if (!config_.codec) return {};
  const FadeEncoder encoder({*config_.codec, config_.period_ns, config_.ticks_per_frame, config_.silence});
  return encoder.Encode(next.heard, next.payload, next.timestamp);
}

// False: something else happened to the frame meanwhile.
bool Stream::BeginFade(const NextVoice& next, std::unique_ptr<FadeFrame> fade) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (closed() || faded() || next.replays != replays_ || next.generation != queue_.generation()) return false;
  fade_.store(fade.get());
  clock_->Quiesce();  // a tick that did not see it is over, and none uses the one before
  held_fade_ = std::move(fade);
  const FramePlace& place = next.place;
  const bool waits = place.replay ? held_replay_->Waits(place.number) : queue_.Waits(place.number);
  if (waits || held_fade_->has_left()) return true;
  fade_.store(nullptr);
  return false;
}

// Under control_mutex_. A fade of what was queued after the clear goes on.
void Stream::EndFade(uint32_t cleared_generation) {
  const FadeFrame* const fade = fade_.load();
  if (fade && fade->generation() != cleared_generation) fade_.store(nullptr);
}

std::optional<size_t> Stream::ResumeFade(uint32_t track, uint32_t back_frames) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  const FadeFrame* const fade = fade_.load();
  if (!fade || fade->track() != track || closed()) return std::nullopt;
  rewinding_.store(true);
  clock_->Quiesce();
  const Repeat repeat{fade->track(), fade->has_left() ? size_t{1} : 0, back_frames};
  const bool repeats = fade->paused() && std::max(repeat.faded, repeat.back) > 0;
  const size_t waiting = held_replay_ ? held_replay_->left() : 0;
  if (repeats) MakeReplay(std::make_unique<Replay>(queue_, RunningReplay(), repeat));
  fade_.store(nullptr);
  clock_->Quiesce();  // a tick that took the fade is over, so that none fades another frame
  rewinding_.store(false);
  return repeats ? held_replay_->left() - waiting : 0;
}

// The fade is freed by callers, under the same mutex.
std::optional<uint32_t> Stream::FadedTrack() {
  std::lock_guard<std::mutex> lock(control_mutex_);
  const FadeFrame* const fade = fade_.load();
  return fade ? std::optional<uint32_t>(fade->track()) : std::nullopt;
}

void Stream::BeginFaded(uint32_t track) {
  held_fade_ =
      std::make_unique<FadeFrame>(track, queue_.generation(), FramePlace{nullptr, 0}, std::vector<uint8_t>());
  fade_.store(held_fade_.get());
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
  LeaveRelay();
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

void Stream::SetJoined(std::shared_ptr<JoinedSound> joined) {
  std::lock_guard<std::mutex> lock(control_mutex_);
  if (joined == held_joined_) return;
  joined_.store(joined.get());
  clock_->Quiesce();
  held_joined_ = std::move(joined);
}

// The clock.

void Stream::Begin(int64_t due, int64_t phase) {
  tick_ns_ = due_ns = due;
  phase_ns_ = phase;
}

bool Stream::Tick(int64_t now_ns) {
  if (queue_.closed()) return false;
  SkipMissed(now_ns);
  const JoinedSound::Frame joined = TakeJoined();
  if (const Target* const way = target()) {
    Transmit(*way, joined, now_ns);
  } else {
    BeginPause();
    DropBundle();
    digits_.Abandon();
    SendToListeners(StandStill(), now_ns);
  }
  EndTick();
  due_ns = DueOfTick(now_ns);
  if (queue_.ShouldNotify() && !clock_->PostEvent({this, now_ns, 0, 0, ClockEvent::kRoom}))
    queue_.RepeatNotice();
  return true;
}

// A tick of a stream that is relayed has nothing to send. All such streams tick at the same moments, so that
// the clock wakes once for many of them.
int64_t Stream::DueOfTick(int64_t now_ns) const {
  if (!target() || !RelaySounds(now_ns) || VoiceGoesFirst()) return tick_ns_;
  constexpr int64_t kShared = Clock::kRelayDelayNs;
  return (tick_ns_ + kShared - 1) / kShared * kShared;
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
void Stream::Transmit(const Target& target, const JoinedSound::Frame& joined, int64_t now_ns) {
  FlushUnsent();
  if (!paused_.load() && !MarksWait()) ReachMarks(now_ns);
  if (RelaySounds(now_ns) && !VoiceGoesFirst()) return SendRtcpAndReports(target, now_ns);
  GoOnAfterRelay();
  DigitSender::Packet digit;
  const DigitSender::Turn turn = digits_.Next(timestamp_.load(), config_.period_ns, &digit);
  TickSound sound = turn == DigitSender::Turn::kNothing ? TakeSound(joined) : StandStill();
  VoiceHistory* const history = history_.load();
  sound.timestamp = timestamp_.load();
  sound.history = history;
  if (turn == DigitSender::Turn::kEvent) {
    SendDigit(target, digit);
  } else {
    SendSound(target, sound);
  }
  SendToListeners(sound, now_ns);
  if (history && sound.voice) history->Add(sound.voice, sound.bytes, sound.timestamp);
  SendRtcpAndReports(target, now_ns);
}

// They have a path of their own, so that nothing is repeated for them.
void Stream::SendToListeners(TickSound sound, int64_t now_ns) {
  const Audience* const audience = audience_.load();
  if (!audience) return;
  if (sound.again) sound.voice = nullptr;
  sound.timestamp = timestamp_.load();
  sound.history = history_.load();
  audience->ForEach([&](Listener& listener) { listener.Tick(sound, tick_ns_, now_ns); });
}

JoinedSound::Frame Stream::TakeJoined() {
  JoinedSound* const joined = joined_.load();
  return joined ? joined->Take(tick_ns_) : JoinedSound::Frame();
}

// A paused stream is silent. Otherwise joined sound goes on where there is no voice, also in the pause of a
// fade.
TickSound Stream::TakeSound(const JoinedSound::Frame& joined) {
  if (paused_.load()) return StandStill();
  const TickSound voice = TakeVoice(joined);
  const bool free = !voice.voice && joined.payload && joined.replaces == JoinedSound::kReplacesNothing;
  return free ? TickSound{joined.payload, joined.bytes} : voice;
}

TickSound Stream::TakeVoice(const JoinedSound::Frame& joined) {
  FadeFrame* const fade = fade_.load();
  if (rewinding_.load() || (fade && fade->paused())) return {};
  const TickSound repeated = TakeRepeated(fade);
  return repeated.voice ? repeated : TakeQueued(fade, joined);
}

// A pause. A frame that was to fade out would begin with a click after it.
TickSound Stream::StandStill() {
  if (FadeFrame* const fade = fade_.load()) fade->Pause();
  return {};
}

// The frames stay where they are until callers make another replay. Listeners lost nothing, but hear what is
// repeated for the sake of its sound.
TickSound Stream::TakeRepeated(FadeFrame* fade) {
  Replay* const replay = replay_.load();
  size_t at = 0;
  const SentFrame* const frame = replay ? replay->Claim(timestamp_.load(), &at) : nullptr;
  if (!frame) return {};
  const std::vector<uint8_t>* const faded = fade ? fade->TakeFor({replay, at}) : nullptr;
  const std::vector<uint8_t>& payload = faded ? *faded : frame->payload;
  TickSound sound{payload.data(), payload.size()};
  sound.again = !frame->counted;
  sound.before_mark = replay->left() == 0 && queue_.MarkFollows();
  return sound;
}

// A joined frame that contains the head frame of the queue is sent in its place, unless it fades out.
TickSound Stream::TakeQueued(FadeFrame* fade, const JoinedSound::Frame& joined) {
  const PlayoutQueue::Frame frame = queue_.TakeFrame(clock_->frame(), timestamp_.load());
  if (frame.bytes > 0) {
    track_ = frame.track;
    generation_ = frame.generation;
    in_track_ = true;
    const std::vector<uint8_t>* const faded = fade ? fade->TakeFor({nullptr, frame.number}) : nullptr;
    TickSound sound{clock_->frame(), frame.bytes};
    if (joined.payload && joined.replaces == frame.number) sound = {joined.payload, joined.bytes};
    if (faded) sound = {faded->data(), faded->size()};
    sound.before_mark = queue_.MarkFollows();
    return sound;
  }
  // Read after the queue was found empty: a clear, also one in the middle of this
  // tick, raises the generation before it empties the queue.
  if (in_track_ && queue_.generation() == generation_) {
    underruns_.Add();
    clock_->counters().underruns.Add();
  }
  return {};
}

// Marks in the queue are behind a replay, and behind the frame that faded out.
bool Stream::MarksWait() const {
  if (rewinding_.load()) return true;
  const Replay* const replay = replay_.load();
  if (replay && replay->left() > 0) return true;
  const FadeFrame* const fade = fade_.load();
  return fade && fade->paused();
}

void Stream::SendDigit(const Target& target, const DigitSender::Packet& digit) {
  SendBundle(target);
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
  if (packet.kind == PacketKind::kVoice && !MarksWait()) ReachMarks(at_ns);
}

}  // namespace parley
