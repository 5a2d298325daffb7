// Node-API binding of relays: one direction of a bridge each. A stale handle gives an ordinary result, never
// an exception, because a call may end at any time.
#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/media_binding.h"
#include "media/join/relay.h"

namespace parley {
namespace {

struct RelayEntry {
  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<Relay> relay;
};

std::shared_ptr<RelayEntry> EntryOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<RelayEntry>(HandleOf(info));
}

Napi::Value Name(const Napi::CallbackInfo& info, const char* reason) {
  return Napi::String::New(info.Env(), reason);
}

// The handle, or why there is none: "closed" (one of them, or they are of two planes), "opaque" (the stream
// has no codec) or "taken" (either is relayed already).
Napi::Value Open(const Napi::CallbackInfo& info) {
  const auto owner = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  const auto from = Handles::Process().Get<SocketEntry>(HandleIn(info[1], "socket"));
  const auto to = Handles::Process().Get<StreamEntry>(HandleIn(info[2], "stream"));
  if (!owner || !from || !to || !to->playout) return Name(info, "closed");
  if (from->plane != owner->plane || to->plane != owner->plane) return Name(info, "closed");
  Stream& stream = *to->playout;
  if (!stream.config().codec) return Name(info, "opaque");
  const auto relay = stream.OpenRelay();
  if (!relay) return Name(info, stream.closed() ? "closed" : "taken");
  if (!from->socket->RelayTo(relay)) {
    stream.CloseRelay(relay.get());
    return Name(info, "taken");
  }
  const Handle handle =
      Handles::Process().Add(std::make_shared<RelayEntry>(RelayEntry{from->socket, to->playout, relay}));
  if (handle != 0) return ToNumber(info.Env(), handle);
  from->socket->LeaveRelay(relay.get());
  stream.CloseRelay(relay.get());
  throw Napi::Error::New(info.Env(), "no handle is free");
}

void Flow(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const bool open = BooleanIn(info[1], "open");
  if (entry) entry->relay->SetOpen(open);
}

Napi::Value ToObject(Napi::Env env, const Relay::Figures& figures) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("packets", ToNumber(env, figures.packets));
  result.Set("octets", ToNumber(env, figures.octets));
  result.Set("paused", ToNumber(env, figures.paused));
  result.Set("refused", ToNumber(env, figures.refused));
  result.Set("repeated", ToNumber(env, figures.repeated));
  result.Set("dropped", ToNumber(env, figures.dropped));
  return result;
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  return entry ? ToObject(info.Env(), entry->relay->figures()) : info.Env().Null();
}

// Returns its final counts. The socket and the stream go on.
Napi::Value Close(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Remove<RelayEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  entry->socket->LeaveRelay(entry->relay.get());
  entry->stream->CloseRelay(entry->relay.get());
  return ToObject(info.Env(), entry->relay->figures());
}

}  // namespace

void InitRelays(Napi::Env env, Napi::Object exports) {
  exports.Set("relayOpen", Napi::Function::New(env, Open, "relayOpen"));
  exports.Set("relayFlow", Napi::Function::New(env, Flow, "relayFlow"));
  exports.Set("relayStats", Napi::Function::New(env, Stats, "relayStats"));
  exports.Set("relayClose", Napi::Function::New(env, Close, "relayClose"));
}

}  // namespace parley
