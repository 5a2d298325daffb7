// The addon's one entry. It runs once for every JavaScript environment that
// loads the binary: the main thread and each worker.
#include <napi.h>

#include "binding/init.h"
#include "binding/notifier.h"

namespace parley {

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  Notifier::Init(env, exports);
  InitRings(env, exports);
  InitMedia(env, exports);
  InitDtls(env, exports);
  InitSpeech(env, exports);
  InitRecogniser(env, exports);
  return exports;
}

}  // namespace parley

using parley::Init;
NODE_API_MODULE(parley, Init)
