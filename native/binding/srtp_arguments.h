// SRTP keys as JavaScript passes them: {profile, key, salt, mkiBytes}.
#ifndef PARLEY_BINDING_SRTP_ARGUMENTS_H_
#define PARLEY_BINDING_SRTP_ARGUMENTS_H_

#include "binding/arguments.h"
#include "media/srtp_profile.h"

namespace parley {

struct SrtpKeys {
  SrtpProfile profile;
  Bytes key;  // valid during the call
  Bytes salt;
  size_t mki_bytes;  // of packets that are received
};

// Throws an error that names the field when the profile is unknown or a length does not suit it.
SrtpKeys SrtpKeysIn(const Napi::Value& value);

}  // namespace parley

#endif  // PARLEY_BINDING_SRTP_ARGUMENTS_H_
