// The addon's one entry. It runs once for every JavaScript environment that
// loads the binary: the main thread and each worker.
#include <napi.h>

#include "binding/dtls_binding.h"
#include "binding/media_binding.h"
#include "binding/notifier.h"
#include "binding/ring_binding.h"
#include "binding/speech_binding.h"

namespace parley {

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Notifier::Init(env, exports);
  InitRings(env, exports);
  InitMedia(env, exports);
  InitDtls(env, exports);
  InitSpeech(env, exports);
  return exports;
}

}  // namespace parley

using parley::Init;
NODE_API_MODULE(parley, Init)
