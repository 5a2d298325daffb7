// Node-API binding of mixers: members, sounds of ours, recordings of the mix, and events. A stale handle
// gives an ordinary result, never an exception, because a call may end at any time.
#include <algorithm>
#include <utility>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/media_binding.h"
#include "binding/notifier.h"

namespace parley {
namespace {

constexpr double kMostGain = 4, kMostId = UINT32_MAX;
constexpr double kLeastSinkMs = 32, kMostSinkMs = 60'000;

// A member of a mixer: what its socket has to be told when it leaves.
struct MemberEntry {
  std::shared_ptr<Mixer> mixer;
  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<JoinedLeg> leg;
  uint32_t id;
};

std::shared_ptr<MixerEntry> MixerOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<MixerEntry>(HandleOf(info));
}

std::shared_ptr<MemberEntry> MemberOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<MemberEntry>(HandleOf(info));
}

MemberChange ChangeIn(const Napi::Value& value) {
  const Napi::Object options = ObjectIn(value, "options");
  MemberChange change;
  if (options.Has("muted")) change.muted = BooleanIn(options.Get("muted"), "muted");
  if (options.Has("deaf")) change.deaf = BooleanIn(options.Get("deaf"), "deaf");
  if (options.Has("gain"))
    change.gain = static_cast<float>(NumberIn(options.Get("gain"), "gain", 0, kMostGain));
  if (!options.Has("voice")) return change;
  const std::string voice = StringIn(options.Get("voice"), "voice");
  if (voice != "paused" && voice != "ducked")
    throw Napi::RangeError::New(value.Env(), "voice must be 'paused' or 'ducked'");
  change.voice = voice == "ducked" ? VoiceMode::kDucked : VoiceMode::kPaused;
  return change;
}

Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto owner = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  if (!owner) throw Napi::Error::New(env, "this media plane is closed");
  const Napi::Object options = ObjectIn(info[1], "options");
  const uint32_t loudest = Uint32In(options.Get("loudest"), "loudest", 1, MixPlaces::kMostLoudest);
  const auto mixer = std::make_shared<Mixer>(loudest);
  const Handle handle = Handles::Process().Add(std::make_shared<MixerEntry>(MixerEntry{owner->plane, mixer}));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  if (owner->plane->BeginMixer(mixer)) return ToNumber(env, handle);
  Handles::Process().Remove<MixerEntry>(handle);
  throw Napi::Error::New(env, "this media plane is closed");
}

// Returns the handle and the id of the member, or a word with the reason why there is none.
Napi::Value Add(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = MixerOf(info);
  const auto socket = Handles::Process().Get<SocketEntry>(HandleIn(info[1], "socket"));
  const MemberChange change = ChangeIn(info[2]);
  if (!entry || !socket || socket->plane != entry->plane) return Napi::String::New(env, "closed");
  auto leg = std::make_shared<JoinedLeg>();
  const uint32_t id = entry->mixer->AddMember(leg, change);
  if (id == 0) return Napi::String::New(env, "full");
  const auto member =
      std::make_shared<MemberEntry>(MemberEntry{entry->mixer, socket->socket, std::move(leg), id});
  const Handle handle = Handles::Process().Add(member);
  if (handle != 0 && socket->socket->JoinMixer(member->leg)) {
    Napi::Array result = Napi::Array::New(env, 2);
    result.Set(0U, ToNumber(env, handle));
    result.Set(1U, ToNumber(env, id));
    return result;
  }
  entry->mixer->RemoveMember(id);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  Handles::Process().Remove<MemberEntry>(handle);
  return Napi::String::New(env, "taken");
}

void Change(const Napi::CallbackInfo& info) {
  const auto entry = MemberOf(info);
  const MemberChange change = ChangeIn(info[1]);
  if (entry) entry->mixer->ChangeMember(entry->id, change);
}

void Hears(const Napi::CallbackInfo& info) {
  const auto entry = MemberOf(info);
  const uint32_t other = Uint32In(info[1], "other", 1, kMostId);
  const bool is_heard = BooleanIn(info[2], "isHeard");
  if (entry) entry->mixer->Hears(entry->id, other, is_heard);
}

// The socket lets go first: nothing is mixed for it when this returns.
void Leave(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Remove<MemberEntry>(HandleOf(info));
  if (!entry) return;
  entry->socket->LeaveMixer(entry->leg.get());
  entry->mixer->RemoveMember(entry->id);
}

Napi::Value MemberStats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = MemberOf(info);
  const auto stats = entry ? entry->mixer->StatsOf(entry->id) : std::nullopt;
  if (!stats) return env.Null();
  Napi::Object result = Napi::Object::New(env);
  result.Set("frames", ToNumber(env, stats->frames));
  result.Set("late", ToNumber(env, stats->late));
  result.Set("missed", ToNumber(env, stats->missed));
  result.Set("shared", ToNumber(env, stats->shared));
  result.Set("levelDb", Napi::Number::New(env, stats->level_db));
  result.Set("isSpeaking", Napi::Boolean::New(env, stats->speaking));
  result.Set("hearing", HearingOf(env, stats->hearing));
  return result;
}

// Returns the id of the source; 0 if the mixer is closed or has all that it can have.
Napi::Value AddSource(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = MixerOf(info);
  const auto ring = Handles::Process().Get<ByteRing>(HandleIn(info[1], "ring"));
  const auto gain = static_cast<float>(NumberIn(info[2], "gain", 0, kMostGain));
  if (!info[3].IsArray()) throw Napi::TypeError::New(env, "only must be an array");
  const auto list = info[3].As<Napi::Array>();
  std::vector<uint32_t> only(list.Length());
  for (uint32_t n = 0; n < list.Length(); n++) only[n] = Uint32In(list.Get(n), "only[]", 1, kMostId);
  const uint32_t id = entry && ring ? entry->mixer->AddSource(ring, std::move(only), gain) : 0;
  return ToNumber(env, uint64_t{id});
}

void RemoveSource(const Napi::CallbackInfo& info) {
  const auto entry = MixerOf(info);
  const uint32_t id = Uint32In(info[1], "source", 1, kMostId);
  if (entry) entry->mixer->RemoveSource(id);
}

// Returns the handle of the ring; 0 if the mixer is closed or has all that it can have.
Napi::Value AddSink(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = MixerOf(info);
  const double capacity_ms = NumberIn(info[1], "capacityMs", kLeastSinkMs, kMostSinkMs);
  const auto samples = static_cast<size_t>(capacity_ms * JoinedSound::kRate / 1000);
  if (!entry) return ToNumber(env, 0);
  const auto ring = std::make_shared<ByteRing>(samples * sizeof(float));
  const Handle handle = Handles::Process().Add(ring);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  if (entry->mixer->AddSink(ring, entry->plane->time().Now())) return ToNumber(env, handle);
  Handles::Process().Remove<ByteRing>(handle);
  return ToNumber(env, 0);
}

// The ring ends, and what it holds can still be read.
void RemoveSink(const Napi::CallbackInfo& info) {
  const auto entry = MixerOf(info);
  const auto ring = Handles::Process().Get<ByteRing>(HandleIn(info[1], "ring"));
  if (entry && ring) entry->mixer->RemoveSink(ring.get());
}

// Groups of two: id of a member or a source, kind.
Napi::Value TakeEvents(const Napi::CallbackInfo& info) {
  const auto entry = MixerOf(info);
  const std::vector<MixerEvent> events = entry ? entry->mixer->TakeEvents() : std::vector<MixerEvent>();
  auto result = Napi::Float64Array::New(info.Env(), events.size() * 2);
  double* out = result.Data();
  for (const MixerEvent& event : events) {
    *out++ = event.id;
    *out++ = event.kind;
  }
  return result;
}

// A closed mixer counts as ready: the watcher detects the closure when it uses it.
Napi::Value Watch(const Napi::CallbackInfo& info) {
  const auto entry = MixerOf(info);
  const bool ready = !entry || entry->mixer->Watch(Notifier::For(info.Env()), HandleOf(info));
  return Napi::Boolean::New(info.Env(), ready);
}

void Close(const Napi::CallbackInfo& info) {
  if (const auto entry = Handles::Process().Remove<MixerEntry>(HandleOf(info)))
    entry->plane->CloseMixer(entry->mixer.get());
}

}  // namespace

void InitMixers(Napi::Env env, Napi::Object exports) {
  exports.Set("mixerOpen", Napi::Function::New(env, Open, "mixerOpen"));
  exports.Set("mixerAdd", Napi::Function::New(env, Add, "mixerAdd"));
  exports.Set("memberChange", Napi::Function::New(env, Change, "memberChange"));
  exports.Set("memberHears", Napi::Function::New(env, Hears, "memberHears"));
  exports.Set("memberLeave", Napi::Function::New(env, Leave, "memberLeave"));
  exports.Set("memberStats", Napi::Function::New(env, MemberStats, "memberStats"));
  exports.Set("mixerAddSource", Napi::Function::New(env, AddSource, "mixerAddSource"));
  exports.Set("mixerRemoveSource", Napi::Function::New(env, RemoveSource, "mixerRemoveSource"));
  exports.Set("mixerAddSink", Napi::Function::New(env, AddSink, "mixerAddSink"));
  exports.Set("mixerRemoveSink", Napi::Function::New(env, RemoveSink, "mixerRemoveSink"));
  exports.Set("mixerTakeEvents", Napi::Function::New(env, TakeEvents, "mixerTakeEvents"));
  exports.Set("mixerWatch", Napi::Function::New(env, Watch, "mixerWatch"));
  exports.Set("mixerClose", Napi::Function::New(env, Close, "mixerClose"));
}

}  // namespace parley
