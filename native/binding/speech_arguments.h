// Requests and options of the speech engine as JavaScript passes them, and its
// answers as JavaScript gets them.
#ifndef PARLEY_BINDING_SPEECH_ARGUMENTS_H_
#define PARLEY_BINDING_SPEECH_ARGUMENTS_H_

#include <napi.h>

#include "runtime/engine.h"

namespace parley {

// Throw a TypeError or RangeError that names the field.
runtime::EngineOptions EngineOptionsIn(const Napi::Value& value);
runtime::SpeechRequest SpeechRequestIn(const Napi::Value& value);

// From milliseconds from now; infinite: never.
runtime::Clock::time_point DueIn(const Napi::Value& value, const char* name);

Napi::Object ToObject(Napi::Env env, const runtime::EngineFacts& facts);
Napi::Object ToObject(Napi::Env env, const runtime::EngineStats& stats);
Napi::Object ToObject(Napi::Env env, const runtime::StreamEnd& end);

}  // namespace parley

#endif  // PARLEY_BINDING_SPEECH_ARGUMENTS_H_
