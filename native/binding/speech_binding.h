#ifndef PARLEY_BINDING_SPEECH_BINDING_H_
#define PARLEY_BINDING_SPEECH_BINDING_H_

#include <napi.h>

namespace parley {

// Adds the speech... functions; src/engines/qwen3/native-speech.ts is their face.
void InitSpeech(Napi::Env env, Napi::Object exports);

}  // namespace parley

#endif  // PARLEY_BINDING_SPEECH_BINDING_H_
