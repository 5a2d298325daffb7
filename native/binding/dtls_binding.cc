// Node-API binding of DTLS associations. Everything runs on the calling thread and copies before it returns.
// A stale handle gives an ordinary result, never an exception: datagrams may still arrive for a call that has
// ended.
#include <algorithm>
#include <mutex>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/init.h"
#include "media/dtls/dtls_endpoint.h"

namespace parley {
namespace {

constexpr double kMinRetransmitMs = 15;  // OpenSSL takes less for nothing
constexpr double kMaxRetransmitMs = 2000;
constexpr uint32_t kMaxFingerprints = 32;

// Object behind an association's handle; any thread may hold the handle.
struct DtlsEntry {
  std::mutex mutex;
  std::unique_ptr<DtlsEndpoint> endpoint;
};

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

// Result of a call: datagrams to send, application data that came, and when to call again.
Napi::Value ToStep(Napi::Env env, DtlsEndpoint& endpoint) {
  Napi::Object step = Napi::Object::New(env);
  step.Set("state", Napi::String::New(env, NameOf(endpoint.state())));
  step.Set("failure", Napi::String::New(env, NameOf(endpoint.failure())));
  step.Set("reason", Napi::String::New(env, endpoint.reason()));
  step.Set("timeoutMs", Napi::Number::New(env, static_cast<double>(endpoint.TimeoutMs())));
  step.Set("output", ToArray(env, endpoint.TakeOutput()));
  step.Set("received", ToArray(env, endpoint.TakeReceived()));
  return step;
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

Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  auto identity = Handles::Process().Get<DtlsIdentity>(HandleOf(info));
  if (!identity) throw Napi::Error::New(env, "this certificate is closed");
  const Napi::Object options = ObjectIn(info[1], "options");
  DtlsConfig config;
  config.active = BooleanIn(options.Get("active"), "active");
  config.fingerprints = FingerprintsIn(options.Get("fingerprints"));
  config.retransmit_us =
      1000 * Uint32In(options.Get("retransmitMs"), "retransmitMs", kMinRetransmitMs, kMaxRetransmitMs);
  config.application_data = BooleanIn(options.Get("applicationData"), "applicationData");
  const auto entry = std::make_shared<DtlsEntry>();
  entry->endpoint = DtlsEndpoint::Create(std::move(identity), std::move(config));
  if (!entry->endpoint)
    throw Napi::Error::New(env, "the crypto library has no memory for another association");
  const Handle handle = Handles::Process().Add(entry);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  return ToNumber(env, handle);
}

template <class Act>
Napi::Value Step(const Napi::CallbackInfo& info, Act act) {
  const auto entry = Handles::Process().Get<DtlsEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  std::lock_guard<std::mutex> lock(entry->mutex);
  act(*entry->endpoint);
  return ToStep(info.Env(), *entry->endpoint);
}

Napi::Value Start(const Napi::CallbackInfo& info) {
  return Step(info, [](DtlsEndpoint& endpoint) { endpoint.Start(); });
}

Napi::Value Receive(const Napi::CallbackInfo& info) {
  const Bytes data = BytesIn(info[1], "data", 0, 65'535);
  return Step(info, [&data](DtlsEndpoint& endpoint) { endpoint.Receive(data.data, data.size); });
}

// The datagrams to send; null where the association is not open.
Napi::Value Send(const Napi::CallbackInfo& info) {
  const Bytes data = BytesIn(info[1], "data", 1, DtlsEndpoint::kMaxDatagram);
  const auto entry = Handles::Process().Get<DtlsEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (!entry->endpoint->Send(data.data, data.size)) return info.Env().Null();
  return ToArray(info.Env(), entry->endpoint->TakeOutput());
}

Napi::Value HandleTimeout(const Napi::CallbackInfo& info) {
  return Step(info, [](DtlsEndpoint& endpoint) { endpoint.HandleTimeout(); });
}

Napi::Object ToKeys(Napi::Env env, const SrtpShape& shape, const DtlsSrtpKeys::Way& way) {
  Napi::Object keys = Napi::Object::New(env);
  keys.Set("profile", Napi::String::New(env, shape.name));
  keys.Set("key", ToBytes(env, way.key.data(), shape.key_bytes));
  keys.Set("salt", ToBytes(env, way.salt.data(), shape.salt_bytes));
  return keys;
}

// {send, receive}, or null where the association is not open.
Napi::Value Keys(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = Handles::Process().Get<DtlsEntry>(HandleOf(info));
  if (!entry) return env.Null();
  std::lock_guard<std::mutex> lock(entry->mutex);
  if (entry->endpoint->state() != DtlsEndpoint::State::kOpen) return env.Null();
  const DtlsSrtpKeys& keys = entry->endpoint->keys();
  Napi::Object result = Napi::Object::New(env);
  result.Set("send", ToKeys(env, ShapeOf(keys.profile), keys.send));
  result.Set("receive", ToKeys(env, ShapeOf(keys.profile), keys.receive));
  return result;
}

// The last datagrams to send, or null when it was closed before.
Napi::Value Close(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Remove<DtlsEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  std::lock_guard<std::mutex> lock(entry->mutex);
  entry->endpoint->Close();
  return ToArray(info.Env(), entry->endpoint->TakeOutput());
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
  exports.Set("dtlsHandleTimeout", Napi::Function::New(env, HandleTimeout, "dtlsHandleTimeout"));
  exports.Set("dtlsKeys", Napi::Function::New(env, Keys, "dtlsKeys"));
  exports.Set("dtlsClose", Napi::Function::New(env, Close, "dtlsClose"));
}

}  // namespace parley
