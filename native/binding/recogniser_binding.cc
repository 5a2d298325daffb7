// Node-API binding of the recogniser and the forced aligner. Slow operations return promises and run in
// libuv's pool; all others return at once. A stale handle gives an ordinary result, never an exception.
//
// A stream reads its sound from a ring, and keeps what it has to tell until JavaScript takes it.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "binding/handles.h"
#include "binding/init.h"
#include "binding/notifier.h"
#include "binding/options.h"
#include "binding/promised.h"
#include "media/byte_ring.h"
#include "runtime/recogniser.h"

namespace parley {
namespace {

using runtime::Recogniser;

// Floats of a ring, whose writer is anywhere in the process.
class RingSource final : public runtime::SoundSource {
 public:
  explicit RingSource(std::shared_ptr<ByteRing> ring) : ring_(std::move(ring)) {}

  size_t Read(float* samples, size_t most) override {
    const int64_t bytes =
        ring_->Read(reinterpret_cast<uint8_t*>(samples), most * sizeof(float), sizeof(float));
    return bytes > 0 ? static_cast<size_t>(bytes) / sizeof(float) : 0;
  }
  bool Ended(std::string* problem) override {
    const ByteRing::Status status = ring_->GetStatus();
    if (status.aborted) return *problem = "the sound was given up", true;
    if (!status.ended || status.readable >= sizeof(float)) return false;
    if (!status.error.empty()) *problem = "the sound broke off: " + status.error;
    return true;
  }
  // The writer learns that nobody reads any more.
  void Leave() { ring_->Abort(); }

 private:
  const std::shared_ptr<ByteRing> ring_;
};

using Words = std::vector<runtime::AlignedWord>;
struct Runaway {
  std::string what;
};
using Event = std::variant<runtime::RecognisedText, Words, Runaway, runtime::RecognitionEnd>;

// Object behind a stream's handle. The engine holds it until the end of the stream, JavaScript until it has
// taken the end.
class EventSink final : public runtime::TextSink {
 public:
  EventSink(std::weak_ptr<Recogniser> recogniser, std::shared_ptr<RingSource> source)
      : recogniser_(std::move(recogniser)), source_(std::move(source)) {}

  void SetNotifier(std::shared_ptr<Notifier> notifier, Handle handle) {
    notifier_ = std::move(notifier);
    handle_ = handle;
  }
  void Started(runtime::StreamId stream) { stream_.store(stream); }

  void Recognised(const runtime::RecognisedText& text) override { Keep(text); }
  void Aligned(const Words& words) override { Keep(words); }
  void RanAway(const std::string& what) override { Keep(Runaway{what}); }
  void Ended(const runtime::RecognitionEnd& end) override {
    if (end.outcome != runtime::Outcome::kDone) source_->Leave();
    Keep(end);
  }

  std::vector<Event> Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(events_, {});
  }
  void Order(runtime::PlacedOrder order) {
    const auto recogniser = recogniser_.lock();
    if (recogniser && stream_.load() != 0) recogniser->Order(stream_.load(), order);
  }
  void Cancel() {
    const auto recogniser = recogniser_.lock();
    if (recogniser && stream_.load() != 0) recogniser->Cancel(stream_.load());
  }

 private:
  // The text of a pause also replaces a partial one: it is the same, or later.
  static bool Replaces(const runtime::RecognisedText& next, const runtime::RecognisedText& last) {
    return !last.final && last.part == next.part && (!last.pause || next.pause || next.final);
  }

  // A text that was not taken is replaced by the next one of its turn.
  void Keep(Event event) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto* const text = std::get_if<runtime::RecognisedText>(&event);
      auto* const last = events_.empty() ? nullptr : std::get_if<runtime::RecognisedText>(&events_.back());
      if (text != nullptr && last != nullptr && Replaces(*text, *last)) *last = *text;
      else events_.push_back(std::move(event));
    }
    Notifier::Ready(notifier_, handle_);
  }

  const std::weak_ptr<Recogniser> recogniser_;
  const std::shared_ptr<RingSource> source_;
  std::shared_ptr<Notifier> notifier_;
  Handle handle_ = 0;
  std::atomic<runtime::StreamId> stream_{0};
  std::mutex mutex_;  // guards what follows
  std::vector<Event> events_;
};

runtime::RecogniserOptions RecogniserOptionsIn(const Napi::Value& value) {
  const Napi::Object object = ObjectIn(value, "options");
  runtime::RecogniserOptions options;
  options.directory = StringIn(object.Get("directory"), "directory");
  if (Has(object, "aligner")) options.aligner = BooleanIn(object.Get("aligner"), "aligner");
  if (Has(object, "quantize")) options.quantize = StringIn(object.Get("quantize"), "quantize");
  if (Has(object, "cacheFormat")) options.cache_format = StringIn(object.Get("cacheFormat"), "cacheFormat");
  if (Has(object, "streaming")) options.streaming = StringIn(object.Get("streaming"), "streaming");
  options.korean_dictionary = Text(object, "koreanDictionary");
  ReadDevice(object, &options);
  const auto interval = static_cast<size_t>(options.least_interval.count());
  options.least_interval = std::chrono::milliseconds(Count(object, "leastIntervalMs", interval, 20, 60'000));
  options.max_files = Count(object, "maxFiles", options.max_files, 1, 65'536);
  if (Has(object, "warmUp")) options.warm_up = BooleanIn(object.Get("warmUp"), "warmUp");
  return options;
}

runtime::RecognitionUse UseIn(const Napi::Value& value) {
  const std::string name = StringIn(value, "use");
  if (name == "live") return runtime::RecognitionUse::kLive;
  if (name == "file") return runtime::RecognitionUse::kFile;
  if (name == "align") return runtime::RecognitionUse::kAlign;
  throw Napi::TypeError::New(value.Env(), "use must be live, file or align");
}

runtime::TurnOrder TurnOrderIn(const Napi::Value& value) {
  const std::string name = StringIn(value, "order");
  if (name == "begin") return runtime::TurnOrder::kBegin;
  if (name == "pause") return runtime::TurnOrder::kPause;
  if (name == "resume") return runtime::TurnOrder::kResume;
  if (name == "end") return runtime::TurnOrder::kEnd;
  throw Napi::TypeError::New(value.Env(), "order must be begin, pause, resume or end");
}

constexpr double kMostSamples = 9007199254740992;  // 2^53

// Reads an order, and how many samples of the ring come before it.
runtime::PlacedOrder PlacedOrderIn(const Napi::Value& order, const Napi::Value& at) {
  return {TurnOrderIn(order), static_cast<uint64_t>(NumberIn(at, "at", 0, kMostSamples))};
}

std::vector<runtime::PlacedOrder> PlacedOrdersIn(const Napi::Value& value) {
  if (!value.IsArray()) throw Napi::TypeError::New(value.Env(), "orders must be an array");
  const Napi::Array items = value.As<Napi::Array>();
  std::vector<runtime::PlacedOrder> orders;
  for (uint32_t n = 0; n < items.Length(); n++) {
    const Napi::Object item = ObjectIn(items.Get(n), "order");
    orders.push_back(PlacedOrderIn(item.Get("order"), item.Get("at")));
  }
  return orders;
}

runtime::RecognitionRequest RecognitionRequestIn(const Napi::Value& value) {
  const Napi::Object object = ObjectIn(value, "request");
  runtime::RecognitionRequest request;
  request.use = UseIn(object.Get("use"));
  request.language = Text(object, "language");
  request.context = Text(object, "context");
  request.rate = Uint32In(object.Get("rate"), "rate", 1, 1'000'000);
  if (Has(object, "partials")) request.partials = BooleanIn(object.Get("partials"), "partials");
  if (Has(object, "pauses")) request.pauses = BooleanIn(object.Get("pauses"), "pauses");
  if (Has(object, "gated")) request.gated = BooleanIn(object.Get("gated"), "gated");
  if (Has(object, "orders")) request.orders = PlacedOrdersIn(object.Get("orders"));
  if (Has(object, "pieceSeconds"))
    request.piece_seconds = NumberIn(object.Get("pieceSeconds"), "pieceSeconds", 10, 1200);
  return request;
}

Napi::Object ToObject(Napi::Env env, const runtime::RecogniserFacts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("aligner", Napi::Boolean::New(env, facts.aligner));
  object.Set("device", facts.device);
  object.Set("noCuda", facts.no_cuda);
  object.Set("deviceMemory", ToNumber(env, facts.device_memory));
  object.Set("languages", Names(env, facts.languages));
  object.Set("weightBytes", ToNumber(env, facts.weight_bytes));
  object.Set("secondBytes", ToNumber(env, facts.second_bytes));
  object.Set("loadMs", Napi::Number::New(env, facts.load_ms));
  object.Set("warmUpMs", Napi::Number::New(env, facts.warm_up_ms));
  return object;
}

Napi::Object ToObject(Napi::Env env, const runtime::RecogniserStats& stats) {
  Napi::Object object = Napi::Object::New(env);
  const std::pair<const char*, uint64_t> counts[] = {{"live", stats.live},
                                                     {"files", stats.files},
                                                     {"waiting", stats.waiting},
                                                     {"begun", stats.begun},
                                                     {"done", stats.done},
                                                     {"cancelled", stats.cancelled},
                                                     {"failed", stats.failed},
                                                     {"refused", stats.refused},
                                                     {"runaways", stats.runaways},
                                                     {"passes", stats.passes},
                                                     {"droppedPasses", stats.dropped_passes},
                                                     {"ids", stats.ids},
                                                     {"draftOffered", stats.draft_offered},
                                                     {"draftTaken", stats.draft_taken},
                                                     {"memoryInUse", stats.memory_in_use},
                                                     {"memoryLimit", stats.memory_limit}};
  for (const auto& [name, count] : counts) object.Set(name, ToNumber(env, count));
  const std::pair<const char*, double> numbers[] = {{"soundSeconds", stats.sound_seconds},
                                                    {"busyMs", stats.busy_ms},
                                                    {"encodeMs", stats.encode_ms},
                                                    {"prefillMs", stats.prefill_ms},
                                                    {"decodeMs", stats.decode_ms}};
  for (const auto& [name, number] : numbers) object.Set(name, Napi::Number::New(env, number));
  return object;
}

// JavaScript counts text in UTF-16 units.
size_t UnitsOf(const std::string& text, size_t bytes) {
  size_t units = 0;
  for (size_t n = 0; n < bytes; n++) {
    const auto byte = static_cast<unsigned char>(text[n]);
    units += (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

Napi::Object ToObject(Napi::Env env, const runtime::RecognisedText& text) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("type", text.final ? "final" : text.pause ? "pause" : "partial");
  object.Set("part", ToNumber(env, text.part));
  object.Set("text", text.text);
  object.Set("stable", ToNumber(env, UnitsOf(text.text, std::min(text.stable, text.text.size()))));
  object.Set("language", text.language);
  object.Set("beginSeconds", Napi::Number::New(env, text.begin_seconds));
  object.Set("endSeconds", Napi::Number::New(env, text.end_seconds));
  return object;
}

Napi::Object ToObject(Napi::Env env, const Words& words) {
  Napi::Object object = Napi::Object::New(env);
  Napi::Array list = Napi::Array::New(env, words.size());
  for (size_t n = 0; n < words.size(); n++) {
    Napi::Object word = Napi::Object::New(env);
    word.Set("word", words[n].word);
    word.Set("beginSeconds", Napi::Number::New(env, words[n].begin_seconds));
    word.Set("endSeconds", Napi::Number::New(env, words[n].end_seconds));
    list.Set(static_cast<uint32_t>(n), word);
  }
  object.Set("type", "words");
  object.Set("words", list);
  return object;
}

Napi::Object ToObject(Napi::Env env, const Runaway& runaway) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("type", "runaway");
  object.Set("what", runaway.what);
  return object;
}

Napi::Object ToObject(Napi::Env env, const runtime::RecognitionEnd& end) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("type", "end");
  object.Set("outcome", runtime::NameOf(end.outcome));
  object.Set("problem", end.problem);
  object.Set("soundSeconds", Napi::Number::New(env, end.sound_seconds));
  object.Set("totalMs", Napi::Number::New(env, end.total_ms));
  return object;
}

class Inspection final : public Promised {
 public:
  Inspection(Napi::Env env, std::string directory, bool aligner)
      : Promised(env), directory_(std::move(directory)), aligner_(aligner) {}
  void Execute() override {
    auto inspected = Recogniser::Inspect(directory_, aligner_);
    if (inspected) facts_ = std::move(*inspected);
    else SetError(inspected.problem());
  }
  Napi::Value Answer(Napi::Env env) override { return ToObject(env, facts_); }

 private:
  const std::string directory_;
  const bool aligner_;
  runtime::RecogniserFacts facts_;
};

class Opening final : public Promised {
 public:
  Opening(Napi::Env env, runtime::RecogniserOptions options, std::shared_ptr<OwnHandles<Recogniser>> own)
      : Promised(env), options_(std::move(options)), own_(std::move(own)) {}
  void Execute() override {
    auto opened = Recogniser::Open(options_);
    if (opened) recogniser_ = std::move(*opened);
    else SetError(opened.problem());
  }
  Napi::Value Answer(Napi::Env env) override {
    const Handle handle = Handles::Process().Add<Recogniser>(recogniser_);
    if (handle == 0) throw Napi::Error::New(env, "no handle is free");
    own_->Add(handle);
    Napi::Object answer = Napi::Object::New(env);
    answer.Set("handle", ToNumber(env, handle));
    answer.Set("facts", ToObject(env, recogniser_->facts()));
    return answer;
  }

 private:
  const runtime::RecogniserOptions options_;
  const std::shared_ptr<OwnHandles<Recogniser>> own_;
  std::shared_ptr<Recogniser> recogniser_;
};

// (recogniser, request, ring) -> the stream's handle; 0 when recogniser or ring are gone.
Napi::Value Start(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto recogniser = Handles::Process().Get<Recogniser>(HandleOf(info));
  runtime::RecognitionRequest request = RecognitionRequestIn(info[1]);
  const auto ring = Handles::Process().Get<ByteRing>(HandleIn(info[2], "ring"));
  if (!recogniser || !ring) return Napi::Number::New(env, 0);
  const auto source = std::make_shared<RingSource>(ring);
  const auto sink = std::make_shared<EventSink>(recogniser, source);
  const Handle handle = Handles::Process().Add(sink);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  sink->SetNotifier(Notifier::For(env), handle);
  const runtime::StreamId stream = recogniser->Start(std::move(request), source, sink);
  if (stream == 0) Handles::Process().Remove<EventSink>(handle);
  sink->Started(stream);
  return ToNumber(env, stream == 0 ? 0 : handle);
}

// Returns the events of a stream since the last call, in order; null for a stream that is gone. The event of
// its end removes it.
Napi::Value Take(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto sink = Handles::Process().Get<EventSink>(HandleOf(info));
  if (!sink) return env.Null();
  const std::vector<Event> events = sink->Take();
  Napi::Array list = Napi::Array::New(env, events.size());
  for (size_t n = 0; n < events.size(); n++) {
    list.Set(static_cast<uint32_t>(n),
             std::visit([env](const auto& event) { return ToObject(env, event); }, events[n]));
    if (std::holds_alternative<runtime::RecognitionEnd>(events[n]))
      Handles::Process().Remove<EventSink>(HandleOf(info));
  }
  return list;
}

void Order(const Napi::CallbackInfo& info) {
  const runtime::PlacedOrder order = PlacedOrderIn(info[1], info[2]);
  if (const auto sink = Handles::Process().Get<EventSink>(HandleOf(info))) sink->Order(order);
}

void Cancel(const Napi::CallbackInfo& info) {
  if (const auto sink = Handles::Process().Get<EventSink>(HandleOf(info))) sink->Cancel();
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const auto recogniser = Handles::Process().Get<Recogniser>(HandleOf(info));
  return recogniser ? ToObject(info.Env(), recogniser->stats()) : info.Env().Null();
}

}  // namespace

void InitRecogniser(Napi::Env env, Napi::Object exports) {
  const auto own = std::make_shared<OwnHandles<Recogniser>>();
  env.AddCleanupHook([own] { own->CloseAll(); });
  const auto inspect = [](const Napi::CallbackInfo& info) {
    return Promise<Inspection>(info.Env(), StringIn(info[0], "directory"), BooleanIn(info[1], "aligner"));
  };
  const auto open = [own](const Napi::CallbackInfo& info) {
    return Promise<Opening>(info.Env(), RecogniserOptionsIn(info[0]), own);
  };
  const auto close = [own](const Napi::CallbackInfo& info) {
    own->Forget(HandleOf(info));
    return Promise<Closing<Recogniser>>(info.Env(), Handles::Process().Remove<Recogniser>(HandleOf(info)));
  };
  exports.Set("recogniserInspect", Napi::Function::New(env, inspect, "recogniserInspect"));
  exports.Set("recogniserOpen", Napi::Function::New(env, open, "recogniserOpen"));
  exports.Set("recogniserClose", Napi::Function::New(env, close, "recogniserClose"));
  exports.Set("recogniserStart", Napi::Function::New(env, Start, "recogniserStart"));
  exports.Set("recogniserTake", Napi::Function::New(env, Take, "recogniserTake"));
  exports.Set("recogniserOrder", Napi::Function::New(env, Order, "recogniserOrder"));
  exports.Set("recogniserCancel", Napi::Function::New(env, Cancel, "recogniserCancel"));
  exports.Set("recogniserStats", Napi::Function::New(env, Stats, "recogniserStats"));
}

}  // namespace parley
