// Node-API binding of the listeners of calls: ears, which hear windows of many calls, and rings, which get
// the sound of one. A stale handle gives an ordinary result, never an exception, because a call may end at
// any time.
#include <algorithm>
#include <utility>
#include <vector>

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
  const EarSound sound = channels == 2                    ? EarSound::kBoth
                         : options.Get("sum").ToBoolean() ? EarSound::kSum
                                                          : EarSound::kCaller;
  const auto ring = std::make_shared<ByteRing>(samples * channels * sizeof(float));
  const Handle handle = Handles::Process().Add(ring);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  if (entry->socket->OpenEar(ring, sound)) return ToNumber(env, handle);
  Handles::Process().Remove<ByteRing>(handle);
  return ToNumber(env, 0);
}

// The ring ends, and what it holds can still be read.
void CloseEar(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Get<SocketEntry>(HandleOf(info));
  const auto ring = Handles::Process().Get<ByteRing>(HandleIn(info[1], "ring"));
  if (entry && ring) entry->socket->CloseEar(ring.get());
}

constexpr size_t kCadenceFields = 4 + ToneCadence::kMostSteps;  // kind, low, high, steps, ms
constexpr size_t kMostCadences = 8;

std::vector<ToneCadence> CadencesIn(const Napi::Value& value) {
  const bool typed =
      value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float64_array;
  if (!typed) throw Napi::TypeError::New(value.Env(), "cadences must be a Float64Array");
  const auto fields = value.As<Napi::Float64Array>();
  const size_t count = fields.ElementLength() / kCadenceFields;
  if (count > kMostCadences || count * kCadenceFields != fields.ElementLength())
    throw Napi::RangeError::New(value.Env(), "cadences must be up to 8 groups of 12");
  std::vector<ToneCadence> cadences(count);
  for (size_t n = 0; n < count; n++) {
    const double* const field = fields.Data() + n * kCadenceFields;
    const double steps = field[3];
    const bool fits =
        field[0] >= 1 && field[0] <= 3 && field[1] >= 200 && field[1] <= 3000 &&
        (field[2] == 0 || (field[2] > field[1] && field[2] <= 3000)) &&
        (steps == 2 || steps == 4 || steps == 6 || steps == 8) &&
        std::all_of(field + 4, field + kCadenceFields, [](double ms) { return ms >= 0 && ms <= 60'000; });
    if (!fits) throw Napi::RangeError::New(value.Env(), "a cadence is out of range");
    ToneCadence& cadence = cadences[n];
    cadence.kind = static_cast<ToneKind>(field[0]);
    cadence.low_hz = field[1];
    cadence.high_hz = field[2];
    cadence.steps = static_cast<size_t>(steps);
    for (size_t k = 0; k < ToneCadence::kMostSteps; k++) cadence.ms[k] = static_cast<uint16_t>(field[4 + k]);
  }
  return cadences;
}

// False: the socket is closed.
Napi::Value WatchTones(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Get<SocketEntry>(HandleOf(info));
  ToneWishes wishes;
  wishes.keys = BooleanIn(info[1], "keys");
  wishes.tones = BooleanIn(info[2], "tones");
  wishes.cadences = CadencesIn(info[3]);
  return Napi::Boolean::New(info.Env(), entry && entry->socket->WatchTones(std::move(wishes)));
}

// Finds the keys and tones of a sound, without a call. Groups of six: 1 for a key, event, hz, beginMs, ms,
// and when it was told, in ms of the sound.
Napi::Value FindTones(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const bool typed =
      info[0].IsTypedArray() && info[0].As<Napi::TypedArray>().TypedArrayType() == napi_float32_array;
  if (!typed) throw Napi::TypeError::New(env, "samples must be a Float32Array");
  const auto samples = info[0].As<Napi::Float32Array>();
  const uint32_t rate = Uint32In(info[1], "rate", 8000, 16'000);
  if (rate != 8000 && rate != 16'000) throw Napi::RangeError::New(env, "rate must be 8000 or 16000");
  ToneDetector detector(static_cast<int>(rate), {true, true, CadencesIn(info[2])});
  const size_t quantum = rate * ToneDetector::kQuantumMs / 1000;
  std::vector<double> fields;
  for (size_t at = 0; at + quantum <= samples.ElementLength(); at += quantum) {
    FoundTone found[ToneDetector::kMostAtOnce];
    const size_t count = detector.Take(samples.Data() + at, found);
    for (size_t n = 0; n < count; n++) {
      const FoundTone& tone = found[n];
      fields.insert(fields.end(),
                    {tone.is_key ? 1.0 : 0.0, static_cast<double>(tone.event), tone.hz,
                     static_cast<double>(tone.begin_us) / 1000, static_cast<double>(tone.length_us) / 1000,
                     static_cast<double>(detector.position_us()) / 1000});
    }
  }
  auto result = Napi::Float64Array::New(env, fields.size());
  std::copy(fields.begin(), fields.end(), result.Data());
  return result;
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
  exports.Set("socketWatchTones", Napi::Function::New(env, WatchTones, "socketWatchTones"));
  exports.Set("tonesFind", Napi::Function::New(env, FindTones, "tonesFind"));
  exports.Set("socketCloseEar", Napi::Function::New(env, CloseEar, "socketCloseEar"));
}

}  // namespace parley
