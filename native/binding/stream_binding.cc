// Node-API binding of streams: playouts and listeners. Pushes may come from any thread. A stale handle or
// generation returns -1, never an exception, because a call may end while a worker still encodes for it.
#include <algorithm>
#include <cmath>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/init.h"
#include "binding/media_binding.h"
#include "binding/notifier.h"

namespace parley {
namespace {

constexpr double kMinFrameMs = 10, kMaxFrameMs = 60;
constexpr double kMaxQueueMs = 60'000;
constexpr double kMaxReportMs = 3'600'000;
constexpr double kMaxDigitMs = 8000;
constexpr double kMaxPauseMs = 60'000;
constexpr char kNoRoom[] = "the media plane is closed or has all the streams it can take";

std::shared_ptr<StreamEntry> EntryOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<StreamEntry>(HandleOf(info));
}

// Null as well for the handle of a listener.
std::shared_ptr<Stream> PlayoutOf(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  return entry ? entry->playout : nullptr;
}

// Null options.srtp sends unencrypted RTP, for SIP peers without SRTP.
std::unique_ptr<SrtpSender> SrtpIn(const Napi::Value& value, uint32_t ssrc) {
  if (value.IsUndefined() || value.IsNull()) return nullptr;
  const SrtpKeys keys = SrtpKeysIn(value);
  auto sender =
      SrtpSender::Create(keys.profile, keys.key.data, keys.key.size, keys.salt.data, keys.salt.size, ssrc);
  if (!sender) throw Napi::Error::New(value.Env(), "the crypto library refused the SRTP keys");
  return sender;
}

ComfortNoise NoiseIn(const Napi::Value& value) {
  if (value.IsUndefined() || value.IsNull()) return {};
  const Napi::Object noise = ObjectIn(value, "comfortNoise");
  return {true, static_cast<uint8_t>(Uint32In(noise.Get("payloadType"), "comfortNoise.payloadType", 0, 127)),
          static_cast<uint8_t>(Uint32In(noise.Get("level"), "comfortNoise.level", 0, 127)),
          MsToNs(NumberIn(noise.Get("intervalMs"), "comfortNoise.intervalMs", 10, kMaxPauseMs))};
}

RedConfig RedIn(const Napi::Value& value) {
  if (value.IsUndefined() || value.IsNull()) return {};
  const Napi::Object red = ObjectIn(value, "red");
  return {static_cast<uint8_t>(Uint32In(red.Get("payloadType"), "red.payloadType", 0, 127)),
          Uint32In(red.Get("distance"), "red.distance", 1, VoiceHistory::kDepth)};
}

// The part that playouts and listeners have in common.
StreamConfig RtpConfigIn(const Napi::Object& options) {
  StreamConfig config;
  config.ssrc = Uint32In(options.Get("ssrc"), "ssrc");
  config.payload_type = static_cast<uint8_t>(Uint32In(options.Get("payloadType"), "payloadType", 0, 127));
  config.sequence = static_cast<uint16_t>(Uint32In(options.Get("sequence"), "sequence", 0, 65'535));
  config.timestamp = Uint32In(options.Get("timestamp"), "timestamp");
  config.noise = NoiseIn(options.Get("comfortNoise"));
  config.red = RedIn(options.Get("red"));
  if (options.Has("silenceIntervalMs")) {
    config.silence_interval_ns =
        MsToNs(NumberIn(options.Get("silenceIntervalMs"), "silenceIntervalMs", 0, kMaxPauseMs));
  }
  config.cname = StringIn(options.Get("cname"), "cname");
  if (config.cname.size() > kMaxCname) {
    throw Napi::RangeError::New(options.Env(), "cname must have at most 255 bytes");
  }
  config.report_interval_ns =
      MsToNs(NumberIn(options.Get("rtcpIntervalMs"), "rtcpIntervalMs", 0, kMaxReportMs));
  return config;
}

StreamConfig ConfigIn(const Napi::Object& options) {
  StreamConfig config = RtpConfigIn(options);
  config.clock_rate = Uint32In(options.Get("clockRate"), "clockRate", 1000, 192'000);
  config.ticks_per_frame = Uint32In(options.Get("ticksPerFrame"), "ticksPerFrame", 1, 192'000);
  if (!options.Get("codec").IsUndefined()) config.codec = VoiceCodecIn(options.Get("codec"), "codec");
  const double frame_ms = NumberIn(options.Get("frameMs"), "frameMs", kMinFrameMs, kMaxFrameMs);
  config.period_ns = MsToNs(frame_ms);
  const Bytes silence = BytesIn(options.Get("silence"), "silence", 0, PlayoutQueue::kMaxPayload);
  config.silence.assign(silence.data, silence.data + silence.size);
  const double low_ms = NumberIn(options.Get("lowMs"), "lowMs", 0, kMaxQueueMs);
  const double high_ms = NumberIn(options.Get("highMs"), "highMs", std::max(low_ms, frame_ms), kMaxQueueMs);
  config.low_frames = std::max(1U, static_cast<uint32_t>(std::ceil(low_ms / frame_ms)));
  config.high_frames = std::max(config.low_frames, static_cast<uint32_t>(std::ceil(high_ms / frame_ms)));
  return config;
}

// Null if no stream is named. Validates the named stream completely.
std::shared_ptr<StreamEntry> ContinuedIn(const Napi::Object& options, uint32_t ssrc) {
  if (!options.Has("continues")) return nullptr;
  const double handle = NumberIn(options.Get("continues"), "continues", 0, 9007199254740991.0);
  auto before = Handles::Process().Get<StreamEntry>(static_cast<Handle>(handle));
  if (before && !before->playout) before = nullptr;
  if (before && before->playout->config().ssrc != ssrc) {
    throw Napi::RangeError::New(options.Env(), "ssrc must be that of the stream to be continued");
  }
  if (!before) throw Napi::Error::New(options.Env(), "the stream to be continued is closed");
  return before;
}

// The stream that goes on takes over what the far end sees of the one before,
// and its sender when the keys are the same: one key has one sender, ever. The pause of a fade goes on. The
// handle of the one before stays, for its counts and what it had queued. False:
// it is closed, and nothing has changed.
bool GoOn(Stream& before, Stream& stream, const Napi::Value& srtp) {
  bool same_keys = false;
  if (!srtp.IsUndefined() && !srtp.IsNull()) {
    const SrtpKeys keys = SrtpKeysIn(srtp);
    same_keys = before.HasKeys(keys.profile, keys.key.data, keys.key.size, keys.salt.data, keys.salt.size);
  }
  StreamRemains remains;
  if (!before.Leave(&remains)) return false;
  if (!same_keys) remains.srtp.reset();
  stream.GoOnFrom(std::move(remains));
  if (const auto track = before.FadedTrack()) stream.BeginFaded(*track);
  return true;
}

// The previous stream is detached last: it continues if this throws.
Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto owner = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  if (!owner) throw Napi::Error::New(env, "this media plane is closed");
  const Napi::Object options = ObjectIn(info[1], "options");
  StreamConfig config = ConfigIn(options);
  auto srtp = SrtpIn(options.Get("srtp"), config.ssrc);
  const auto before = ContinuedIn(options, config.ssrc);
  const auto stream = owner->plane->MakeStream(std::move(config), std::move(srtp));
  if (!stream) throw Napi::Error::New(env, kNoRoom);
  const Handle handle = Handles::Process().Add(
      std::make_shared<StreamEntry>(StreamEntry{owner->plane, stream, stream, nullptr}));
  const auto refuse = [&](const char* why) {
    if (handle != 0) Handles::Process().Remove<StreamEntry>(handle);
    owner->plane->Abandon(stream.get());
    return Napi::Error::New(env, why);
  };
  if (handle == 0) throw refuse("no handle is free");
  if (before && !GoOn(*before->playout, *stream, options.Get("srtp"))) {
    throw refuse("the stream to be continued is closed");
  }
  stream->set_handle(handle);
  if (!owner->plane->Begin(stream.get())) throw refuse(kNoRoom);
  return ToNumber(env, handle);
}

Napi::Value SetTarget(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = EntryOf(info);
  std::unique_ptr<Target> target;
  if (!info[1].IsNull()) {
    const Napi::Object options = ObjectIn(info[1], "target");
    if (options.Has("capture")) {
      if (entry) target = entry->plane->CaptureTarget();
    } else {
      const int fd = static_cast<int>(Uint32In(options.Get("fd"), "fd", 0, INT32_MAX));
      const std::string address = StringIn(options.Get("address"), "address");
      const auto port = static_cast<uint16_t>(Uint32In(options.Get("port"), "port", 1, 65'535));
      std::string problem;
      target = Target::Socket(fd, address, port, &problem);
      if (!target) throw Napi::RangeError::New(env, problem);
    }
  }
  return Napi::Boolean::New(env, entry && entry->stream->SetTarget(std::move(target)));
}

Napi::Value Answer(Napi::Env env, PushResult result) {
  return Napi::Number::New(env, static_cast<int>(result));
}

Napi::Value Push(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t generation = Uint32In(info[1], "generation");
  const uint32_t track = Uint32In(info[2], "track");
  const Bytes payload = BytesIn(info[3], "payload", 1, PlayoutQueue::kMaxPayload);
  if (!playout) return Answer(info.Env(), PushResult::kStale);
  return Answer(info.Env(), playout->queue().Push(generation, track, payload.data, payload.size));
}

Napi::Value Mark(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t generation = Uint32In(info[1], "generation");
  const uint32_t track = Uint32In(info[2], "track");
  const uint32_t mark = Uint32In(info[3], "mark");
  const bool end_of_track = BooleanIn(info[4], "endOfTrack");
  if (!playout) return Answer(info.Env(), PushResult::kStale);
  return Answer(info.Env(), playout->queue().Mark(generation, track, mark, end_of_track));
}

Napi::Value Rest(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t generation = Uint32In(info[1], "generation");
  const uint32_t track = Uint32In(info[2], "track");
  if (!playout) return Answer(info.Env(), PushResult::kStale);
  return Answer(info.Env(), playout->queue().Rest(generation, track));
}

// A closed stream counts as having room: the watcher detects the closure when it pushes.
Napi::Value WatchRoom(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  return Napi::Boolean::New(info.Env(), !playout || playout->WatchRoom(Notifier::For(info.Env())));
}

Napi::Value Generation(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  return ToNumber(info.Env(), uint64_t{playout ? playout->queue().generation() : 0});
}

void Pause(const Napi::CallbackInfo& info) {
  if (const auto playout = PlayoutOf(info)) playout->SetPaused(true);
}

void Resume(const Napi::CallbackInfo& info) {
  if (const auto playout = PlayoutOf(info)) playout->SetPaused(false);
}

Napi::Value ToObject(Napi::Env env, const TrackCount& count) {
  Napi::Array marks = Napi::Array::New(env, count.dropped_marks.size());
  for (size_t i = 0; i < count.dropped_marks.size(); i++) {
    marks.Set(static_cast<uint32_t>(i), ToNumber(env, uint64_t{count.dropped_marks[i]}));
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("track", ToNumber(env, uint64_t{count.track}));
  result.Set("sentFrames", ToNumber(env, count.sent_frames));
  result.Set("droppedFrames", ToNumber(env, count.dropped_frames));
  result.Set("droppedMarks", marks);
  return result;
}

Napi::Object ToObject(Napi::Env env, const ClearedQueue& cleared) {
  Napi::Array tracks = Napi::Array::New(env, cleared.tracks.size());
  for (size_t i = 0; i < cleared.tracks.size(); i++) {
    tracks.Set(static_cast<uint32_t>(i), ToObject(env, cleared.tracks[i]));
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("generation", ToNumber(env, uint64_t{cleared.generation}));
  result.Set("tracks", tracks);
  return result;
}

Napi::Value Clear(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  return playout ? ToObject(info.Env(), playout->Clear()) : info.Env().Null();
}

void Put32(uint8_t*& to, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) *to++ = static_cast<uint8_t>(value >> shift);
}

// kind (8 bits; 4 for a frame that left), track (32), mark or bytes of payload (32), payload; little-endian.
uint8_t* WriteEntry(uint8_t* to, const TakenEntry& entry, uint8_t kind) {
  const auto bytes = static_cast<uint32_t>(entry.payload.size());
  *to++ = kind;
  Put32(to, entry.track);
  Put32(to, entry.kind == EntryKind::kFrame ? bytes : entry.mark);
  return std::copy(entry.payload.begin(), entry.payload.end(), to);
}

Napi::Value Take(const Napi::CallbackInfo& info) {
  constexpr size_t kHeadBytes = 9, kMostSent = 8;
  constexpr uint8_t kSentFrame = 4;
  const Napi::Env env = info.Env();
  const auto playout = PlayoutOf(info);
  if (!playout) return env.Null();
  const TakenQueue taken = playout->Take(kMostSent);
  size_t bytes = 0;
  for (const auto* list : {&taken.sent, &taken.entries}) {
    for (const TakenEntry& one : *list) bytes += kHeadBytes + one.payload.size();
  }
  Napi::Uint8Array packed = Napi::Uint8Array::New(env, bytes);
  uint8_t* to = packed.Data();
  for (const TakenEntry& one : taken.sent) to = WriteEntry(to, one, kSentFrame);
  for (const TakenEntry& one : taken.entries) to = WriteEntry(to, one, static_cast<uint8_t>(one.kind));
  Napi::Object result = ToObject(env, taken.cleared);
  result.Set("entries", packed);
  return result;
}

Napi::Value Sent(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t track = Uint32In(info[1], "track");
  return ToNumber(info.Env(), playout ? playout->Sent(track) : uint64_t{0});
}

Napi::Value Rewind(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t timestamp = Uint32In(info[1], "receivedTimestamp");
  return ToNumber(info.Env(), uint64_t{playout ? playout->Rewind(timestamp) : 0});
}

// True as well where the voice is cut off for want of a codec.
Napi::Value Fade(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t track = Uint32In(info[1], "track");
  return Napi::Boolean::New(info.Env(), playout && playout->Fade(track) != FadeResult::kNothing);
}

Napi::Value ResumeFade(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const uint32_t track = Uint32In(info[1], "track");
  const uint32_t back_frames = Uint32In(info[2], "backFrames");
  return Napi::Boolean::New(info.Env(), playout && playout->ResumeFade(track, back_frames).has_value());
}

Napi::Value PressDigit(const Napi::CallbackInfo& info) {
  const auto playout = PlayoutOf(info);
  const Napi::Object options = ObjectIn(info[1], "digit");
  DigitTone tone{};
  tone.event = static_cast<uint8_t>(Uint32In(options.Get("event"), "event", 0, 255));
  tone.payload_type = static_cast<uint8_t>(Uint32In(options.Get("payloadType"), "payloadType", 0, 127));
  tone.volume = static_cast<uint8_t>(Uint32In(options.Get("volume"), "volume", 0, 63));
  tone.clock_rate = Uint32In(options.Get("clockRate"), "clockRate", 1000, 192'000);
  // The duration field has 16 bits.
  const double most_ms = std::min(kMaxDigitMs, DigitSender::kLongestTicks * 1000.0 / tone.clock_rate);
  tone.duration_ns = MsToNs(NumberIn(options.Get("durationMs"), "durationMs", 10, std::floor(most_ms)));
  tone.pause_ns = MsToNs(NumberIn(options.Get("pauseMs"), "pauseMs", 0, kMaxPauseMs));
  return Napi::Boolean::New(info.Env(), playout && playout->PressDigit(tone));
}

Napi::Value SendRtcp(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const Bytes compound = BytesIn(info[1], "compound", 8, SIZE_MAX);
  return Napi::Boolean::New(info.Env(), entry && entry->stream->SendRtcp(compound.data, compound.size));
}

Napi::Value ToObject(Napi::Env env, const StreamStats& stats) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("packets", ToNumber(env, stats.packets));
  result.Set("octets", ToNumber(env, stats.octets));
  result.Set("silencePackets", ToNumber(env, stats.silence_packets));
  result.Set("underruns", ToNumber(env, stats.underruns));
  result.Set("lateTicks", ToNumber(env, stats.late_ticks));
  result.Set("skippedTicks", ToNumber(env, stats.skipped_ticks));
  result.Set("sendErrors", ToNumber(env, stats.send_errors));
  result.Set("carried", ToNumber(env, stats.carried));
  result.Set("queuedMs", Napi::Number::New(env, stats.queued_ms));
  result.Set("sequence", ToNumber(env, uint64_t{stats.sequence}));
  result.Set("timestamp", ToNumber(env, uint64_t{stats.timestamp}));
  result.Set("digitsWaiting", ToNumber(env, uint64_t{stats.digits_waiting}));
  return result;
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  return entry ? ToObject(info.Env(), entry->stream->Stats()) : info.Env().Null();
}

// Only frames of Opus can be joined, for at most 120 ms (RFC 6716, section 3.2.5).
void SetFramesPerPacket(const Napi::CallbackInfo& info) {
  constexpr int64_t kMostNs = 120'000'000;
  const auto entry = EntryOf(info);
  uint32_t most = OpusBundle::kMaxFrames;
  if (entry) {
    const StreamConfig& config = entry->stream->config();
    const auto fitting = static_cast<uint32_t>(kMostNs / config.period_ns);
    most = config.codec == VoiceCodec::kOpus ? std::min(most, fitting) : 1;
  }
  const uint32_t frames = Uint32In(info[1], "frames", 1, most);
  if (entry) entry->stream->SetFramesPerPacket(frames);
}

void SetRedundancy(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const uint32_t most = entry ? entry->stream->config().red.distance : VoiceHistory::kDepth;
  const uint32_t distance = Uint32In(info[1], "redundancy", 0, most);
  if (entry) entry->stream->SetRedundancy(distance);
}

// Closes the stream and returns its final counts.
Napi::Value Close(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Remove<StreamEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  if (entry->playout) entry->plane->CloseStream(entry->playout.get());
  else entry->plane->CloseListener(entry->listener.get());
  return ToObject(info.Env(), entry->stream->Stats());
}

Napi::Value Answer(Napi::Env env, MediaPlane::Follow result) {
  switch (result) {
    case MediaPlane::Follow::kFollows:
      return Napi::String::New(env, "follows");
    case MediaPlane::Follow::kClosed:
      return Napi::String::New(env, "closed");
    case MediaPlane::Follow::kDiffers:
      return Napi::String::New(env, "differs");
    case MediaPlane::Follow::kFull:
      return Napi::String::New(env, "full");
  }
  return env.Null();
}

// The handle, or why there is none: "closed" (the source), or "full" (the source, or the plane).
Napi::Value OpenListener(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto source = EntryOf(info);
  const Napi::Object options = ObjectIn(info[1], "options");
  StreamConfig config = RtpConfigIn(options);
  auto srtp = SrtpIn(options.Get("srtp"), config.ssrc);
  if (!source || !source->playout) return Answer(env, MediaPlane::Follow::kClosed);
  config = Listener::Following(source->playout->config(), std::move(config));
  MediaPlane& plane = *source->plane;
  const auto listener = plane.MakeListener(std::move(config), std::move(srtp));
  if (!listener) return Answer(env, MediaPlane::Follow::kFull);
  const Handle handle = Handles::Process().Add(
      std::make_shared<StreamEntry>(StreamEntry{source->plane, listener, nullptr, listener}));
  listener->set_handle(handle);
  const auto result =
      handle == 0 ? MediaPlane::Follow::kFull : plane.FollowSource(listener.get(), source->playout);
  if (result == MediaPlane::Follow::kFollows) return ToNumber(env, handle);
  if (handle != 0) Handles::Process().Remove<StreamEntry>(handle);
  plane.CloseListener(listener.get());
  return Answer(env, result);
}

Napi::Value FollowSource(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const double handle = NumberIn(info[1], "source", 0, 9007199254740991.0);
  const auto source = Handles::Process().Get<StreamEntry>(static_cast<Handle>(handle));
  if (!entry || !entry->listener || !source || !source->playout || source->plane != entry->plane) {
    return Answer(info.Env(), MediaPlane::Follow::kClosed);
  }
  return Answer(info.Env(), entry->plane->FollowSource(entry->listener.get(), source->playout));
}

}  // namespace

void InitStreams(Napi::Env env, Napi::Object exports) {
  exports.Set("streamOpen", Napi::Function::New(env, Open, "streamOpen"));
  exports.Set("streamTarget", Napi::Function::New(env, SetTarget, "streamTarget"));
  exports.Set("streamPush", Napi::Function::New(env, Push, "streamPush"));
  exports.Set("streamMark", Napi::Function::New(env, Mark, "streamMark"));
  exports.Set("streamRest", Napi::Function::New(env, Rest, "streamRest"));
  exports.Set("streamWatchRoom", Napi::Function::New(env, WatchRoom, "streamWatchRoom"));
  exports.Set("streamGeneration", Napi::Function::New(env, Generation, "streamGeneration"));
  exports.Set("streamPause", Napi::Function::New(env, Pause, "streamPause"));
  exports.Set("streamResume", Napi::Function::New(env, Resume, "streamResume"));
  exports.Set("streamClear", Napi::Function::New(env, Clear, "streamClear"));
  exports.Set("streamRewind", Napi::Function::New(env, Rewind, "streamRewind"));
  exports.Set("streamFade", Napi::Function::New(env, Fade, "streamFade"));
  exports.Set("streamResumeFade", Napi::Function::New(env, ResumeFade, "streamResumeFade"));
  exports.Set("streamTake", Napi::Function::New(env, Take, "streamTake"));
  exports.Set("streamSent", Napi::Function::New(env, Sent, "streamSent"));
  exports.Set("streamDigit", Napi::Function::New(env, PressDigit, "streamDigit"));
  exports.Set("streamSendRtcp", Napi::Function::New(env, SendRtcp, "streamSendRtcp"));
  exports.Set("streamFramesPerPacket", Napi::Function::New(env, SetFramesPerPacket, "streamFramesPerPacket"));
  exports.Set("streamRedundancy", Napi::Function::New(env, SetRedundancy, "streamRedundancy"));
  exports.Set("listenerOpen", Napi::Function::New(env, OpenListener, "listenerOpen"));
  exports.Set("listenerFollow", Napi::Function::New(env, FollowSource, "listenerFollow"));
  exports.Set("streamStats", Napi::Function::New(env, Stats, "streamStats"));
  exports.Set("streamClose", Napi::Function::New(env, Close, "streamClose"));
}

void InitMedia(Napi::Env env, Napi::Object exports) {
  InitPlanes(env, exports);
  InitStreams(env, exports);
  InitSockets(env, exports);
  InitRelays(env, exports);
}

}  // namespace parley
