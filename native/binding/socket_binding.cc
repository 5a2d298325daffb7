// Node-API binding of the calls' sockets, and of the ports that they take. A stale handle gives an ordinary
// result, never an exception: a call may end while JavaScript still queries it.
#include <algorithm>

#include "binding/arguments.h"
#include "binding/handles.h"
#include "binding/media_binding.h"
#include "media/receive/port_pool.h"
#include "media/receive/udp_mux.h"

namespace parley {
namespace {

constexpr double kMaxDrainMs = 3'600'000;
constexpr double kMaxNowMs = 1e12;
constexpr double kMaxWindowMs = 600'000;
constexpr double kMaxClockRate = 192'000;
constexpr size_t kFormatFields = 4;

std::shared_ptr<SocketEntry> EntryOf(const Napi::CallbackInfo& info) {
  return Handles::Process().Get<SocketEntry>(HandleOf(info));
}

Napi::Value OpenPorts(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Napi::Object options = ObjectIn(info[0], "options");
  PortPoolConfig config;
  config.address = StringIn(options.Get("address"), "address");
  config.first = static_cast<uint16_t>(Uint32In(options.Get("portMin"), "portMin", 1024, 65'535));
  config.last = static_cast<uint16_t>(Uint32In(options.Get("portMax"), "portMax", 1024, 65'535));
  config.first = static_cast<uint16_t>(config.first + config.first % 2);
  config.drain_ns = MsToNs(NumberIn(options.Get("drainMs"), "drainMs", 0, kMaxDrainMs));
  config.dscp = static_cast<int>(Uint32In(options.Get("dscp"), "dscp", 0, 63));
  std::string problem;
  auto pool = PortPool::Open(config, &problem);
  if (!pool) throw Napi::RangeError::New(env, problem);
  const Handle handle = Handles::Process().Add(std::move(pool));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  return ToNumber(env, handle);
}

Napi::Value CountPorts(const Napi::CallbackInfo& info) {
  const auto pool = Handles::Process().Get<PortPool>(HandleOf(info));
  if (!pool) return info.Env().Null();
  const PortPool::Counts counts = pool->Count(MsToNs(NumberIn(info[1], "nowMs", 0, kMaxNowMs)));
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("pairs", ToNumber(info.Env(), counts.pairs));
  result.Set("inUse", ToNumber(info.Env(), counts.in_use));
  result.Set("draining", ToNumber(info.Env(), counts.draining));
  result.Set("takenByOthers", ToNumber(info.Env(), counts.taken_by_others));
  return result;
}

void ClosePorts(const Napi::CallbackInfo& info) { Handles::Process().Remove<PortPool>(HandleOf(info)); }

// Returns the handle, or a text with the reason why there is none.
Napi::Value Open(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto owner = Handles::Process().Get<PlaneEntry>(HandleOf(info));
  if (!owner) throw Napi::Error::New(env, "this media plane is closed");
  const Napi::Object options = ObjectIn(info[1], "options");
  const bool mux = BooleanIn(options.Get("mux"), "mux");
  MediaSocket::Ways ways;
  std::string problem = "the media plane is closed or has all the sockets it can take";
  if (options.Has("ports")) {
    const auto pool = Handles::Process().Get<PortPool>(HandleIn(options.Get("ports"), "ports"));
    if (!pool) throw Napi::Error::New(env, "these ports are closed");
    ways.ports = pool->Take(mux, owner->plane->time().Now(), &problem);
    if (!ways.ports) return Napi::String::New(env, problem);
  } else if (options.Has("udpMux")) {
    ways.mux = Handles::Process().Get<UdpMux>(HandleIn(options.Get("udpMux"), "udpMux"));
    if (!ways.mux) throw Napi::Error::New(env, "this UDP mux is closed");
  }
  const auto socket = owner->plane->MakeSocket(std::move(ways), mux);
  if (!socket) return Napi::String::New(env, problem);
  const Handle handle =
      Handles::Process().Add(std::make_shared<SocketEntry>(SocketEntry{owner->plane, socket}));
  if (handle == 0) throw Napi::Error::New(env, "no handle is free");
  socket->set_handle(handle);
  if (!owner->plane->BeginSocket(socket)) {
    Handles::Process().Remove<SocketEntry>(handle);
    socket->Close();
    return Napi::String::New(env, problem);
  }
  return ToNumber(env, handle);
}

Napi::Value Port(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  return ToNumber(info.Env(), uint64_t{entry ? entry->socket->port() : 0U});
}

// Groups of four: payload type, kind (1 sound, 2 digit, 3 comfort noise, 4 RED), Hz, codec ("" unless sound).
void Format(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  if (!info[1].IsArray()) throw Napi::TypeError::New(info.Env(), "formats must be an array");
  const auto list = info[1].As<Napi::Array>();
  PayloadTypes types{};
  for (uint32_t n = 0; n + kFormatFields <= list.Length(); n += kFormatFields) {
    const uint32_t type = Uint32In(list.Get(n), "payloadType", 0, 127);
    const uint32_t kind = Uint32In(list.Get(n + 1), "kind", 1, 4);
    types[type].kind = static_cast<PayloadKind>(kind);
    types[type].clock_rate = Uint32In(list.Get(n + 2), "clockRate", 1000, kMaxClockRate);
    if (types[type].kind == PayloadKind::kSound) types[type].codec = VoiceCodecIn(list.Get(n + 3), "codec");
  }
  if (entry) entry->socket->SetPayloadTypes(types);
}

// `signalling` may be "" for none. `networks` are texts such as 10.0.0.0/8.
Latch::Rules LatchRulesIn(const Napi::Object& options) {
  const Napi::Env env = options.Env();
  Latch::Rules rules;
  rules.window_ns = MsToNs(NumberIn(options.Get("windowMs"), "windowMs", 0, kMaxWindowMs));
  rules.announced_only = BooleanIn(options.Get("announcedOnly"), "announcedOnly");
  rules.anywhere = BooleanIn(options.Get("anywhere"), "anywhere");
  const std::string signalling = StringIn(options.Get("signalling"), "signalling");
  rules.signalling = Address::Of(signalling, 0);
  if (!signalling.empty() && !rules.signalling.known()) {
    throw Napi::RangeError::New(env, "signalling must be an IP address");
  }
  const Napi::Value networks = options.Get("networks");
  if (!networks.IsArray()) throw Napi::TypeError::New(env, "networks must be an array");
  const auto list = networks.As<Napi::Array>();
  for (uint32_t n = 0; n < list.Length(); n++) {
    rules.networks.push_back(Network::Of(StringIn(list.Get(n), "networks")));
    if (!rules.networks.back().known()) {
      throw Napi::RangeError::New(env, "networks must be networks such as 10.0.0.0/8");
    }
  }
  return rules;
}

// The address "" means none.
void Learn(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const Napi::Object options = ObjectIn(info[1], "options");
  const std::string text = StringIn(options.Get("address"), "address");
  const auto port = static_cast<uint16_t>(Uint32In(options.Get("port"), "port", 0, 65'535));
  const std::string rtcp_text = StringIn(options.Get("rtcpAddress"), "rtcpAddress");
  const auto rtcp_port = static_cast<uint16_t>(Uint32In(options.Get("rtcpPort"), "rtcpPort", 0, 65'535));
  const Latch::Rules rules = LatchRulesIn(options);
  const Address rtp = Address::Of(text, port);
  if (!text.empty() && !rtp.known()) throw Napi::RangeError::New(info.Env(), "address must be an IP address");
  const Address rtcp = Address::Of(rtcp_text, rtcp_port);
  if (!rtcp_text.empty() && !rtcp.known()) {
    throw Napi::RangeError::New(info.Env(), "rtcpAddress must be an IP address");
  }
  const bool mux = BooleanIn(options.Get("mux"), "mux");
  if (entry) entry->socket->Learn(rtp, rtcp, mux, rules);
}

// Takes keys, "plain" or "closed".
void Srtp(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  if (info[1].IsString()) {
    const std::string name = StringIn(info[1], "srtp");
    if (name != "plain" && name != "closed") {
      throw Napi::RangeError::New(info.Env(), "srtp must be keys, plain or closed");
    }
    if (entry) entry->socket->SetProtection(name == "plain" ? Protection::kPlain : Protection::kClosed);
    return;
  }
  const SrtpKeys keys = SrtpKeysIn(info[1]);
  if (entry && !entry->socket->SetSrtp(keys.profile, keys.key.data, keys.key.size, keys.salt.data,
                                       keys.salt.size, keys.mki_bytes)) {
    throw Napi::Error::New(info.Env(), "the crypto library refused the SRTP keys");
  }
}

std::string CredentialIn(const Napi::Object& options, const char* name, size_t low) {
  const std::string text = StringIn(options.Get(name), name);
  if (text.size() < low || text.size() > IceCredentials::kMaxBytes) {
    throw Napi::RangeError::New(options.Env(), std::string(name) + " must have " + std::to_string(low) +
                                                   " to " + std::to_string(IceCredentials::kMaxBytes) +
                                                   " characters");
  }
  return text;
}

// Null ends ICE. False: another call of the port has this fragment.
Napi::Value UseIce(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const bool follow = BooleanIn(info[2], "follow");
  std::optional<IceCredentials> credentials;
  if (!info[1].IsNull()) {
    const Napi::Object options = ObjectIn(info[1], "credentials");
    credentials.emplace();
    credentials->local_fragment = CredentialIn(options, "localUfrag", IceCredentials::kMinFragment);
    credentials->local_password = CredentialIn(options, "localPwd", IceCredentials::kMinPassword);
    credentials->remote_fragment = CredentialIn(options, "remoteUfrag", 1);
    credentials->remote_password = CredentialIn(options, "remotePwd", 1);
    if (credentials->local_fragment.find(':') != std::string::npos) {
      throw Napi::RangeError::New(info.Env(), "localUfrag must not contain a colon");
    }
  }
  const bool taken = entry && entry->socket->UseIce(std::move(credentials), follow) ==
                                  MediaSocket::IceResult::kFragmentTaken;
  return Napi::Boolean::New(info.Env(), !taken);
}

void LeavePath(const Napi::CallbackInfo& info) {
  if (const auto entry = EntryOf(info)) entry->socket->LeavePath();
}

Napi::Value PlaceOrNull(Napi::Env env, const Address& address) {
  if (!address.known()) return env.Null();
  Napi::Object place = Napi::Object::New(env);
  place.Set("address", address.text());
  place.Set("port", ToNumber(env, uint64_t{address.port()}));
  return place;
}

Napi::Value MsOrNull(Napi::Env env, int64_t ns) {
  return ns < 0 ? env.Null() : Napi::Number::New(env, NsToMs(ns)).As<Napi::Value>();
}

// {checked, nominated, rtcpNominated, hasPath, lastCheckMs}
Napi::Value Ice(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = EntryOf(info);
  if (!entry) return env.Null();
  const IceState state = entry->socket->Ice();
  Napi::Object result = Napi::Object::New(env);
  result.Set("checked", PlaceOrNull(env, state.checked));
  result.Set("nominated", PlaceOrNull(env, state.nominated[0]));
  result.Set("rtcpNominated", PlaceOrNull(env, state.nominated[1]));
  result.Set("hasPath", Napi::Boolean::New(env, state.has_path));
  result.Set("lastCheckMs", MsOrNull(env, state.last_check_ns));
  return result;
}

// Association 0 detaches the current one. The address "" means none.
void UseDtls(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const auto dtls = Handles::Process().Get<DtlsEntry>(HandleIn(info[1], "association"));
  const Address to =
      Address::Of(StringIn(info[2], "address"), static_cast<uint16_t>(Uint32In(info[3], "port", 0, 65'535)));
  if (entry) entry->socket->UseDtls(dtls ? dtls->association : nullptr, to);
}

// Stream 0 detaches the current stream.
Napi::Value Bind(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const auto stream = Handles::Process().Get<StreamEntry>(HandleIn(info[1], "stream"));
  if (entry) entry->socket->Bind(stream ? stream->stream : nullptr);
  return Napi::Boolean::New(info.Env(), entry && stream);
}

Napi::Value TakeForeign(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = EntryOf(info);
  const std::vector<ForeignPacket> packets =
      entry ? entry->socket->TakeForeign() : std::vector<ForeignPacket>();
  Napi::Array result = Napi::Array::New(env, packets.size());
  for (size_t n = 0; n < packets.size(); n++) {
    auto data = Napi::Uint8Array::New(env, packets[n].data.size());
    std::copy(packets[n].data.begin(), packets[n].data.end(), data.Data());
    Napi::Object one = Napi::Object::New(env);
    one.Set("address", packets[n].from.text());
    one.Set("port", ToNumber(env, uint64_t{packets[n].from.port()}));
    one.Set("rtcpPort", Napi::Boolean::New(env, packets[n].rtcp_port));
    one.Set("data", data);
    result.Set(static_cast<uint32_t>(n), one);
  }
  return result;
}

void Tap(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const bool on = BooleanIn(info[1], "on");
  if (entry) entry->socket->Tap(on);
}

// {packets: [{sent, rtcpPort, atMs, address, port, data}], missed}
Napi::Value TakeTapped(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto entry = EntryOf(info);
  const auto tap = entry ? entry->socket->tap() : nullptr;
  const std::vector<TappedPacket> packets = tap ? tap->Take() : std::vector<TappedPacket>();
  Napi::Array list = Napi::Array::New(env, packets.size());
  for (size_t n = 0; n < packets.size(); n++) {
    const TappedPacket& packet = packets[n];
    auto data = Napi::Uint8Array::New(env, packet.data.size());
    std::copy(packet.data.begin(), packet.data.end(), data.Data());
    Napi::Object one = Napi::Object::New(env);
    one.Set("sent", Napi::Boolean::New(env, packet.sent));
    one.Set("rtcpPort", Napi::Boolean::New(env, packet.rtcp_port));
    one.Set("atMs", Napi::Number::New(env, NsToMs(packet.at_ns)));
    one.Set("address", packet.remote.text());
    one.Set("port", ToNumber(env, uint64_t{packet.remote.port()}));
    one.Set("data", data);
    list.Set(static_cast<uint32_t>(n), one);
  }
  Napi::Object result = Napi::Object::New(env);
  result.Set("packets", list);
  result.Set("missed", ToNumber(env, tap ? tap->missed() : 0));
  return result;
}

Napi::Value Send(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const Bytes data = BytesIn(info[1], "data", 1, Intake::kMaxDatagram);
  const Address to =
      Address::Of(StringIn(info[2], "address"), static_cast<uint16_t>(Uint32In(info[3], "port", 0, 65'535)));
  const bool rtcp_port = BooleanIn(info[4], "rtcpPort");
  return Napi::Boolean::New(info.Env(),
                            entry && entry->socket->SendForeign(data.data, data.size, to, rtcp_port));
}

// Processes the datagram as if it had arrived from that address.
void Feed(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  const Bytes data = BytesIn(info[1], "data", 0, 65'535);
  const Address from =
      Address::Of(StringIn(info[2], "address"), static_cast<uint16_t>(Uint32In(info[3], "port", 0, 65'535)));
  const bool rtcp_port = BooleanIn(info[4], "rtcpPort");
  if (entry) entry->plane->Feed(entry->socket, data.data, data.size, from, rtcp_port);
}

Napi::Value ToObject(Napi::Env env, MediaSocket& socket) {
  const IntakeStats stats = socket.Stats();
  Napi::Object result = Napi::Object::New(env);
  const std::pair<const char*, uint64_t> counts[] = {{"packets", stats.packets},
                                                     {"octets", stats.octets},
                                                     {"comfortNoise", stats.comfort_noise},
                                                     {"digits", stats.digits},
                                                     {"rtcpPackets", stats.rtcp_packets},
                                                     {"sourceChanges", stats.source_changes},
                                                     {"malformed", stats.malformed},
                                                     {"strangers", stats.strangers},
                                                     {"unknownPayloads", stats.unknown_payloads},
                                                     {"forged", stats.forged},
                                                     {"replayed", stats.replayed},
                                                     {"closed", stats.closed},
                                                     {"foreign", stats.foreign},
                                                     {"departures", stats.departures},
                                                     {"expected", stats.expected},
                                                     {"received", stats.received},
                                                     {"repeated", stats.repeated},
                                                     {"late", stats.late},
                                                     {"lost", stats.lost},
                                                     {"ssrc", stats.ssrc},
                                                     {"highestSequence", stats.highest},
                                                     {"remoteReports", stats.remote_reports}};
  for (const auto& [name, value] : counts) result.Set(name, ToNumber(env, value));
  result.Set("jitterMs", Napi::Number::New(env, stats.jitter_ms));
  result.Set("maxJitterMs", Napi::Number::New(env, stats.max_jitter_ms));
  result.Set("remoteLost", Napi::Number::New(env, stats.remote_lost));
  result.Set("remoteFractionLost", Napi::Number::New(env, stats.remote_fraction_lost));
  result.Set("remoteJitterMs", Napi::Number::New(env, stats.remote_jitter_ms));
  result.Set("rttMs", stats.rtt_ms < 0 ? env.Null() : Napi::Number::New(env, stats.rtt_ms).As<Napi::Value>());
  result.Set("lastRtpMs", MsOrNull(env, stats.last_rtp_ns));
  result.Set("lastRtcpMs", MsOrNull(env, stats.last_rtcp_ns));
  result.Set("bye", Napi::Boolean::New(env, stats.bye));
  if (const auto hearing = socket.Hearing()) result.Set("hearing", HearingOf(env, *hearing));
  const MediaSocket::Destination to = socket.Where();
  result.Set("address", to.rtp.text());
  result.Set("port", ToNumber(env, uint64_t{to.rtp.port()}));
  result.Set("rtcpPort", ToNumber(env, uint64_t{to.rtcp.port()}));
  result.Set("latched", Napi::Boolean::New(env, to.latched));
  result.Set("overTcp", Napi::Boolean::New(env, to.over_tcp));
  return result;
}

Napi::Value Stats(const Napi::CallbackInfo& info) {
  const auto entry = EntryOf(info);
  return entry ? ToObject(info.Env(), *entry->socket) : info.Env().Null();
}

// Closes the socket and returns its final counts.
Napi::Value Close(const Napi::CallbackInfo& info) {
  const auto entry = Handles::Process().Remove<SocketEntry>(HandleOf(info));
  if (!entry) return info.Env().Null();
  entry->plane->CloseSocket(entry->socket.get());
  return ToObject(info.Env(), *entry->socket);
}

}  // namespace

Napi::Object HearingOf(Napi::Env env, const HearingFigures& figures) {
  Napi::Object result = Napi::Object::New(env);
  const std::pair<const char*, uint64_t> counts[] = {{"samples", figures.samples},
                                                     {"concealed", figures.concealed},
                                                     {"recovered", figures.recovered},
                                                     {"stretched", figures.stretched},
                                                     {"latePackets", figures.late_packets},
                                                     {"lostPackets", figures.lost_packets},
                                                     {"discarded", figures.discarded},
                                                     {"restarts", figures.restarts},
                                                     {"missed", figures.missed}};
  for (const auto& [name, value] : counts) result.Set(name, ToNumber(env, value));
  result.Set("delayMs", Napi::Number::New(env, figures.delay_ms));
  result.Set("targetMs", Napi::Number::New(env, figures.target_ms));
  result.Set("jitterMs", Napi::Number::New(env, figures.jitter_ms));
  result.Set("driftPpm", Napi::Number::New(env, figures.drift_ppm));
  return result;
}

void InitSockets(Napi::Env env, Napi::Object exports) {
  InitMuxes(env, exports);
  InitEars(env, exports);
  InitMixers(env, exports);
  exports.Set("portsOpen", Napi::Function::New(env, OpenPorts, "portsOpen"));
  exports.Set("portsCount", Napi::Function::New(env, CountPorts, "portsCount"));
  exports.Set("portsClose", Napi::Function::New(env, ClosePorts, "portsClose"));
  exports.Set("socketOpen", Napi::Function::New(env, Open, "socketOpen"));
  exports.Set("socketPort", Napi::Function::New(env, Port, "socketPort"));
  exports.Set("socketFormat", Napi::Function::New(env, Format, "socketFormat"));
  exports.Set("socketLearn", Napi::Function::New(env, Learn, "socketLearn"));
  exports.Set("socketSrtp", Napi::Function::New(env, Srtp, "socketSrtp"));
  exports.Set("socketUseIce", Napi::Function::New(env, UseIce, "socketUseIce"));
  exports.Set("socketLeavePath", Napi::Function::New(env, LeavePath, "socketLeavePath"));
  exports.Set("socketIce", Napi::Function::New(env, Ice, "socketIce"));
  exports.Set("socketUseDtls", Napi::Function::New(env, UseDtls, "socketUseDtls"));
  exports.Set("socketBind", Napi::Function::New(env, Bind, "socketBind"));
  exports.Set("socketTakeForeign", Napi::Function::New(env, TakeForeign, "socketTakeForeign"));
  exports.Set("socketTap", Napi::Function::New(env, Tap, "socketTap"));
  exports.Set("socketTakeTapped", Napi::Function::New(env, TakeTapped, "socketTakeTapped"));
  exports.Set("socketSend", Napi::Function::New(env, Send, "socketSend"));
  exports.Set("socketFeed", Napi::Function::New(env, Feed, "socketFeed"));
  exports.Set("socketStats", Napi::Function::New(env, Stats, "socketStats"));
  exports.Set("socketClose", Napi::Function::New(env, Close, "socketClose"));
}

}  // namespace parley
