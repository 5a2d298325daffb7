#ifndef PARLEY_BINDING_DTLS_BINDING_H_
#define PARLEY_BINDING_DTLS_BINDING_H_

#include <napi.h>

namespace parley {

// Adds identity... and dtls... functions; src/media/dtls-certificate.ts and
// src/media/dtls-association.ts are their face.
void InitDtls(Napi::Env env, Napi::Object exports);

}  // namespace parley

#endif  // PARLEY_BINDING_DTLS_BINDING_H_
