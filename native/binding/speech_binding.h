#ifndef PARLEY_BINDING_SPEECH_BINDING_H_
#define PARLEY_BINDING_SPEECH_BINDING_H_

#include <napi.h>

#include "runtime/engine.h"

namespace parley {

// Requests and options come from JavaScript; answers go back to it.
//
// Throw a TypeError or RangeError that names the field.
runtime::EngineOptions EngineOptionsIn(const Napi::Value& value);
runtime::SpeechRequest SpeechRequestIn(const Napi::Value& value);

// From milliseconds from now; infinite: never.
runtime::Clock::time_point DueIn(const Napi::Value& value, const char* name);

Napi::Object ToObject(Napi::Env env, const runtime::EngineFacts& facts);
Napi::Object ToObject(Napi::Env env, const runtime::EngineStats& stats);
Napi::Object ToObject(Napi::Env env, const runtime::StreamEnd& end);

// Adds the speech... functions; src/engines/qwen3/native-speech.ts is their face.
void InitSpeech(Napi::Env env, Napi::Object exports);

}  // namespace parley

#endif  // PARLEY_BINDING_SPEECH_BINDING_H_
