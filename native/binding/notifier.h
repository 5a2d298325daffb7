// Notifies one JavaScript environment (the main thread or a worker). Native threads signal a handle, and the
// environment's callback gets every ready handle in one call.
//
// A notifier never keeps its process or worker alive. It may outlive its environment while references to it
// remain; signalling it then does nothing.
#ifndef PARLEY_BINDING_NOTIFIER_H_
#define PARLEY_BINDING_NOTIFIER_H_

#include <napi.h>
#include <uv.h>

#include <atomic>
#include <memory>

#include "binding/handles.h"
#include "media/ready.h"

namespace parley {

class Notifier : public ReadySink {
 public:
  // Once per environment, from the addon's Init. Adds `onReady(callback)`.
  static void Init(Napi::Env env, Napi::Object exports);

  // The environment's own. Call it on the environment's thread.
  static std::shared_ptr<Notifier> For(Napi::Env env);

  // From any thread. It allocates: the clock fires a ReadyWatch instead.
  static void Ready(const std::shared_ptr<Notifier>& notifier, Handle handle);

  ~Notifier() override = default;

 protected:
  void Wake() override;

 private:
  explicit Notifier(Napi::Env env) : env_(env) {}

  void Open(const std::shared_ptr<Notifier>& self);
  void Close();
  void Deliver();
  static void Cleanup(napi_async_cleanup_hook_handle hook, void* self);
  static void OnReady(const Napi::CallbackInfo& info);

  // Used by the environment's thread only.
  const Napi::Env env_;
  Napi::FunctionReference callback_;
  napi_async_context context_ = nullptr;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  std::shared_ptr<Notifier> self_;  // until libuv has let go of async_
  uv_async_t async_{};

  // Shared: a waker may use async_ only while open_, and Close waits for wakers.
  std::atomic<bool> open_{false};
  std::atomic<int> wakers_{0};
};

}  // namespace parley

#endif  // PARLEY_BINDING_NOTIFIER_H_
