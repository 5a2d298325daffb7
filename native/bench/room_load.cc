// The far ends of one room: each member sends a packet of its codec every 20 ms, and some of them talk.
// Measures how long the sound of a talker takes to each other member.
//
//   room_load              prints "port N", then reads one line: settle ms, measured ms, and the members as
//                          PORT/CODEC/FLAGS; codecs are pcmu, pcma, g722, opus; flags are s (SRTP), t (talks)
//   prints "measuring" when the first time is over, "measured" when the second one is, and at the end
//   "result sent received dropped bursts heard p50 p99 max", packets, sounds and microseconds
//
// A talker is a noise of -45 dBFS with a tone of 20 ms each half second, each talker at a time of its own.
// The delay is from the moment before the packet with the tone is sent to the place where the tone begins
// in a packet that came: its arrival at the kernel, and the samples before the tone. The codecs' own delays
// are in it. Packets are decoded after the measured time.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "audio/voice_codec.h"
#include "bench/load_socket.h"
#include "media/random.h"
#include "media/rtp.h"
#include "media/srtp.h"
#include "media/time.h"

namespace parley::bench {
namespace {

constexpr int64_t kFrameNs = 20 * kNsPerMs, kStepNs = kNsPerMs;
constexpr int kRate = 16'000;
constexpr size_t kFrame = kRate / 50;
constexpr size_t kBurstEach = 25, kFrames = 20 * kBurstEach;  // of a talker's sound, which is repeated
constexpr float kNoise = 0.01F, kTone = 0.5F, kHeard = 0.2F;
constexpr int64_t kApartNs = 60 * kNsPerMs;  // sound within that time of a tone belongs to it
constexpr int64_t kMostNs = 120 * kNsPerMs;  // of a delay: the tone of the next talker comes at 125 ms
constexpr size_t kMostTalkers = 4;

struct Codec {
  const char* name;
  VoiceCodec codec;
  uint8_t payload_type;
  uint32_t ticks;  // of a packet
};
constexpr Codec kCodecs[] = {{"pcmu", VoiceCodec::kPcmu, 0, 160},
                             {"pcma", VoiceCodec::kPcma, 8, 160},
                             {"g722", VoiceCodec::kG722, 9, 160},
                             {"opus", VoiceCodec::kOpus, 111, 960}};

struct Arrived {
  int64_t at_ns;
  std::vector<uint8_t> payload;
};

struct Member {
  const Codec* codec = nullptr;
  sockaddr_in to{};
  int talker = -1;
  uint32_t ssrc = 0;
  uint32_t number = 0;  // of its next packet
  int64_t due_ns = 0;
  std::vector<std::vector<uint8_t>> packets;
  std::unique_ptr<SrtpSender> seal;
  std::unique_ptr<SrtpReceiver> open;
  std::vector<Arrived> arrived;
};

struct Burst {
  int64_t at_ns;
  int talker;
};

// The packets of a talker, or of a member that is silent.
std::vector<std::vector<uint8_t>> SoundOf(VoiceCodec codec, int talker, size_t talkers) {
  const auto encoder = VoiceEncoder::Make(codec, kRate);
  Random random(talker + 2);
  const size_t burst = talker < 0 ? 0 : static_cast<size_t>(talker) * kBurstEach / talkers;
  std::vector<std::vector<uint8_t>> packets;
  for (size_t number = 0; number < kFrames; number++) {
    std::array<float, kFrame> frame{};
    for (size_t n = 0; talker >= 0 && n < kFrame; n++) {
      const bool sounds = number % kBurstEach == burst;
      frame[n] = sounds ? kTone * std::cos(0.4F * static_cast<float>(n))
                        : kNoise * static_cast<float>(2 * random.Unit() - 1);
    }
    std::vector<uint8_t> payload(LoadSocket::kRoom - 64);
    payload.resize(encoder->Encode(frame.data(), kFrame, payload.data(), payload.size()));
    packets.push_back(std::move(payload));
  }
  return packets;
}

// Empty if a member is not understood.
std::vector<Member> MembersIn(std::istringstream& line) {
  std::vector<Member> members;
  int talkers = 0;
  for (std::string word; line >> word;) {
    const size_t first = word.find('/'), second = word.find('/', first + 1);
    if (first == std::string::npos || second == std::string::npos) return {};
    const std::string name = word.substr(first + 1, second - first - 1), flags = word.substr(second + 1);
    Member member;
    for (const Codec& codec : kCodecs)
      if (name == codec.name) member.codec = &codec;
    if (!member.codec) return {};
    member.to = LoadSocket::Loopback(static_cast<uint16_t>(std::stoi(word)));
    member.ssrc = 0x2000'0000 + static_cast<uint32_t>(members.size());
    if (flags.find('t') != std::string::npos) member.talker = talkers++;
    if (flags.find('s') != std::string::npos) {
      member.seal = SrtpSender::Create(kLoadProfile, kLoadKey, sizeof kLoadKey, kLoadSalt, sizeof kLoadSalt,
                                       member.ssrc);
      member.open =
          SrtpReceiver::Create(kLoadProfile, kLoadKey, sizeof kLoadKey, kLoadSalt, sizeof kLoadSalt);
    }
    members.push_back(std::move(member));
  }
  if (talkers > static_cast<int>(kMostTalkers)) return {};
  const int64_t now_ns = MonotonicNs();
  for (size_t n = 0; n < members.size(); n++) {
    Member& member = members[n];
    member.packets = SoundOf(member.codec->codec, member.talker, static_cast<size_t>(std::max(talkers, 1)));
    member.due_ns = now_ns + kFrameNs * static_cast<int64_t>(n) / static_cast<int64_t>(members.size());
  }
  return members;
}

class Load {
 public:
  Load(LoadSocket* socket, std::vector<Member> members) : socket_(socket), members_(std::move(members)) {
    // Encoding took a while: the first packets are not late.
    const int64_t late_ns = MonotonicNs() - members_.front().due_ns;
    size_t talkers = 0;
    for (Member& member : members_) {
      member.due_ns += late_ns;
      by_port_[member.to.sin_port] = &member;
      if (member.talker >= 0) talkers++;
    }
    talkers_ = std::max<size_t>(talkers, 1);
  }

  // Keeps what comes if `is_measured`.
  void Run(int64_t for_ns, bool is_measured) {
    is_measured_ = is_measured;
    const int64_t end_ns = MonotonicNs() + for_ns;
    for (int64_t now_ns = MonotonicNs(); now_ns < end_ns; now_ns = MonotonicNs()) {
      for (Member& member : members_) {
        if (member.due_ns > now_ns) continue;
        member.due_ns += kFrameNs;
        Send(member);
      }
      socket_->Flush();
      socket_->Receive([this](const uint8_t* packet, size_t bytes, uint16_t port, int64_t arrival_ns) {
        Keep(packet, bytes, port, arrival_ns);
      });
      SleepUntilNs(now_ns + kStepNs);
    }
  }

  uint64_t received() const { return received_; }

  // The tones that each member should have heard, and the delays of those that it has.
  size_t Delays(std::vector<int64_t>* delays_ns) const {
    size_t expected = 0;
    for (const Member& member : members_) {
      for (const Burst& burst : bursts_) expected += burst.talker != member.talker ? 1 : 0;
      AddDelays(member, delays_ns);
    }
    return expected;
  }

 private:
  void Send(Member& member) {
    const size_t number = member.number++;
    const std::vector<uint8_t>& payload = member.packets[number % kFrames];
    uint8_t* const packet = socket_->Next();
    WriteRtpHeader(packet, {number == 0, member.codec->payload_type, static_cast<uint16_t>(number),
                            static_cast<uint32_t>(number) * member.codec->ticks, member.ssrc});
    std::copy(payload.begin(), payload.end(), packet + kRtpHeaderBytes);
    size_t bytes = kRtpHeaderBytes + payload.size();
    const bool sounds = member.talker >= 0 &&
                        number % kBurstEach == static_cast<size_t>(member.talker) * kBurstEach / talkers_;
    if (sounds && is_measured_) bursts_.push_back({MonotonicNs(), member.talker});
    if (member.seal) bytes = member.seal->ProtectRtp(packet, bytes, LoadSocket::kRoom);
    socket_->Add(&member.to, bytes);
  }

  void Keep(const uint8_t* packet, size_t bytes, uint16_t port, int64_t arrival_ns) {
    const auto found = by_port_.find(port);
    if (!is_measured_ || found == by_port_.end() || KindOf(packet, bytes) != DatagramKind::kRtp) return;
    Member& member = *found->second;
    std::array<uint8_t, LoadSocket::kRoom> plain;
    if (member.open) {
      if (member.open->OpenRtp(packet, bytes, arrival_ns, plain.data(), &bytes) != SrtpResult::kOpened)
        return;
      packet = plain.data();
    }
    RtpView view;
    if (!ParseRtp(packet, bytes, &view) || view.payload_type != member.codec->payload_type) return;
    received_++;
    member.arrived.push_back({arrival_ns, {view.payload, view.payload + view.payload_bytes}});
  }

  void AddDelays(const Member& member, std::vector<int64_t>* delays_ns) const {
    const auto decoder = VoiceDecoder::Make(member.codec->codec, kRate);
    std::vector<float> sound(static_cast<size_t>(kRate) * VoiceDecoder::kMostMs / 1000);
    int64_t deaf_until_ns = 0;
    for (const Arrived& packet : member.arrived) {
      const size_t count = decoder->Decode(packet.payload.data(), packet.payload.size(), sound.data());
      for (size_t n = 0; n < count; n++) {
        if (std::abs(sound[n]) < kHeard) continue;
        const int64_t at_ns = packet.at_ns + static_cast<int64_t>(n) * kNsPerSecond / kRate;
        const int64_t sent_ns = at_ns < deaf_until_ns ? 0 : SentBefore(at_ns, member.talker);
        deaf_until_ns = at_ns + kApartNs;
        if (sent_ns > 0) delays_ns->push_back(at_ns - sent_ns);
      }
    }
  }

  // When the last tone before this time was sent by another talker; 0: none was within kMostNs.
  int64_t SentBefore(int64_t at_ns, int but_talker) const {
    int64_t sent_ns = 0;
    for (const Burst& burst : bursts_) {
      if (burst.at_ns > at_ns) break;
      if (burst.talker != but_talker && at_ns - burst.at_ns <= kMostNs) sent_ns = burst.at_ns;
    }
    return sent_ns;
  }

  LoadSocket* const socket_;
  std::vector<Member> members_;
  size_t talkers_ = 1;
  std::unordered_map<uint16_t, Member*> by_port_;  // in network order
  bool is_measured_ = false;
  uint64_t received_ = 0;
  std::vector<Burst> bursts_;  // by their times
};

int Main() {
  const auto socket = std::make_unique<LoadSocket>();
  std::istringstream line;
  if (!ReadOrder(socket.get(), &line)) return 1;
  int64_t settle_ms = 0, measured_ms = 0;
  line >> settle_ms >> measured_ms;
  std::vector<Member> members = MembersIn(line);
  if (members.empty()) return std::fputs("room_load: members must be PORT/CODEC/FLAGS\n", stderr), 1;
  Load load(socket.get(), std::move(members));
  load.Run(settle_ms * kNsPerMs, false);
  std::printf("measuring\n");
  std::fflush(stdout);
  const uint64_t sent = socket->sent();
  const uint32_t dropped = socket->dropped();
  load.Run(measured_ms * kNsPerMs, true);
  std::printf("measured\n");
  std::fflush(stdout);
  std::vector<int64_t> delays_ns;
  const uint64_t all = socket->sent() - sent;
  const size_t expected = load.Delays(&delays_ns);
  std::sort(delays_ns.begin(), delays_ns.end());
  std::printf("result %lu %lu %u %zu %zu %ld %ld %ld\n", all, load.received(), socket->dropped() - dropped,
              expected, delays_ns.size(), At(delays_ns, 0.5), At(delays_ns, 0.99), At(delays_ns, 1));
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace parley::bench

int main() { return parley::bench::Main(); }
