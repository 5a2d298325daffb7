#include "binding/arguments.h"

#include <cmath>
#include <cstdio>

#include "media/srtp.h"

namespace parley {
namespace {

Napi::Error WrongType(const Napi::Value& value, const char* name, const char* wanted) {
  return Napi::TypeError::New(value.Env(), std::string(name) + " must be " + wanted);
}

Napi::Error OutOfRange(const Napi::Value& value, const char* name, double low, double high) {
  char text[128];
  std::snprintf(text, sizeof(text), "%s must be from %.15g to %.15g", name, low, high);
  return Napi::RangeError::New(value.Env(), text);
}

}  // namespace

Handle HandleOf(const Napi::CallbackInfo& info) {
  if (!info[0].IsNumber()) throw WrongType(info[0], "handle", "a number");
  const double value = info[0].As<Napi::Number>().DoubleValue();
  return value >= 0 && value < 9007199254740992.0 ? static_cast<Handle>(value) : 0;
}

Handle HandleIn(const Napi::Value& value, const char* name) {
  return static_cast<Handle>(NumberIn(value, name, 0, 9007199254740991.0));
}

double NumberIn(const Napi::Value& value, const char* name, double low, double high) {
  if (!value.IsNumber()) throw WrongType(value, name, "a number");
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!(number >= low && number <= high)) throw OutOfRange(value, name, low, high);
  return number;
}

uint32_t Uint32In(const Napi::Value& value, const char* name, double low, double high) {
  const double number = NumberIn(value, name, low, high);
  if (std::floor(number) != number) throw WrongType(value, name, "a whole number");
  return static_cast<uint32_t>(number);
}

bool BooleanIn(const Napi::Value& value, const char* name) {
  if (!value.IsBoolean()) throw WrongType(value, name, "a boolean");
  return value.As<Napi::Boolean>().Value();
}

std::string StringIn(const Napi::Value& value, const char* name) {
  if (!value.IsString()) throw WrongType(value, name, "a string");
  return value.As<Napi::String>().Utf8Value();
}

VoiceCodec VoiceCodecIn(const Napi::Value& value, const char* name) {
  const std::string text = StringIn(value, name);
  if (text == "PCMU") return VoiceCodec::kPcmu;
  if (text == "PCMA") return VoiceCodec::kPcma;
  if (text == "G722") return VoiceCodec::kG722;
  if (text == "opus") return VoiceCodec::kOpus;
  if (text == "L16") return VoiceCodec::kL16;
  throw Napi::RangeError::New(value.Env(), std::string(name) + " must be PCMU, PCMA, G722, opus or L16");
}

Bytes BytesIn(const Napi::Value& value, const char* name, size_t low, size_t high) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
    throw WrongType(value, name, "a Uint8Array");
  }
  const auto array = value.As<Napi::Uint8Array>();
  if (array.ByteLength() < low || array.ByteLength() > high) {
    throw OutOfRange(value, (std::string(name) + ".length").c_str(), static_cast<double>(low),
                     static_cast<double>(high));
  }
  return {array.Data(), array.ByteLength()};
}

Napi::Object ObjectIn(const Napi::Value& value, const char* name) {
  if (!value.IsObject()) throw WrongType(value, name, "an object");
  return value.As<Napi::Object>();
}

namespace {

const SrtpShape& ShapeIn(const Napi::Value& value) {
  const std::string name = StringIn(value, "srtp.profile");
  std::string names;
  for (const SrtpShape& shape : kSrtpShapes) {
    if (name == shape.name) return shape;
    names += std::string(names.empty() ? "" : ", ") + shape.name;
  }
  throw Napi::RangeError::New(value.Env(), "srtp.profile must be one of " + names);
}

}  // namespace

SrtpKeys SrtpKeysIn(const Napi::Value& value) {
  const Napi::Object srtp = ObjectIn(value, "srtp");
  const SrtpShape& shape = ShapeIn(srtp.Get("profile"));
  const Napi::Value mki = srtp.Get("mkiBytes");
  const double mki_bytes =
      mki.IsUndefined() ? 0 : NumberIn(mki, "srtp.mkiBytes", 0, SrtpReceiver::kMaxMkiBytes);
  return {shape.profile, BytesIn(srtp.Get("key"), "srtp.key", shape.key_bytes, shape.key_bytes),
          BytesIn(srtp.Get("salt"), "srtp.salt", shape.salt_bytes, shape.salt_bytes),
          static_cast<size_t>(mki_bytes)};
}

}  // namespace parley
