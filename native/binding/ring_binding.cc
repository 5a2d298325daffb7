// Node-API binding of rings. Everything runs on the calling thread and copies before it returns. A stale
// handle returns -1 or null, never an exception, because a reader may close a ring while its writer still
// writes.
#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/init.h"
#include "binding/notifier.h"
#include "media/byte_ring.h"

namespace parley {
namespace {

constexpr double kMinCapacity = 64;  // bytes
constexpr double kMaxCapacity = 1024.0 * 1024 * 1024;

std::shared_ptr<ByteRing> RingOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<ByteRing>(HandleOf(info));
}

// The bytes of a Uint8Array or Float32Array, and the size of one element.
struct Span {
  uint8_t* data;
  size_t len;
  size_t unit;
};

Span SpanOf(const Napi::CallbackInfo& info) {
  if (info.Length() > 1 && info[1].IsTypedArray()) {
    auto array = info[1].As<Napi::TypedArray>();
    const napi_typedarray_type type = array.TypedArrayType();
    if (type == napi_uint8_array || type == napi_float32_array) {
      auto* base = static_cast<uint8_t*>(array.ArrayBuffer().Data());
      return {base + array.ByteOffset(), array.ByteLength(), array.ElementSize()};
    }
  }
  throw Napi::TypeError::New(info.Env(), "data must be a Uint8Array or a Float32Array");
}

Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  if (info.Length() < 1 || !info[0].IsNumber()) {
    throw Napi::TypeError::New(env, "capacityBytes must be a number");
  }
  const double capacity = info[0].As<Napi::Number>().DoubleValue();
  if (!(capacity >= kMinCapacity && capacity <= kMaxCapacity)) {
    throw Napi::RangeError::New(env, "capacityBytes must be from 64 to 2^30");
  }
  const Handle handle = Handles::Process().Add(std::make_shared<ByteRing>(static_cast<size_t>(capacity)));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  return Napi::Number::New(env, static_cast<double>(handle));
}

Napi::Value Write(const Napi::CallbackInfo& info) {
  const std::shared_ptr<ByteRing> ring = RingOf(info);
  const Span span = SpanOf(info);
  const int64_t count = ring ? ring->Write(span.data, span.len, span.unit) : -1;
  return Napi::Number::New(info.Env(), static_cast<double>(count));
}

Napi::Value Read(const Napi::CallbackInfo& info) {
  const std::shared_ptr<ByteRing> ring = RingOf(info);
  const Span span = SpanOf(info);
  const int64_t count = ring ? ring->Read(span.data, span.len, span.unit) : -1;
  return Napi::Number::New(info.Env(), static_cast<double>(count));
}

void End(const Napi::CallbackInfo& info) {
  const std::shared_ptr<ByteRing> ring = RingOf(info);
  std::string error = StringIn(info[1], "errorCode");
  if (ring) ring->End(std::move(error));
}

void Abort(const Napi::CallbackInfo& info) {
  const std::shared_ptr<ByteRing> ring = RingOf(info);
  if (ring) ring->Abort();
}

Napi::Value Status(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<ByteRing> ring = RingOf(info);
  if (!ring) return env.Null();
  const ByteRing::Status status = ring->GetStatus();
  Napi::Object result = Napi::Object::New(env);
  result.Set("readable", Napi::Number::New(env, static_cast<double>(status.readable)));
  result.Set("writable", Napi::Number::New(env, static_cast<double>(status.writable)));
  result.Set("written", Napi::Number::New(env, static_cast<double>(status.written)));
  result.Set("ended", Napi::Boolean::New(env, status.ended));
  result.Set("aborted", Napi::Boolean::New(env, status.aborted));
  result.Set("error", Napi::String::New(env, status.error));
  return result;
}

// A closed ring counts as ready: the watcher detects the closure when it uses the ring.
Napi::Value Watch(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::shared_ptr<ByteRing> ring = RingOf(info);
  const std::string side = StringIn(info[1], "side");
  if (side != "read" && side != "write") throw Napi::RangeError::New(env, "side must be 'read' or 'write'");
  if (!ring) return Napi::Boolean::New(env, true);
  const std::shared_ptr<Notifier> notifier = Notifier::For(env);
  const bool ready =
      side == "read" ? ring->WatchRead(notifier, HandleOf(info)) : ring->WatchWrite(notifier, HandleOf(info));
  return Napi::Boolean::New(env, ready);
}

// Aborts too: otherwise a waiting thread on the other side would wait for ever.
void Close(const Napi::CallbackInfo& info) {
  const std::shared_ptr<ByteRing> ring = Handles::Process().Remove<ByteRing>(HandleOf(info));
  if (ring) ring->Abort();
}

}  // namespace

void InitRings(Napi::Env env, Napi::Object exports) {
  exports.Set("ringOpen", Napi::Function::New(env, Open, "ringOpen"));
  exports.Set("ringWrite", Napi::Function::New(env, Write, "ringWrite"));
  exports.Set("ringRead", Napi::Function::New(env, Read, "ringRead"));
  exports.Set("ringEnd", Napi::Function::New(env, End, "ringEnd"));
  exports.Set("ringAbort", Napi::Function::New(env, Abort, "ringAbort"));
  exports.Set("ringStatus", Napi::Function::New(env, Status, "ringStatus"));
  exports.Set("ringWatch", Napi::Function::New(env, Watch, "ringWatch"));
  exports.Set("ringClose", Napi::Function::New(env, Close, "ringClose"));
}

}  // namespace parley
