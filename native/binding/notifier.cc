#include "binding/notifier.h"

#include <thread>

namespace parley {
namespace {

// The addon's data for one environment.
struct EnvironmentData {
  std::shared_ptr<Notifier> notifier;
};

}  // namespace

void Notifier::Init(Napi::Env env, Napi::Object exports) {
  auto data = std::make_unique<EnvironmentData>();
  data->notifier = std::shared_ptr<Notifier>(new Notifier(env));
  data->notifier->Open(data->notifier);
  env.SetInstanceData(data.release());
  exports.Set("onReady", Napi::Function::New(env, OnReady, "onReady"));
}

std::shared_ptr<Notifier> Notifier::For(Napi::Env env) {
  return env.GetInstanceData<EnvironmentData>()->notifier;
}

void Notifier::Ready(const std::shared_ptr<Notifier>& notifier, Handle handle) {
  auto node = std::make_unique<ReadyNode>();
  node->sink = notifier;
  node->handle = handle;
  Push(std::move(node));
}

// Open and Close run on the environment's thread.

void Notifier::Open(const std::shared_ptr<Notifier>& self) {
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env_, &loop) != napi_ok) {
    throw Napi::Error::New(env_, "this environment has no event loop");
  }
  async_.data = this;
  uv_async_init(loop, &async_, [](uv_async_t* async) { static_cast<Notifier*>(async->data)->Deliver(); });
  uv_unref(reinterpret_cast<uv_handle_t*>(&async_));
  self_ = self;
  napi_async_init(env_, Napi::Object::New(env_), Napi::String::New(env_, "parley:ready"), &context_);
  napi_add_async_cleanup_hook(env_, Cleanup, this, &hook_);
  open_.store(true);
}

void Notifier::Cleanup(napi_async_cleanup_hook_handle, void* self) { static_cast<Notifier*>(self)->Close(); }

// After this no other thread touches async_. libuv releases it one turn later, and only then may the
// environment continue its end.
void Notifier::Close() {
  open_.store(false);
  while (wakers_.load() != 0) std::this_thread::yield();
  callback_.Reset();
  napi_async_destroy(env_, context_);
  uv_close(reinterpret_cast<uv_handle_t*>(&async_), [](uv_handle_t* handle) {
    const std::shared_ptr<Notifier> last = std::move(static_cast<Notifier*>(handle->data)->self_);
    napi_remove_async_cleanup_hook(last->hook_);
  });
}

void Notifier::OnReady(const Napi::CallbackInfo& info) {
  if (info.Length() < 1 || !info[0].IsFunction()) {
    throw Napi::TypeError::New(info.Env(), "callback must be a function");
  }
  For(info.Env())->callback_ = Napi::Persistent(info[0].As<Napi::Function>());
}

// Uses plain Node-API: an environment that is being ended refuses every call, and the refusal must not become
// a C++ exception.
void Notifier::Deliver() {
  const std::vector<uint64_t> handles = Take();
  if (handles.empty() || callback_.IsEmpty()) return;
  Napi::HandleScope scope(env_);
  napi_value list = nullptr;
  napi_value global = nullptr;
  napi_value callback = nullptr;
  if (napi_create_array_with_length(env_, handles.size(), &list) != napi_ok ||
      napi_get_global(env_, &global) != napi_ok ||
      napi_get_reference_value(env_, callback_, &callback) != napi_ok) {
    return;
  }
  for (size_t i = 0; i < handles.size(); i++) {
    napi_value number = nullptr;
    if (napi_create_double(env_, static_cast<double>(handles[i]), &number) != napi_ok ||
        napi_set_element(env_, list, static_cast<uint32_t>(i), number) != napi_ok) {
      return;
    }
  }
  if (napi_make_callback(env_, context_, global, callback, 1, &list, nullptr) == napi_ok) return;
  napi_value error = nullptr;
  bool thrown = false;
  if (napi_is_exception_pending(env_, &thrown) == napi_ok && thrown &&
      napi_get_and_clear_last_exception(env_, &error) == napi_ok) {
    napi_fatal_exception(env_, error);
  }
}

// Any thread.

void Notifier::Wake() {
  wakers_.fetch_add(1);
  if (open_.load()) uv_async_send(&async_);
  wakers_.fetch_sub(1);
}

}  // namespace parley
