// Node-API binding of DTLS associations. The plane's DTLS thread does their work; only dtlsClose waits for a
// step of it. A stale handle gives an ordinary result, never an exception: datagrams may still arrive for a
// call that has ended.
#include <algorithm>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/init.h"
#include "binding/media_binding.h"

namespace parley {
namespace {

constexpr double kMinRetransmitMs = 15;  // OpenSSL takes less for nothing
constexpr double kMaxRetransmitMs = 2000;
constexpr uint32_t kMaxFingerprints = 32;

std::shared_ptr<DtlsEntry> EntryOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<DtlsEntry>(HandleOf(info));
}

const char* NameOf(DtlsEndpoint::State state) {
  switch (state) {
    case DtlsEndpoint::State::kNew:
      return "new";
    case DtlsEndpoint::State::kHandshaking:
      return "handshaking";
    case DtlsEndpoint::State::kOpen:
      return "open";
    case DtlsEndpoint::State::kClosed:
      return "closed";
    case DtlsEndpoint::State::kFailed:
      break;
  }
  return "failed";
}

const char* NameOf(DtlsEndpoint::Failure failure) {
  switch (failure) {
    case DtlsEndpoint::Failure::kNone:
      return "";
    case DtlsEndpoint::Failure::kFingerprint:
      return "fingerprint";
    case DtlsEndpoint::Failure::kNoProfile:
      return "no-profile";
    case DtlsEndpoint::Failure::kProtocol:
      break;
  }
  return "protocol";
}

Napi::Uint8Array ToBytes(Napi::Env env, const uint8_t* data, size_t size) {
  auto bytes = Napi::Uint8Array::New(env, size);
  std::copy_n(data, size, bytes.Data());
  return bytes;
}

Napi::Array ToArray(Napi::Env env, const std::vector<std::vector<uint8_t>>& datagrams) {
  Napi::Array result = Napi::Array::New(env, datagrams.size());
  for (size_t n = 0; n < datagrams.size(); n++) {
    result.Set(static_cast<uint32_t>(n), ToBytes(env, datagrams[n].data(), datagrams[n].size()));
  }
  return result;
}

Napi::Value MakeIdentity(const Napi::CallbackInfo& info) {
  std::string problem;
  const auto identity = DtlsIdentity::Make(&problem);
  if (!identity) throw Napi::Error::New(info.Env(), problem);
  const Handle handle = Handles::Process().Add(identity);
  if (handle == 0) throw Napi::Error::New(info.Env(), "no handle is free");
  return ToNumber(info.Env(), handle);
}

Napi::Value FingerprintOfIdentity(const Napi::CallbackInfo& info) {
  const auto identity = Handles::Process().Get<DtlsIdentity>(HandleOf(info));
  return identity ? Napi::String::New(info.Env(), identity->fingerprint()) : info.Env().Null();
}

void CloseIdentity(const Napi::CallbackInfo& info) {
  Handles::Process().Remove<DtlsIdentity>(HandleOf(info));
}

// Groups of two: hash, digest.
std::vector<DtlsFingerprint> FingerprintsIn(const Napi::Value& value) {
  if (!value.IsArray()) throw Napi::TypeError::New(value.Env(), "fingerprints must be an array");
  const auto list = value.As<Napi::Array>();
  if (list.Length() > 2 * kMaxFingerprints)
    throw Napi::RangeError::New(value.Env(), "fingerprints are too many");
  std::vector<DtlsFingerprint> fingerprints;
  for (uint32_t n = 0; n + 1 < list.Length(); n += 2) {
    fingerprints.push_back({StringIn(list.Get(n), "hash"), StringIn(list.Get(n + 1), "digest")});
  }
  return fingerprints;
}

// Returns the handle; 0: the plane has no room. Or a text with another reason why there is none.
Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto owner = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  if (!owner) throw Napi::Error::New(env, "this media plane is closed");
  const Napi::Object options = ObjectIn(info[1], "options");
  const double certificate = NumberIn(options.Get("certificate"), "certificate", 0, 9007199254740991.0);
  auto identity = Handles::Process().Get<DtlsIdentity>(static_cast<Handle>(certificate));
  if (!identity) return Napi::String::New(env, "this certificate is closed");
  DtlsConfig config;
  config.active = BooleanIn(options.Get("active"), "active");
  config.fingerprints = FingerprintsIn(options.Get("fingerprints"));
  config.retransmit_us =
      1000 * Uint32In(options.Get("retransmitMs"), "retransmitMs", kMinRetransmitMs, kMaxRetransmitMs);
  config.application_data = BooleanIn(options.Get("applicationData"), "applicationData");
  const auto association = owner->plane->MakeDtls(std::move(identity), std::move(config));
  if (!association) {
    return Napi::String::New(env, "the crypto library has no memory for another association");
  }
  const Handle handle =
      Handles::Process().Add(std::make_shared<DtlsEntry>(DtlsEntry{owner->plane, association}));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  association->set_handle(handle);
  if (owner->plane->BeginDtls(association)) return ToNumber(env, handle);
  Handles::Process().Remove<DtlsEntry>(handle);
  association->Close();
  return ToNumber(env, uint64_t{0});
}

void Start(const Napi::CallbackInfo& info) {
  if (const auto entry = EntryOf(info)) entry->association->Start();
}

// The number of the datagram; 0 where it was dropped.
Napi::Value Receive(const Napi::CallbackInfo& info) {
  const Bytes data = BytesIn(info[1], "data", 0, 65'535);
  const auto entry = EntryOf(info);
  return ToNumber(info.Env(), entry ? entry->association->ReceiveNumbered(data.data, data.size) : 0);
}

Napi::Value Send(const Napi::CallbackInfo& info) {
  const Bytes data = BytesIn(info[1], "data", 1, DtlsEndpoint::kMaxDatagram);
  const auto entry = EntryOf(info);
  return Napi::Boolean::New(info.Env(), entry && entry->association->Send(data.data, data.size));
}

Napi::Object ToKeys(Napi::Env env, const SrtpShape& shape, const DtlsSrtpKeys::Way& way) {
  Napi::Object keys = Napi::Object::New(env);
  keys.Set("profile", Napi::String::New(env, shape.name));
  keys.Set("key", ToBytes(env, way.key.data(), shape.key_bytes));
  keys.Set("salt", ToBytes(env, way.salt.data(), shape.salt_bytes));
  return keys;
}

Napi::Value ToKeys(Napi::Env env, const std::optional<DtlsSrtpKeys>& keys) {
  if (!keys) return env.Null();
  Napi::Object result = Napi::Object::New(env);
  result.Set("send", ToKeys(env, ShapeOf(keys->profile), keys->send));
  result.Set("receive", ToKeys(env, ShapeOf(keys->profile), keys->receive));
  return result;
}

Napi::Array ToArray(Napi::Env env, const std::vector<DtlsNews::Output>& output) {
  Napi::Array result = Napi::Array::New(env, output.size());
  for (size_t n = 0; n < output.size(); n++) {
    Napi::Object one = Napi::Object::New(env);
    one.Set("cause", ToNumber(env, output[n].cause));
    one.Set("data", ToBytes(env, output[n].data.data(), output[n].data.size()));
    result.Set(static_cast<uint32_t>(n), one);
  }
  return result;
}

// {state, failure, reason, endCause, taken, alert, alertWait, keys, output, received}
Napi::Value Take(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = EntryOf(info);
  if (!entry) return env.Null();
  const DtlsNews news = entry->association->Take();
  Napi::Object result = Napi::Object::New(env);
  result.Set("state", Napi::String::New(env, NameOf(news.state)));
  result.Set("failure", Napi::String::New(env, NameOf(news.failure)));
  result.Set("reason", Napi::String::New(env, news.reason));
  result.Set("endCause", ToNumber(env, news.end_cause));
  result.Set("taken", ToNumber(env, news.taken));
  result.Set("alert", news.alert < 0 ? env.Null() : Napi::Number::New(env, news.alert).As<Napi::Value>());
  result.Set("alertWait", ToNumber(env, news.alert_wait));
  result.Set("keys", ToKeys(env, news.keys));
  result.Set("output", ToArray(env, news.output));
  result.Set("received", ToArray(env, news.received));
  return result;
}

// The last datagrams to send, or null when it was closed before.
Napi::Value Close(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Remove<DtlsEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  return ToArray(info.Env(), entry->plane->CloseDtls(entry->association.get()));
}

}  // namespace

void InitDtls(Napi::Env env, Napi::Object exports) {
  exports.Set("identityMake", Napi::Function::New(env, MakeIdentity, "identityMake"));
  exports.Set("identityFingerprint", Napi::Function::New(env, FingerprintOfIdentity, "identityFingerprint"));
  exports.Set("identityClose", Napi::Function::New(env, CloseIdentity, "identityClose"));
  exports.Set("dtlsOpen", Napi::Function::New(env, Open, "dtlsOpen"));
  exports.Set("dtlsStart", Napi::Function::New(env, Start, "dtlsStart"));
  exports.Set("dtlsReceive", Napi::Function::New(env, Receive, "dtlsReceive"));
  exports.Set("dtlsSend", Napi::Function::New(env, Send, "dtlsSend"));
  exports.Set("dtlsTake", Napi::Function::New(env, Take, "dtlsTake"));
  exports.Set("dtlsClose", Napi::Function::New(env, Close, "dtlsClose"));
}

}  // namespace parley
