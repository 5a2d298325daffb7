// The speech engine as JavaScript sees it. What takes long (reading, loading,
// ending) is a promise, worked on in libuv's pool; everything else answers at once.
// A handle that names nothing any more is an answer, never an exception.
//
// Engines belong to the environment that opened them: its end closes them.
#include "binding/speech_binding.h"

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/ring_sink.h"
#include "binding/speech_arguments.h"
#include "runtime/inspect.h"

namespace parley {
namespace {

using runtime::Engine;

// The engines of one environment. Its thread, and threads of the pool while one closes.
class OwnEngines {
 public:
  void Add(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handles_.insert(handle);
  }
  void Forget(Handle handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    handles_.erase(handle);
  }
  void CloseAll() {
    std::set<Handle> handles;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      handles.swap(handles_);
    }
    for (const Handle handle : handles) {
      if (const auto engine = Handles::Process().Remove<Engine>(handle)) engine->Close();
    }
  }

 private:
  std::mutex mutex_;
  std::set<Handle> handles_;
};

// Work in the pool whose answer is a promise.
class Promised : public Napi::AsyncWorker {
 public:
  explicit Promised(Napi::Env env) : AsyncWorker(env), deferred_(env) {}
  Napi::Promise Begin() {
    const Napi::Promise promise = deferred_.Promise();
    Queue();
    return promise;
  }

 protected:
  virtual Napi::Value Answer(Napi::Env env) = 0;
  void OnOK() override {
    try {
      deferred_.Resolve(Answer(Env()));
    } catch (const Napi::Error& error) {
      deferred_.Reject(error.Value());  // else nobody would ever be answered
    }
  }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Napi::Promise::Deferred deferred_;
};

class Inspection final : public Promised {
 public:
  Inspection(Napi::Env env, std::string directory) : Promised(env), directory_(std::move(directory)) {}
  void Execute() override {
    std::string problem;
    if (!runtime::Inspect(directory_, &facts_, &problem)) SetError(problem);
  }
  Napi::Value Answer(Napi::Env env) override { return ToObject(env, facts_); }

 private:
  const std::string directory_;
  runtime::EngineFacts facts_;
};

class Opening final : public Promised {
 public:
  Opening(Napi::Env env, runtime::EngineOptions options, std::shared_ptr<OwnEngines> own)
      : Promised(env), options_(std::move(options)), own_(std::move(own)) {}
  void Execute() override {
    std::string problem;
    engine_ = Engine::Open(options_, &problem);
    if (engine_ == nullptr) SetError(problem);
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
  const std::shared_ptr<OwnEngines> own_;
  std::shared_ptr<Engine> engine_;
};

class Closing final : public Promised {
 public:
  Closing(Napi::Env env, std::shared_ptr<Engine> engine) : Promised(env), engine_(std::move(engine)) {}
  void Execute() override {
    if (engine_) engine_->Close();
  }
  Napi::Value Answer(Napi::Env env) override { return env.Undefined(); }

 private:
  const std::shared_ptr<Engine> engine_;
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
  sink->Tell(Notifier::For(env), handle);
  const runtime::StreamId stream = engine->Start(std::move(request), sink);
  if (stream == 0) Handles::Process().Remove<RingSink>(handle);
  sink->Started(stream);
  return ToNumber(env, stream == 0 ? 0 : handle);
}

// Null while the stream goes on; the first answer that is not forgets it.
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
  if (const auto sink = Handles::Process().Get<RingSink>(HandleOf(info))) sink->AddText(std::move(text), last);
}

void Cancel(const Napi::CallbackInfo& info) {
  if (const auto sink = Handles::Process().Get<RingSink>(HandleOf(info))) sink->Cancel();
}

void SetDue(const Napi::CallbackInfo& info) {
  const auto due = DueIn(info[1], "dueInMs");
  if (const auto sink = Handles::Process().Get<RingSink>(HandleOf(info))) sink->SetDue(due);
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const auto engine = Handles::Process().Get<Engine>(HandleOf(info));
  return engine ? ToObject(info.Env(), engine->stats()) : info.Env().Null();
}

// Owned by libuv's pool until their answer is given.
template <class Work, class... Arguments>
Napi::Value Promise(Arguments&&... arguments) {
  return (new Work(std::forward<Arguments>(arguments)...))->Begin();
}

}  // namespace

void InitSpeech(Napi::Env env, Napi::Object exports) {
  const auto own = std::make_shared<OwnEngines>();
  env.AddCleanupHook([own] { own->CloseAll(); });
  const auto inspect = [](const Napi::CallbackInfo& info) {
    return Promise<Inspection>(info.Env(), StringIn(info[0], "directory"));
  };
  const auto open = [own](const Napi::CallbackInfo& info) {
    return Promise<Opening>(info.Env(), EngineOptionsIn(info[0]), own);
  };
  const auto close = [own](const Napi::CallbackInfo& info) {
    own->Forget(HandleOf(info));
    return Promise<Closing>(info.Env(), Handles::Process().Remove<Engine>(HandleOf(info)));
  };
  exports.Set("speechInspect", Napi::Function::New(env, inspect, "speechInspect"));
  exports.Set("speechOpen", Napi::Function::New(env, open, "speechOpen"));
  exports.Set("speechClose", Napi::Function::New(env, close, "speechClose"));
  exports.Set("speechStart", Napi::Function::New(env, Start, "speechStart"));
  exports.Set("speechEnd", Napi::Function::New(env, End, "speechEnd"));
  exports.Set("speechWaits", Napi::Function::New(env, Waits, "speechWaits"));
  exports.Set("speechText", Napi::Function::New(env, AddText, "speechText"));
  exports.Set("speechCancel", Napi::Function::New(env, Cancel, "speechCancel"));
  exports.Set("speechDue", Napi::Function::New(env, SetDue, "speechDue"));
  exports.Set("speechStats", Napi::Function::New(env, Stats, "speechStats"));
}

}  // namespace parley
