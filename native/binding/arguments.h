// Reads arguments from JavaScript. Every mistake throws a TypeError or RangeError that names the argument.
#ifndef PARLEY_BINDING_ARGUMENTS_H_
#define PARLEY_BINDING_ARGUMENTS_H_

#include <napi.h>

#include <cstdint>
#include <string>

#include "audio/voice_codec.h"
#include "binding/handles.h"
#include "media/srtp_cipher.h"

namespace parley {

struct Bytes {
  const uint8_t* data;  // valid during the call
  size_t size;
};

// SRTP keys as JavaScript passes them: {profile, key, salt, mkiBytes}.
struct SrtpKeys {
  SrtpProfile profile;
  Bytes key;  // valid during the call
  Bytes salt;
  size_t mki_bytes;  // on received packets
};

// Throws an error that names the field when the profile is unknown or a length does not suit it.
SrtpKeys SrtpKeysIn(const Napi::Value& value);

// Returns the handle at `info[0]`. Any number is accepted: a stale handle gives an ordinary result, not an
// error.
Handle HandleOf(const Napi::CallbackInfo& info);
Handle HandleIn(const Napi::Value& value, const char* name);

double NumberIn(const Napi::Value& value, const char* name, double low, double high);
uint32_t Uint32In(const Napi::Value& value, const char* name, double low = 0, double high = UINT32_MAX);
bool BooleanIn(const Napi::Value& value, const char* name);
std::string StringIn(const Napi::Value& value, const char* name);
// "PCMU", "PCMA", "G722", "opus" or "L16".
VoiceCodec VoiceCodecIn(const Napi::Value& value, const char* name);
// A Uint8Array of `low` to `high` bytes.
Bytes BytesIn(const Napi::Value& value, const char* name, size_t low, size_t high);
Napi::Object ObjectIn(const Napi::Value& value, const char* name);

inline Napi::Number ToNumber(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

}  // namespace parley

#endif  // PARLEY_BINDING_ARGUMENTS_H_
