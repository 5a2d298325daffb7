#include "binding/srtp_arguments.h"

#include "media/srtp_receiver.h"

namespace parley {
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
  const double mki_bytes = mki.IsUndefined() ? 0 : NumberIn(mki, "srtp.mkiBytes", 0, SrtpReceiver::kMaxMkiBytes);
  return {shape.profile, BytesIn(srtp.Get("key"), "srtp.key", shape.key_bytes, shape.key_bytes),
          BytesIn(srtp.Get("salt"), "srtp.salt", shape.salt_bytes, shape.salt_bytes),
          static_cast<size_t>(mki_bytes)};
}

}  // namespace parley
