// Each function adds the functions of one face to the addon's exports. addon.cc calls them once for every
// JavaScript environment.
#ifndef PARLEY_BINDING_INIT_H_
#define PARLEY_BINDING_INIT_H_

#include <napi.h>

namespace parley {

void InitRings(Napi::Env env, Napi::Object exports);       // src/audio/pcm-ring.ts
void InitMedia(Napi::Env env, Napi::Object exports);       // src/media
void InitDtls(Napi::Env env, Napi::Object exports);        // src/media/dtls-association.ts
void InitSpeech(Napi::Env env, Napi::Object exports);      // src/engines/qwen3/native-speech.ts
void InitRecogniser(Napi::Env env, Napi::Object exports);  // src/engines/qwen3/native-recogniser.ts

}  // namespace parley

#endif  // PARLEY_BINDING_INIT_H_
