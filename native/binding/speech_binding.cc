// Node-API binding of the speech engine. Slow operations (reading, loading, ending) return promises and run
// in libuv's pool; all others return at once. A stale handle gives an ordinary result, never an exception.
//
// Engines belong to the environment that opened them: its end closes them.

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "binding/handles.h"
#include "binding/init.h"
#include "binding/options.h"
#include "binding/promised.h"
#include "binding/ring_sink.h"
#include "runtime/engine.h"

namespace parley {
namespace {

using runtime::Clock;
using runtime::Engine;

constexpr size_t kMaxRecordingSamples = size_t{192'000} * 600;

float Fraction(const Napi::Object& object, const char* name, double least, double most) {
  return Has(object, name) ? static_cast<float>(NumberIn(object.Get(name), name, least, most)) : -1;
}

runtime::Listener ListenerIn(const Napi::Value& value) {
  const std::string name = StringIn(value, "listener");
  if (name == "live") return runtime::Listener::kLive;
  if (name == "reader") return runtime::Listener::kReader;
  if (name == "server") return runtime::Listener::kServer;
  throw Napi::TypeError::New(value.Env(), "listener must be live, reader or server");
}

std::shared_ptr<const runtime::Recording> RecordingIn(const Napi::Value& value) {
  const Napi::Object object = ObjectIn(value, "recording");
  auto recording = std::make_shared<runtime::Recording>();
  recording->hash = StringIn(object.Get("hash"), "recording.hash");
  recording->rate = Uint32In(object.Get("rate"), "recording.rate", 1, 1'000'000);
  recording->text = Text(object, "text");
  const Napi::Value samples = object.Get("samples");
  if (!samples.IsTypedArray() || samples.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    throw Napi::TypeError::New(value.Env(), "recording.samples must be a Float32Array");
  }
  const auto array = samples.As<Napi::Float32Array>();
  if (array.ElementLength() > kMaxRecordingSamples) {
    throw Napi::RangeError::New(value.Env(), "recording.samples.length must be at most 115200000");
  }
  recording->samples.assign(array.Data(), array.Data() + array.ElementLength());
  return recording;
}

// Converts milliseconds from now into a time; infinite means never.
runtime::Clock::time_point DueIn(const Napi::Value& value, const char* name) {
  constexpr double kYear = 1000.0 * 86'400 * 365;
  const double ms = NumberIn(value, name, -INFINITY, INFINITY);
  if (ms > kYear) return Clock::time_point::max();
  const auto from_now = std::chrono::duration<double, std::milli>(ms < -kYear ? -kYear : ms);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(from_now);
}

// The conversions of options and requests throw a TypeError or RangeError that names the field.
runtime::EngineOptions EngineOptionsIn(const Napi::Value& value) {
  const Napi::Object object = ObjectIn(value, "options");
  runtime::EngineOptions options;
  options.directory = StringIn(object.Get("directory"), "directory");
  if (Has(object, "quantize")) options.quantize = StringIn(object.Get("quantize"), "quantize");
  if (Has(object, "codecFormat")) options.codec_format = StringIn(object.Get("codecFormat"), "codecFormat");
  options.max_batch = Count(object, "maxBatch", options.max_batch, 0, 65'536);
  ReadDevice(object, &options);
  options.max_streams = Count(object, "maxStreams", options.max_streams, 1, 65'536);
  options.max_new_tokens = Count(object, "maxNewTokens", options.max_new_tokens, 0, 1e6);
  options.max_voices = Count(object, "maxVoices", options.max_voices, 0, 1e6);
  if (Has(object, "warmUp")) options.warm_up = BooleanIn(object.Get("warmUp"), "warmUp");
  return options;
}

runtime::SpeechRequest SpeechRequestIn(const Napi::Value& value) {
  const Napi::Object object = ObjectIn(value, "request");
  runtime::SpeechRequest request;
  request.text = StringIn(object.Get("text"), "text");
  if (Has(object, "moreText")) request.more_text = BooleanIn(object.Get("moreText"), "moreText");
  if (Has(object, "language")) request.language = StringIn(object.Get("language"), "language");
  request.speaker = Text(object, "speaker");
  request.instruction = Text(object, "instruction");
  if (Has(object, "recording")) request.recording = RecordingIn(object.Get("recording"));
  request.temperature = Fraction(object, "temperature", 0.0001, 100);
  request.top_p = Fraction(object, "topP", 1e-6, 1);
  request.repetition_penalty = Fraction(object, "repetitionPenalty", 0.01, 100);
  if (Has(object, "topK")) request.top_k = static_cast<int32_t>(Count(object, "topK", 0, 0, 1e6));
  if (Has(object, "greedy")) request.greedy = BooleanIn(object.Get("greedy"), "greedy");
  request.seed = Count(object, "seed", 0, 0, kMostWhole);
  if (Has(object, "mayRepeat")) request.may_repeat = BooleanIn(object.Get("mayRepeat"), "mayRepeat");
  if (Has(object, "whole")) request.whole = BooleanIn(object.Get("whole"), "whole");
  request.max_new_tokens = Count(object, "maxNewTokens", 0, 0, 1e6);
  if (Has(object, "listener")) request.listener = ListenerIn(object.Get("listener"));
  if (Has(object, "dueInMs")) request.due = DueIn(object.Get("dueInMs"), "dueInMs");
  if (Has(object, "overdueInMs")) request.overdue = DueIn(object.Get("overdueInMs"), "overdueInMs");
  return request;
}

Napi::Object ToObject(Napi::Env env, const runtime::EngineFacts& facts) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("modelType", facts.model_type);
  object.Set("modelSize", facts.model_size);
  object.Set("device", facts.device);
  object.Set("noCuda", facts.no_cuda);
  object.Set("deviceMemory", ToNumber(env, facts.device_memory));
  object.Set("sampleRate", ToNumber(env, facts.sample_rate));
  object.Set("takesInstruction", Napi::Boolean::New(env, facts.takes_instruction));
  object.Set("takesRecording", Napi::Boolean::New(env, facts.takes_recording));
  object.Set("speakers", Names(env, facts.speakers));
  object.Set("languages", Names(env, facts.languages));
  object.Set("voiceProblems", Names(env, facts.voice_problems));
  object.Set("openFrames", ToNumber(env, facts.open_frames));
  object.Set("weightBytes", ToNumber(env, facts.weight_bytes));
  object.Set("streamBytes", ToNumber(env, facts.stream_bytes));
  object.Set("loadMs", Napi::Number::New(env, facts.load_ms));
  object.Set("warmUpMs", Napi::Number::New(env, facts.warm_up_ms));
  return object;
}

Napi::Object ToObject(Napi::Env env, const runtime::EngineStats& stats) {
  Napi::Object object = Napi::Object::New(env);
  const std::pair<const char*, uint64_t> counts[] = {{"live", stats.live},
                                                     {"waiting", stats.waiting},
                                                     {"parked", stats.parked},
                                                     {"begun", stats.begun},
                                                     {"done", stats.done},
                                                     {"cancelled", stats.cancelled},
                                                     {"failed", stats.failed},
                                                     {"runaways", stats.runaways},
                                                     {"refused", stats.refused},
                                                     {"frames", stats.frames},
                                                     {"steps", stats.steps},
                                                     {"chunksCutShort", stats.chunks.cut_short},
                                                     {"chunksRepeated", stats.chunks.repeated},
                                                     {"chunksEndless", stats.chunks.endless},
                                                     {"voices", stats.voices},
                                                     {"memoryInUse", stats.memory_in_use},
                                                     {"memoryLimit", stats.memory_limit},
                                                     {"deviceMemoryInUse", stats.device_memory_in_use},
                                                     {"eager", stats.eager},
                                                     {"captures", stats.captures},
                                                     {"launches", stats.launches},
                                                     {"listBytes", stats.list_bytes}};
  for (const auto& [name, count] : counts) object.Set(name, ToNumber(env, count));
  const std::pair<const char*, double> times[] = {
      {"busyMs", stats.busy_ms},           {"prefillMs", stats.prefill_ms}, {"talkerMs", stats.talker_ms},
      {"predictorMs", stats.predictor_ms}, {"codecMs", stats.codec_ms},     {"voiceMs", stats.voice_ms}};
  for (const auto& [name, ms] : times) object.Set(name, Napi::Number::New(env, ms));
  return object;
}

Napi::Object ToObject(Napi::Env env, const runtime::StreamEnd& end) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("outcome", runtime::NameOf(end.outcome));
  object.Set("problem", end.problem);
  object.Set("samples", ToNumber(env, end.samples));
  object.Set("frames", ToNumber(env, end.frames));
  object.Set("queueMs", Napi::Number::New(env, end.queue_ms));
  object.Set("firstFrameMs", Napi::Number::New(env, end.first_frame_ms));
  object.Set("totalMs", Napi::Number::New(env, end.total_ms));
  return object;
}

class Inspection final : public Promised {
 public:
  Inspection(Napi::Env env, std::string directory) : Promised(env), directory_(std::move(directory)) {}
  void Execute() override {
    auto inspected = Engine::Inspect(directory_);
    if (inspected) facts_ = std::move(*inspected);
    else SetError(inspected.problem());
  }
  Napi::Value Answer(Napi::Env env) override { return ToObject(env, facts_); }

 private:
  const std::string directory_;
  runtime::EngineFacts facts_;
};

class Opening final : public Promised {
 public:
  Opening(Napi::Env env, runtime::EngineOptions options, std::shared_ptr<OwnHandles<Engine>> own)
      : Promised(env), options_(std::move(options)), own_(std::move(own)) {}
  void Execute() override {
    auto opened = Engine::Open(options_);
    if (opened) engine_ = std::move(*opened);
    else SetError(opened.problem());
  }
  Napi::Value Answer(Napi::Env env) override {
    const Handle handle = Handles::Process().Add<Engine>(engine_);
    if (handle == 0) throw Napi::Error::New(env, "no handle is free");
    own_->Add(handle);
    Napi::Object answer = Napi::Object::New(env);
    answer.Set("handle", ToNumber(env, handle));
    answer.Set("facts", ToObject(env, engine_->facts()));
    return answer;
  }

 private:
  const runtime::EngineOptions options_;
  const std::shared_ptr<OwnHandles<Engine>> own_;
  std::shared_ptr<Engine> engine_;
};

// (engine, request, ring) -> the stream's handle; 0 when engine or ring are gone.
Napi::Value Start(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto engine = Handles::Process().Get<Engine>(HandleOf(info));
  runtime::SpeechRequest request = SpeechRequestIn(info[1]);
  const double ring_handle = NumberIn(info[2], "ring", 0, 9007199254740991.0);
  const auto ring = Handles::Process().Get<ByteRing>(static_cast<Handle>(ring_handle));
  if (!engine || !ring) return Napi::Number::New(env, 0);
  auto sink = std::make_shared<RingSink>(engine, ring);
  const Handle handle = Handles::Process().Add(sink);
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  sink->SetNotifier(Notifier::For(env), handle);
  const runtime::StreamId stream = engine->Start(std::move(request), sink);
  if (stream == 0) Handles::Process().Remove<RingSink>(handle);
  sink->Started(stream);
  return ToNumber(env, stream == 0 ? 0 : handle);
}

// Returns null before the stream's end. The first other result removes the stream.
Napi::Value End(const Napi::CallbackInfo& info) {
  const auto sink = Handles::Process().Get<RingSink>(HandleOf(info));
  if (!sink) return info.Env().Null();
  const auto end = sink->End();
  if (!end) return info.Env().Null();
  Handles::Process().Remove<RingSink>(HandleOf(info));
  return ToObject(info.Env(), *end);
}

// False for a stream that is gone.
Napi::Value Waits(const Napi::CallbackInfo& info) {
  const auto sink = Handles::Process().Get<RingSink>(HandleOf(info));
  return Napi::Boolean::New(info.Env(), sink && sink->IsWaiting());
}

// (stream, text, last)
void AddText(const Napi::CallbackInfo& info) {
  std::string text = StringIn(info[1], "text");
  const bool last = BooleanIn(info[2], "last");
  if (const auto sink = Handles::Process().Get<RingSink>(HandleOf(info)))
    sink->AddText(std::move(text), last);
}

void Cancel(const Napi::CallbackInfo& info) {
  if (const auto sink = Handles::Process().Get<RingSink>(HandleOf(info))) sink->Cancel();
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const auto engine = Handles::Process().Get<Engine>(HandleOf(info));
  return engine ? ToObject(info.Env(), engine->stats()) : info.Env().Null();
}

}  // namespace

void InitSpeech(Napi::Env env, Napi::Object exports) {
  const auto own = std::make_shared<OwnHandles<Engine>>();
  env.AddCleanupHook([own] { own->CloseAll(); });
  const auto inspect = [](const Napi::CallbackInfo& info) {
    return Promise<Inspection>(info.Env(), StringIn(info[0], "directory"));
  };
  const auto open = [own](const Napi::CallbackInfo& info) {
    return Promise<Opening>(info.Env(), EngineOptionsIn(info[0]), own);
  };
  const auto close = [own](const Napi::CallbackInfo& info) {
    own->Forget(HandleOf(info));
    return Promise<Closing<Engine>>(info.Env(), Handles::Process().Remove<Engine>(HandleOf(info)));
  };
  exports.Set("speechInspect", Napi::Function::New(env, inspect, "speechInspect"));
  exports.Set("speechOpen", Napi::Function::New(env, open, "speechOpen"));
  exports.Set("speechClose", Napi::Function::New(env, close, "speechClose"));
  exports.Set("speechStart", Napi::Function::New(env, Start, "speechStart"));
  exports.Set("speechEnd", Napi::Function::New(env, End, "speechEnd"));
  exports.Set("speechWaits", Napi::Function::New(env, Waits, "speechWaits"));
  exports.Set("speechText", Napi::Function::New(env, AddText, "speechText"));
  exports.Set("speechCancel", Napi::Function::New(env, Cancel, "speechCancel"));
  exports.Set("speechStats", Napi::Function::New(env, Stats, "speechStats"));
}

}  // namespace parley
