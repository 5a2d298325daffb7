#ifndef PARLEY_BINDING_RING_BINDING_H_
#define PARLEY_BINDING_RING_BINDING_H_

#include <napi.h>

namespace parley {

// Adds ringOpen, ringWrite, ringEnd, ringRead, ringStatus, ringAbort,
// ringWatch and ringClose; src/audio/pcm-ring.ts is their face.
void InitRings(Napi::Env env, Napi::Object exports);

}  // namespace parley

#endif  // PARLEY_BINDING_RING_BINDING_H_
