#ifndef PARLEY_BINDING_SPEECH_BINDING_H_
#define PARLEY_BINDING_SPEECH_BINDING_H_

#include <napi.h>

namespace parley {

// Adds the speech... functions; src/speech/engines/native-speech.ts is their face.
void InitSpeech(Napi::Env env, Napi::Object exports);

}  // namespace parley

#endif  // PARLEY_BINDING_SPEECH_BINDING_H_
