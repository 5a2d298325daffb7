// Slow operations of engines (reading, loading, ending): they run in libuv's pool and settle promises.
#ifndef PARLEY_BINDING_PROMISED_H_
#define PARLEY_BINDING_PROMISED_H_

#include <napi.h>

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "binding/handles.h"

namespace parley {

// The engines of one environment, which its end closes. Used by its thread, and by threads of the pool while
// an engine closes.
template <class Engine>
class OwnHandles {
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

// Work in libuv's pool that settles a promise.
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
      deferred_.Reject(error.Value());  // otherwise the promise would never settle
    }
  }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Napi::Promise::Deferred deferred_;
};

// libuv's pool owns the work until its promise is settled.
template <class Work, class... Arguments>
Napi::Value Promise(Arguments&&... arguments) {
  return (new Work(std::forward<Arguments>(arguments)...))->Begin();
}

// Ends an engine.
template <class Engine>
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

}  // namespace parley

#endif  // PARLEY_BINDING_PROMISED_H_
