// Calls on a plane whose far ends are fed by the test: packets of G.711, and listeners that take the sound.
#ifndef PARLEY_TEST_HEARD_CALL_H_
#define PARLEY_TEST_HEARD_CALL_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "media/plane.h"
#include "media/rtp.h"
#include "test/check.h"
#include "test/sounds.h"

namespace parley::test {

constexpr int64_t kFrameNs = 20 * kNsPerMs;
constexpr int64_t kQuantumNs = SentSound::kQuantumNs;
constexpr size_t kFrameBytes = 160;  // of G.711
constexpr uint8_t kPcmuType = 0, kPcmaType = 8, kEventType = 101, kRedType = 96, kNoiseType = 13,
                  kG722Type = 9, kOpusType = 111;
constexpr uint32_t kFarSsrc = 0x0a0b0c0d;
using Payload = std::vector<uint8_t>;

inline Address Far() { return Address::Of("192.0.2.7", 4000); }

inline Payload Encoded(const Sound& sound, VoiceCodec codec = VoiceCodec::kPcmu) {
  const auto encoder = VoiceEncoder::Make(codec, 8000);
  Payload all;
  for (size_t at = 0; at + kFrameBytes <= sound.size(); at += kFrameBytes) {
    uint8_t frame[kFrameBytes];
    const size_t bytes = encoder->Encode(sound.data() + at, kFrameBytes, frame, sizeof(frame));
    all.insert(all.end(), frame, frame + bytes);
  }
  return all;
}

inline Payload FrameOf(const Payload& all, size_t number) {
  const size_t at = number * kFrameBytes % all.size();
  return {all.begin() + static_cast<ptrdiff_t>(at), all.begin() + static_cast<ptrdiff_t>(at + kFrameBytes)};
}

inline Payload SilentFrame() { return Payload(kFrameBytes, 0xff); }

inline PayloadTypes Types() {
  PayloadTypes types{};
  types[kPcmuType] = {PayloadKind::kSound, 8000, VoiceCodec::kPcmu};
  types[kPcmaType] = {PayloadKind::kSound, 8000, VoiceCodec::kPcma};
  types[kEventType] = {PayloadKind::kDigit, 8000};
  types[kNoiseType] = {PayloadKind::kComfortNoise, 8000};
  types[kG722Type] = {PayloadKind::kSound, 8000, VoiceCodec::kG722};
  types[kOpusType] = {PayloadKind::kSound, 48'000, VoiceCodec::kOpus};
  types[kRedType] = {PayloadKind::kRedundant, 8000};
  return types;
}

// A call on a plane: its socket, the far end that feeds it, and the stream that it sends.
struct Call {
  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<Stream> stream;
  uint16_t sequence = 65'500;  // wraps soon
  uint32_t timestamp = 0xffff'f000;
  uint32_t ssrc = kFarSsrc;

  Call(std::shared_ptr<MediaPlane> its_plane, uint64_t handle) : plane(std::move(its_plane)) {
    socket = plane->MakeSocket({}, true);
    socket->set_handle(handle);
    socket->SetPayloadTypes(Types());
    socket->Learn(Far(), Address(), true, {});
    CHECK(plane->BeginSocket(socket));
  }

  void OpenStream(std::optional<VoiceCodec> codec) {
    StreamConfig config;
    config.ssrc = 1;
    config.silence.assign(kFrameBytes, 0xff);
    config.codec = codec;
    stream = plane->MakeStream(config, nullptr);
    stream->set_handle(socket->handle() + 1000);
    CHECK(plane->Begin(stream.get()));
    stream->SetTarget(plane->CaptureTarget());
    socket->Bind(stream);
  }

  void Push(const Payload& payload) {
    PlayoutQueue& queue = stream->queue();
    CHECK(queue.Push(queue.generation(), 1, payload.data(), payload.size()) == PushResult::kTaken);
  }

  void Feed(uint16_t number, uint32_t at, uint8_t type, const Payload& payload) {
    std::vector<uint8_t> packet(kRtpHeaderBytes + payload.size());
    WriteRtpHeader(packet.data(), {false, type, number, at, ssrc});
    std::copy(payload.begin(), payload.end(), packet.begin() + kRtpHeaderBytes);
    plane->Feed(socket, packet.data(), packet.size(), Far(), false);
  }

  void Say(const Payload& payload, uint8_t type = kPcmuType) {
    Feed(sequence++, timestamp, type, payload);
    timestamp += kFrameBytes;
  }

  void Lose() {
    sequence++;
    timestamp += kFrameBytes;
  }

  HearingFigures figures() const { return socket->Hearing().value_or(HearingFigures()); }
};

inline std::shared_ptr<MediaPlane> Manual() { return MediaPlane::OpenManual(1, 0, 0); }

inline EarSound SoundOf(size_t channels) { return channels == 2 ? EarSound::kBoth : EarSound::kCaller; }

inline std::shared_ptr<ByteRing> OpenRing(Call& call, size_t channels, size_t seconds = 90) {
  auto ring = std::make_shared<ByteRing>(seconds * CallerSound::kRate * channels * sizeof(float));
  CHECK(call.socket->OpenEar(ring, SoundOf(channels)));
  return ring;
}

inline Sound ReadAll(ByteRing& ring) {
  Sound sound(ring.GetStatus().readable / sizeof(float));
  ring.Read(reinterpret_cast<uint8_t*>(sound.data()), sound.size() * sizeof(float), sizeof(float));
  return sound;
}

// A RED payload: the frame before, and this one.
inline Payload Redundant(const Payload& before, const Payload& frame) {
  Payload payload(4);
  PutBig32(payload.data(),
           uint32_t{0x80} << 24 | uint32_t{kPcmuType} << 24 | kFrameBytes << 10 | kFrameBytes);
  payload.push_back(kPcmuType);
  payload.insert(payload.end(), before.begin(), before.end());
  payload.insert(payload.end(), frame.begin(), frame.end());
  return payload;
}

}  // namespace parley::test

#endif  // PARLEY_TEST_HEARD_CALL_H_
