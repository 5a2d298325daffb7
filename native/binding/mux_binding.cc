// Node-API binding of ports that calls share.
#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/media_binding.h"
#include "media/receive/udp_mux.h"

namespace parley {
namespace {

constexpr double kMaxDscp = 63;

// Returns the handle, or a text with the reason why there is none.
Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object options = ObjectIn(info[0], "options");
  UdpMuxConfig config;
  const Napi::Value addresses = options.Get("addresses");
  if (!addresses.IsArray()) throw Napi::TypeError::New(env, "addresses must be an array");
  const auto list = addresses.As<Napi::Array>();
  for (uint32_t n = 0; n < list.Length() && n <= UdpMux::kMaxAddresses; n++) {
    config.addresses.push_back(StringIn(list.Get(n), "addresses"));
  }
  config.port = static_cast<uint16_t>(Uint32In(options.Get("port"), "port", 0, 65'535));
  config.dscp = static_cast<int>(Uint32In(options.Get("dscp"), "dscp", 0, kMaxDscp));
  if (options.Has("tcpPort")) {
    config.tcp_port = static_cast<int>(Uint32In(options.Get("tcpPort"), "tcpPort", 0, 65'535));
  }
  std::string problem;
  auto mux = UdpMux::Open(config, &problem);
  if (!mux) return Napi::String::New(env, problem);
  const Handle handle = Handles::Process().Add(std::move(mux));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  return ToNumber(env, handle);
}

Napi::Value Port(const Napi::CallbackInfo& info) {
  const auto mux = Handles::Process().Get<UdpMux>(HandleOf(info));
  return ToNumber(info.Env(), uint64_t{mux ? mux->port() : 0U});
}

Napi::Value TcpPort(const Napi::CallbackInfo& info) {
  const auto mux = Handles::Process().Get<UdpMux>(HandleOf(info));
  return ToNumber(info.Env(), uint64_t{mux ? mux->tcp_port() : 0U});
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto mux = Handles::Process().Get<UdpMux>(HandleOf(info));
  if (!mux) return env.Null();
  const UdpMux::Stats stats = mux->Count();
  const std::pair<const char*, uint64_t> counts[] = {
      {"datagrams", stats.datagrams},
      {"unknown", stats.unknown},
      {"malformed", stats.malformed},
      {"contested", stats.contested},
      {"kernelDrops", stats.kernel_drops},
      {"receiveBufferBytes", static_cast<uint64_t>(stats.receive_buffer_bytes)},
      {"sendBufferBytes", static_cast<uint64_t>(stats.send_buffer_bytes)},
      {"fragments", stats.calls.fragments},
      {"addresses", stats.calls.addresses},
      {"tcpConnections", stats.tcp.connections},
      {"tcpAccepted", stats.tcp.accepted},
      {"tcpRefused", stats.tcp.refused},
      {"tcpExpired", stats.tcp.expired},
      {"tcpDropped", stats.tcp.dropped}};
  Napi::Object result = Napi::Object::New(env);
  for (const auto& [name, value] : counts) result.Set(name, ToNumber(env, value));
  return result;
}

void Close(const Napi::CallbackInfo& info) { Handles::Process().Remove<UdpMux>(HandleOf(info)); }

}  // namespace

void InitMuxes(Napi::Env env, Napi::Object exports) {
  exports.Set("muxOpen", Napi::Function::New(env, Open, "muxOpen"));
  exports.Set("muxPort", Napi::Function::New(env, Port, "muxPort"));
  exports.Set("muxTcpPort", Napi::Function::New(env, TcpPort, "muxTcpPort"));
  exports.Set("muxStats", Napi::Function::New(env, Stats, "muxStats"));
  exports.Set("muxClose", Napi::Function::New(env, Close, "muxClose"));
}

}  // namespace parley
