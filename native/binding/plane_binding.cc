// Node-API binding of media planes. Every function runs on the calling thread and returns without waiting for
// the clock, except planeClose, which joins it.
#include <algorithm>
#include <limits>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/media_binding.h"
#include "binding/notifier.h"

namespace parley {
namespace {

constexpr double kMaxMs = 1e12;  // some thirty years
constexpr double kMaxTrace = 1 << 24;

// Throws for a stale handle: unlike a stream, a plane has one owner, which does not close it while it is
// used.
std::shared_ptr<PlaneEntry> EntryOf(const Napi::CallbackInfo& info) {
  std::shared_ptr<PlaneEntry> entry = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  if (!entry) throw Napi::Error::New(info.Env(), "this media plane is closed");
  return entry;
}

MediaPlane& PlaneOf(const Napi::CallbackInfo& info) { return *EntryOf(info)->plane; }

void ClosePlane(const std::shared_ptr<PlaneEntry>& entry) {
  const MediaPlane::Left left = entry->plane->Close();
  for (const uint64_t stream : left.streams) Handles::Process().Remove<StreamEntry>(stream);
  for (const uint64_t one : left.associations) Handles::Process().Remove<DtlsEntry>(one);
  for (const uint64_t socket : left.sockets) Handles::Process().Remove<SocketEntry>(socket);
}

// Runs when the environment that opened the plane ends: the plane's threads must end before the process does.
// The pointer holds the handle.
static_assert(sizeof(void*) >= sizeof(Handle), "a handle must fit into a pointer");
void CloseAtExit(void* handle) {
  if (auto entry = Handles::Process().Remove<PlaneEntry>(reinterpret_cast<Handle>(handle))) ClosePlane(entry);
}

Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object options = ObjectIn(info[0], "options");
  const uint32_t seed = Uint32In(options.Get("seed"), "seed");
  std::shared_ptr<MediaPlane> plane;
  if (BooleanIn(options.Get("manual"), "manual")) {
    const double start_ms = NumberIn(options.Get("startMs"), "startMs", 0, kMaxMs);
    const double wall_ms = NumberIn(options.Get("wallMs"), "wallMs", 0, kMaxMs * 10);
    plane = MediaPlane::OpenManual(seed, MsToNs(start_ms), MsToNs(wall_ms));
  } else {
    plane = MediaPlane::OpenReal(seed);
  }
  const Handle handle = Handles::Process().Add(std::make_shared<PlaneEntry>(PlaneEntry{plane, env}));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  napi_add_env_cleanup_hook(env, CloseAtExit, reinterpret_cast<void*>(handle));
  return ToNumber(env, handle);
}

void Close(const Napi::CallbackInfo& info) {
  const Handle handle = HandleOf(info);
  const auto entry = Handles::Process().Remove<PlaneEntry>(handle);
  if (!entry) return;
  if (entry->env == info.Env()) {
    napi_remove_env_cleanup_hook(info.Env(), CloseAtExit, reinterpret_cast<void*>(handle));
  }
  ClosePlane(entry);
}

Napi::Value Advance(const Napi::CallbackInfo& info) {
  return ToNumber(info.Env(), PlaneOf(info).Advance(MsToNs(NumberIn(info[1], "toMs", 0, kMaxMs))));
}

Napi::Value WakeAt(const Napi::CallbackInfo& info) {
  return ToNumber(info.Env(), PlaneOf(info).WakeAt(MsToNs(NumberIn(info[1], "atMs", 0, kMaxMs))));
}

Napi::Value Now(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), NsToMs(PlaneOf(info).time().Now()));
}

Napi::Value Watch(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), PlaneOf(info).Watch(Notifier::For(info.Env()), HandleOf(info)));
}

// Groups of four: stream, track, mark, sentAtMs.
Napi::Value TakeMarks(const Napi::CallbackInfo& info) {
  const std::vector<DeliveredMark> marks = PlaneOf(info).TakeMarks();
  auto result = Napi::Float64Array::New(info.Env(), marks.size() * 4);
  double* out = result.Data();
  for (const DeliveredMark& mark : marks) {
    *out++ = static_cast<double>(mark.stream);
    *out++ = mark.track;
    *out++ = mark.mark;
    *out++ = NsToMs(mark.sent_ns);
  }
  return result;
}

Napi::Value TakePackets(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::vector<CapturedPacket> packets = PlaneOf(info).TakePackets();
  Napi::Array result = Napi::Array::New(env, packets.size());
  for (size_t i = 0; i < packets.size(); i++) {
    const CapturedPacket& packet = packets[i];
    auto data = Napi::Uint8Array::New(env, packet.data.size());
    std::copy(packet.data.begin(), packet.data.end(), data.Data());
    Napi::Object one = Napi::Object::New(env);
    one.Set("stream", ToNumber(env, packet.stream));
    one.Set("atMs", Napi::Number::New(env, NsToMs(packet.at_ns)));
    one.Set("kind", packet.rtcp ? "rtcp" : "rtp");
    one.Set("data", data);
    result.Set(static_cast<uint32_t>(i), one);
  }
  return result;
}

// Groups of five: socket (or association), kind, digit, durationMs, atMs.
Napi::Value TakeInbound(const Napi::CallbackInfo& info) {
  const std::vector<InboundEvent> events = PlaneOf(info).TakeInbound();
  auto result = Napi::Float64Array::New(info.Env(), events.size() * 6);
  double* out = result.Data();
  for (const InboundEvent& event : events) {
    *out++ = static_cast<double>(event.socket);
    *out++ = event.kind;
    *out++ = event.digit;
    *out++ = NsToMs(event.duration_ns);
    *out++ = NsToMs(event.at_ns);
    *out++ = event.hz;
  }
  return result;
}

void StartTrace(const Napi::CallbackInfo& info) {
  PlaneOf(info).StartTrace(Uint32In(info[1], "capacity", 1, kMaxTrace));
}

// Groups of three: stream, dueMs, sentMs.
Napi::Value TakeTrace(const Napi::CallbackInfo& info) {
  const std::vector<TraceEntry> entries = PlaneOf(info).TakeTrace();
  auto result = Napi::Float64Array::New(info.Env(), entries.size() * 3);
  double* out = result.Data();
  for (const TraceEntry& entry : entries) {
    *out++ = static_cast<double>(entry.stream);
    *out++ = NsToMs(entry.due_ns);
    *out++ = NsToMs(entry.sent_ns);
  }
  return result;
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  MediaPlane& plane = PlaneOf(info);
  const PlaneCounters& counters = plane.counters();
  Napi::Object result = Napi::Object::New(env);
  result.Set("streams", ToNumber(env, plane.StreamCount()));
  result.Set("listeners", ToNumber(env, plane.ListenerCount()));
  result.Set("sockets", ToNumber(env, plane.SocketCount()));
  result.Set("associations", ToNumber(env, plane.dtls().size()));
  result.Set("associationsWaiting", ToNumber(env, plane.dtls().waiting()));
  result.Set("packets", ToNumber(env, counters.packets.value()));
  result.Set("silencePackets", ToNumber(env, counters.silence_packets.value()));
  result.Set("lateTicks", ToNumber(env, counters.late_ticks.value()));
  result.Set("skippedTicks", ToNumber(env, counters.skipped_ticks.value()));
  result.Set("underruns", ToNumber(env, counters.underruns.value()));
  result.Set("sendErrors", ToNumber(env, counters.send_errors.value()));
  result.Set("captureOverflow", ToNumber(env, counters.capture_overflow.value()));
  result.Set("marksLost", ToNumber(env, counters.marks_lost.value()));
  result.Set("priority", NameOf(plane.priority()));
  const size_t buckets = LatenessHistogram::size();
  Napi::Array upper = Napi::Array::New(env, buckets);
  Napi::Array counts = Napi::Array::New(env, buckets);
  for (size_t i = 0; i < buckets; i++) {
    const bool last = i + 1 == buckets;
    const double bound = last ? std::numeric_limits<double>::infinity()
                              : static_cast<double>(LatenessHistogram::kUpperUs[i]) / 1000;
    upper.Set(static_cast<uint32_t>(i), Napi::Number::New(env, bound));
    counts.Set(static_cast<uint32_t>(i), ToNumber(env, counters.lateness.count(i)));
  }
  result.Set("latenessUpperMs", upper);
  result.Set("latenessCounts", counts);
  return result;
}

// Lowers the priority of the calling thread.
Napi::Value LowerThreadPriority(const Napi::CallbackInfo& info) {
  const int nice = static_cast<int>(Uint32In(info[0], "nice", 0, 19));
  return Napi::Boolean::New(info.Env(), SetThreadNice(nice));
}

// Returns freed memory that the C library keeps to the system; false if it cannot. With another allocator
// (LD_PRELOAD) it finds none.
Napi::Value TrimHeap(const Napi::CallbackInfo& info) {
#ifdef __GLIBC__
  malloc_trim(0);
  return Napi::Boolean::New(info.Env(), true);
#else
  return Napi::Boolean::New(info.Env(), false);
#endif
}

}  // namespace

void InitPlanes(Napi::Env env, Napi::Object exports) {
  exports.Set("planeOpen", Napi::Function::New(env, Open, "planeOpen"));
  exports.Set("planeClose", Napi::Function::New(env, Close, "planeClose"));
  exports.Set("planeAdvance", Napi::Function::New(env, Advance, "planeAdvance"));
  exports.Set("planeWakeAt", Napi::Function::New(env, WakeAt, "planeWakeAt"));
  exports.Set("planeNow", Napi::Function::New(env, Now, "planeNow"));
  exports.Set("planeWatch", Napi::Function::New(env, Watch, "planeWatch"));
  exports.Set("planeTakeMarks", Napi::Function::New(env, TakeMarks, "planeTakeMarks"));
  exports.Set("planeTakePackets", Napi::Function::New(env, TakePackets, "planeTakePackets"));
  exports.Set("planeTakeInbound", Napi::Function::New(env, TakeInbound, "planeTakeInbound"));
  exports.Set("planeTrace", Napi::Function::New(env, StartTrace, "planeTrace"));
  exports.Set("planeTakeTrace", Napi::Function::New(env, TakeTrace, "planeTakeTrace"));
  exports.Set("planeStats", Napi::Function::New(env, Stats, "planeStats"));
  exports.Set("trimHeap", Napi::Function::New(env, TrimHeap, "trimHeap"));
  exports.Set("lowerThreadPriority", Napi::Function::New(env, LowerThreadPriority, "lowerThreadPriority"));
}

}  // namespace parley
