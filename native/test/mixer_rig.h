// Calls on a manual plane that are members of a mixer. Each far end says a sound of its own in frames of its
// codec, and the test decodes what is sent to it.
#ifndef PARLEY_TEST_MIXER_RIG_H_
#define PARLEY_TEST_MIXER_RIG_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "media/plane.h"
#include "media/rtp.h"
#include "test/check.h"
#include "test/heard_call.h"
#include "test/sounds.h"

namespace parley::test {

constexpr uint8_t kL16Type = 97;

struct MemberCodec {
  VoiceCodec codec;
  uint8_t type;
  int rate;             // Hz of the sound that the far end says and hears
  uint32_t clock_rate;  // of its RTP timestamp
};

constexpr MemberCodec kPcmuMember{VoiceCodec::kPcmu, kPcmuType, 8000, 8000},
    kPcmaMember{VoiceCodec::kPcma, kPcmaType, 8000, 8000},
    kG722Member{VoiceCodec::kG722, kG722Type, 16'000, 8000},
    kOpusMember{VoiceCodec::kOpus, kOpusType, 16'000, 48'000},
    kL16Member{VoiceCodec::kL16, kL16Type, 16'000, 24'000};

// The far end of one member.
class MixedCall {
 public:
  MixedCall(const std::shared_ptr<MediaPlane>& plane, uint64_t handle, const MemberCodec& codec,
            int64_t period_ns = kFrameNs)
      : leg(std::make_shared<JoinedLeg>()), plane_(plane), codec_(codec), period_ns_(period_ns) {
    socket = plane->MakeSocket({}, true);
    socket->set_handle(handle);
    PayloadTypes types = Types();
    types[kL16Type] = {PayloadKind::kSound, 24'000, VoiceCodec::kL16};
    socket->SetPayloadTypes(types);
    socket->Learn(Far(), Address(), true, {});
    CHECK(plane->BeginSocket(socket));
    stream = OpenStream(codec, period_ns, handle + 1000);
    socket->Bind(stream);
    encoder_ = VoiceEncoder::Make(codec.codec, codec.rate);
    decoder_ = VoiceDecoder::Make(codec.codec, codec.rate);
    ssrc_ = static_cast<uint32_t>(handle);
  }

  std::shared_ptr<Stream> OpenStream(const MemberCodec& codec, int64_t period_ns, uint64_t handle) const {
    StreamConfig config;
    config.ssrc = static_cast<uint32_t>(handle);
    config.payload_type = codec.type;
    config.clock_rate = codec.clock_rate;
    config.period_ns = period_ns;
    config.ticks_per_frame = static_cast<uint32_t>(period_ns * codec.clock_rate / kNsPerSecond);
    config.codec = codec.codec;
    auto made = plane_->MakeStream(config, nullptr);
    made->set_handle(handle);
    CHECK(plane_->Begin(made.get()));
    made->SetTarget(plane_->CaptureTarget());
    return made;
  }

  size_t samples() const { return static_cast<size_t>(period_ns_ * codec_.rate / kNsPerSecond); }
  int rate() const { return codec_.rate; }

  // One frame of the far end's sound; silence behind its end.
  void Say() {
    std::vector<float> frame(samples());
    for (float& sample : frame) sample = said < says.size() ? says[said++] : 0;
    uint8_t payload[1500];
    const size_t bytes = encoder_->Encode(frame.data(), frame.size(), payload, sizeof(payload));
    CHECK(bytes > 0);
    if (!loses || !loses(number_)) Feed({payload, payload + bytes});
    number_++;
  }

  // A frame of our voice.
  void Push(const Payload& payload) const {
    PlayoutQueue& queue = stream->queue();
    queue.Push(queue.generation(), 1, payload.data(), payload.size());
  }

  void Feed(const Payload& payload) {
    std::vector<uint8_t> packet(kRtpHeaderBytes + payload.size());
    const auto ticks = static_cast<uint32_t>(period_ns_ * codec_.clock_rate / kNsPerSecond);
    WriteRtpHeader(packet.data(),
                   {false, codec_.type, static_cast<uint16_t>(number_), number_ * ticks, ssrc_});
    std::copy(payload.begin(), payload.end(), packet.begin() + kRtpHeaderBytes);
    plane_->Feed(socket, packet.data(), packet.size(), Far(), false);
  }

  // A packet that was sent to the far end.
  void Take(const CapturedPacket& packet) {
    const uint8_t* const payload = packet.data.data() + kRtpHeaderBytes;
    const size_t bytes = packet.data.size() - kRtpHeaderBytes;
    Sound frame(decoder_->SamplesIn(payload, bytes));
    decoder_->Decode(payload, bytes, frame.data());
    // Pauses send nothing.
    const auto at = static_cast<size_t>(packet.at_ns / kNsPerUs * codec_.rate / 1'000'000);
    if (hears.size() < at) hears.resize(at);
    hears.insert(hears.end(), frame.begin(), frame.end());
    firsts.push_back(payload[0]);
    packets++;
  }

  std::shared_ptr<MediaSocket> socket;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<JoinedLeg> leg;
  uint32_t id = 0;    // in the mixer
  Sound says, hears;  // what it hears begins with the plane's time
  size_t said = 0, packets = 0;
  Payload firsts;                                 // first bytes of the packets
  double period_scale = 1;                        // of the far end's clock
  double next_ns = 3'000'000;                     // its next packet
  std::function<bool(uint32_t)> loses = nullptr;  // packets of these numbers do not come

 private:
  friend class MixerRig;

  const std::shared_ptr<MediaPlane> plane_;
  const MemberCodec codec_;
  const int64_t period_ns_;
  std::unique_ptr<VoiceEncoder> encoder_;
  std::unique_ptr<VoiceDecoder> decoder_;
  uint32_t number_ = 0;
  uint32_t ssrc_ = 0;
};

class MixerRig {
 public:
  explicit MixerRig(size_t loudest = 6) : plane(Manual()), mixer(std::make_shared<Mixer>(loudest)) {
    CHECK(plane->BeginMixer(mixer));
  }
  ~MixerRig() { plane->Close(); }
  MixerRig(const MixerRig&) = delete;
  MixerRig& operator=(const MixerRig&) = delete;

  MixedCall& Open(const MemberCodec& codec, Sound says = {}, int64_t period_ns = kFrameNs) {
    calls.push_back(std::make_unique<MixedCall>(plane, calls.size() + 1, codec, period_ns));
    calls.back()->says = std::move(says);
    calls.back()->next_ns += static_cast<double>(plane->time().Now());
    return *calls.back();
  }

  MixedCall& Add(const MemberCodec& codec, Sound says = {}, const MemberChange& change = {},
                 int64_t period_ns = kFrameNs) {
    MixedCall& call = Open(codec, std::move(says), period_ns);
    Join(call, change);
    return call;
  }

  void Join(MixedCall& call, const MemberChange& change = {}) {
    call.id = mixer->AddMember(call.leg, change);
    CHECK(call.id != 0);
    CHECK(call.socket->JoinMixer(call.leg));
  }

  void Leave(MixedCall& call) {
    call.socket->LeaveMixer(call.leg.get());
    mixer->RemoveMember(call.id);
  }

  // Until then every far end says its frames in its own time.
  void RunTo(int64_t to_ns) {
    for (;;) {
      MixedCall* next = nullptr;
      for (const auto& call : calls) {
        if (!next || call->next_ns < next->next_ns) next = call.get();
      }
      if (!next || static_cast<int64_t>(next->next_ns) > to_ns) break;
      Advance(static_cast<int64_t>(next->next_ns));
      next->Say();
      next->next_ns += static_cast<double>(next->period_ns_) * next->period_scale;
    }
    Advance(to_ns);
  }
  void RunMs(int64_t ms) { RunTo(plane->time().Now() + ms * kNsPerMs); }

  void Advance(int64_t to_ns) {
    plane->Advance(to_ns);
    for (const CapturedPacket& packet : plane->TakePackets()) {
      for (const auto& call : calls) {
        if (!packet.rtcp && packet.stream >= 1000 && packet.stream % 1000 == call->socket->handle())
          call->Take(packet);
      }
    }
    for (const auto& call : calls) {
      const auto now = static_cast<size_t>(to_ns / kNsPerUs * call->rate() / 1'000'000);
      if (call->hears.size() < now) call->hears.resize(now);  // a pause sends nothing
    }
  }

  std::shared_ptr<MediaPlane> plane;
  std::shared_ptr<Mixer> mixer;
  std::vector<std::unique_ptr<MixedCall>> calls;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_MIXER_RIG_H_
