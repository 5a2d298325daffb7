// Node-API binding of the listeners of calls: ears, which hear windows of many calls, and rings, which get
// the sound of one. A stale handle gives an ordinary result, never an exception, because a call may end at
// any time.
#include <algorithm>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/media_binding.h"
#include "binding/notifier.h"

namespace parley {
namespace {

constexpr size_t kFields = 5;
constexpr double kMinRingMs = 32, kMaxRingMs = 60'000;

std::shared_ptr<EarsEntry> EarsOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<EarsEntry>(HandleOf(info));
}

Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto owner = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  if (!owner) throw Napi::Error::New(env, "this media plane is closed");
  const Handle handle =
      Handles::Process().Add(std::make_shared<EarsEntry>(EarsEntry{owner->plane, std::make_shared<Ears>()}));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  return ToNumber(env, handle);
}

Napi::Value Add(const Napi::CallbackInfo& info) {
  const auto entry = EarsOf(info);
  const auto socket = Handles::Process().Get<SocketEntry>(HandleIn(info[1], "socket"));
  const bool joined =
      entry && socket && socket->plane == entry->plane && socket->socket->JoinEars(entry->ears);
  return Napi::Boolean::New(info.Env(), joined);
}

void Remove(const Napi::CallbackInfo& info) {
  const auto entry = EarsOf(info);
  const auto socket = Handles::Process().Get<SocketEntry>(HandleIn(info[1], "socket"));
  if (entry && socket) socket->socket->LeaveEars(entry->ears.get());
}

// Fields of a row: socket, endMs, callerLevel, oursLevel, dropped.
double* WriteFields(const Ears::Row& row, double* out) {
  const EarWindow& window = row.window;
  const double fields[kFields] = {static_cast<double>(row.socket), NsToMs(window.end_ns), window.caller_db,
                                  window.ours_db, static_cast<double>(row.dropped)};
  return std::copy(fields, fields + kFields, out);
}

Napi::Value Take(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = EarsOf(info);
  const bool typed = info.Length() > 2 && info[1].IsTypedArray() && info[2].IsTypedArray() &&
                     info[1].As<Napi::TypedArray>().TypedArrayType() == napi_float32_array &&
                     info[2].As<Napi::TypedArray>().TypedArrayType() == napi_float64_array;
  if (!typed) throw Napi::TypeError::New(env, "samples must be a Float32Array, and fields a Float64Array");
  const auto samples = info[1].As<Napi::Float32Array>();
  const auto fields = info[2].As<Napi::Float64Array>();
  const size_t room =
      std::min(samples.ElementLength() / (2 * EarWindow::kSamples), fields.ElementLength() / kFields);
  if (room == 0) throw Napi::RangeError::New(env, "samples and fields must have room for one row");
  float* to = const_cast<float*>(samples.Data());
  double* field = const_cast<double*>(fields.Data());
  size_t rows = 0;
  Ears::Row row;
  for (; entry && rows < room && entry->ears->Take(&row); rows++) {
    to = std::copy(row.window.samples.begin(), row.window.samples.end(), to);
    field = WriteFields(row, field);
  }
  return ToNumber(env, uint64_t{rows});
}

// Closed ears count as ready: the watcher detects the closure when it uses them.
Napi::Value Watch(const Napi::CallbackInfo& info) {
  const auto entry = EarsOf(info);
  const bool ready = !entry || entry->ears->Watch(Notifier::For(info.Env()), HandleOf(info));
  return Napi::Boolean::New(info.Env(), ready);
}

void Close(const Napi::CallbackInfo& info) {
  if (const auto entry = Handles::Process().Remove<EarsEntry>(HandleOf(info))) entry->ears->Close();
}

// Returns the handle of the ring; 0 if the socket is closed or has all the rings that it can have.
Napi::Value OpenEar(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = Handles::Process().Get<SocketEntry>(HandleOf(info));
  const Napi::Object options = ObjectIn(info[1], "options");
  const uint32_t channels = Uint32In(options.Get("channels"), "channels", 1, 2);
  const double capacity_ms = NumberIn(options.Get("capacityMs"), "capacityMs", kMinRingMs, kMaxRingMs);
  const auto samples = static_cast<size_t>(capacity_ms * CallerSound::kRate / 1000);
  if (!entry) return ToNumber(env, 0);
  const auto ring = std::make_shared<ByteRing>(samples * channels * sizeof(float));
  const Handle handle = Handles::Process().Add(ring);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  if (entry->socket->OpenEar(ring, channels)) return ToNumber(env, handle);
  Handles::Process().Remove<ByteRing>(handle);
  return ToNumber(env, 0);
}

// The ring ends, and what it holds can still be read.
void CloseEar(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Get<SocketEntry>(HandleOf(info));
  const auto ring = Handles::Process().Get<ByteRing>(HandleIn(info[1], "ring"));
  if (entry && ring) entry->socket->CloseEar(ring.get());
}

}  // namespace

void InitEars(Napi::Env env, Napi::Object exports) {
  exports.Set("earsOpen", Napi::Function::New(env, Open, "earsOpen"));
  exports.Set("earsAdd", Napi::Function::New(env, Add, "earsAdd"));
  exports.Set("earsRemove", Napi::Function::New(env, Remove, "earsRemove"));
  exports.Set("earsTake", Napi::Function::New(env, Take, "earsTake"));
  exports.Set("earsWatch", Napi::Function::New(env, Watch, "earsWatch"));
  exports.Set("earsClose", Napi::Function::New(env, Close, "earsClose"));
  exports.Set("socketOpenEar", Napi::Function::New(env, OpenEar, "socketOpenEar"));
  exports.Set("socketCloseEar", Napi::Function::New(env, CloseEar, "socketCloseEar"));
}

}  // namespace parley
