#ifndef PARLEY_BINDING_MEDIA_BINDING_H_
#define PARLEY_BINDING_MEDIA_BINDING_H_

#include <napi.h>

#include <memory>

#include "media/plane.h"

namespace parley {

// Object behind a stream's handle: the stream, and the plane that runs it. It is a playout or a listener, and
// the other pointer is null.
struct StreamEntry {
  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<RtpStream> stream;
  std::shared_ptr<Stream> playout;
  std::shared_ptr<Listener> listener;
};

// Object behind a socket's handle: a call's sockets, and the plane that reads them.
struct SocketEntry {
  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<MediaSocket> socket;
};

// Object behind an association's handle: the association, and the plane whose thread does its work.
struct DtlsEntry {
  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<DtlsAssociation> association;
};

// Object behind the handle of ears: they hear calls of this plane.
struct EarsEntry {
  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<Ears> ears;
};

// Object behind a mixer's handle: the mixer, and the plane whose thread does its work.
struct MixerEntry {
  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<Mixer> mixer;
};

// Object behind a plane's handle.
struct PlaneEntry {
  std::shared_ptr<MediaPlane> plane;
  napi_env env;  // the environment whose end closes the plane
};

Napi::Object HearingOf(Napi::Env env, const HearingFigures& figures);

// Adds plane..., stream..., listener..., socket..., ports..., mux..., ears..., relay..., mixer... and
// member... functions. Their faces are media-plane.ts, playout.ts, playout-listener.ts, media-socket.ts,
// udp-mux.ts, ears.ts, media-relay.ts and media-mixer.ts in src/media.
void InitPlanes(Napi::Env env, Napi::Object exports);
void InitStreams(Napi::Env env, Napi::Object exports);
void InitSockets(Napi::Env env, Napi::Object exports);
void InitMuxes(Napi::Env env, Napi::Object exports);   // by InitSockets
void InitEars(Napi::Env env, Napi::Object exports);    // by InitSockets
void InitMixers(Napi::Env env, Napi::Object exports);  // by InitSockets
void InitRelays(Napi::Env env, Napi::Object exports);

}  // namespace parley

#endif  // PARLEY_BINDING_MEDIA_BINDING_H_
