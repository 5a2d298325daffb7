// The far ends of many bridged calls: sends each call a stream of G.711 from one socket, and measures how
// long each packet takes until it comes back by another call. The time is in the payload.
//
//   rtp_load               prints "port N", then reads one line: settle ms, measured ms, and the ports of the
//                          calls, an "s" behind those that are encrypted
//   prints "measuring" when the first time is over, "measured" when the second one is, and at the end
//   "result sent received dropped p50 p99 max", packets and microseconds
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "bench/load_socket.h"
#include "media/rtp.h"
#include "media/srtp.h"
#include "media/time.h"

namespace parley::bench {
namespace {

constexpr int64_t kFrameNs = 20 * kNsPerMs, kStepNs = kNsPerMs;
constexpr size_t kFrameBytes = 160;
constexpr uint32_t kMagic = 0x72747031;  // behind the time: no silence of a server looks like it

struct Leg {
  sockaddr_in to{};
  uint32_t ssrc = 0;
  uint16_t sequence = 0;
  uint32_t timestamp = 0;
  int64_t due_ns = 0;
  std::unique_ptr<SrtpSender> seal;
  std::unique_ptr<SrtpReceiver> open;
};

struct Seen {
  uint64_t sent = 0, received = 0;
  uint32_t dropped = 0;
  std::vector<int64_t> delays_ns;
};

std::vector<Leg> LegsIn(std::istringstream& line) {
  std::vector<Leg> legs;
  for (std::string word; line >> word;) {
    Leg leg;
    leg.ssrc = 0x2000'0000 + static_cast<uint32_t>(legs.size());
    leg.to = LoadSocket::Loopback(static_cast<uint16_t>(std::stoi(word)));
    if (word.back() == 's') {
      leg.seal =
          SrtpSender::Create(kLoadProfile, kLoadKey, sizeof kLoadKey, kLoadSalt, sizeof kLoadSalt, leg.ssrc);
      leg.open = SrtpReceiver::Create(kLoadProfile, kLoadKey, sizeof kLoadKey, kLoadSalt, sizeof kLoadSalt);
    }
    legs.push_back(std::move(leg));
  }
  const int64_t now_ns = MonotonicNs();
  for (size_t n = 0; n < legs.size(); n++) {
    legs[n].due_ns = now_ns + kFrameNs * static_cast<int64_t>(n) / static_cast<int64_t>(legs.size());
  }
  return legs;
}

class Load {
 public:
  Load(LoadSocket* socket, std::vector<Leg> legs) : socket_(socket), legs_(std::move(legs)) {
    for (Leg& leg : legs_) by_port_[leg.to.sin_port] = &leg;
  }

  Seen Run(int64_t for_ns) {
    seen_ = Seen();
    const uint32_t dropped = socket_->dropped();
    const uint64_t sent = socket_->sent();
    const int64_t end_ns = MonotonicNs() + for_ns;
    for (int64_t now_ns = MonotonicNs(); now_ns < end_ns; now_ns = MonotonicNs()) {
      Send(now_ns);
      socket_->Receive([this](const uint8_t* packet, size_t bytes, uint16_t port, int64_t arrival_ns) {
        Note(packet, bytes, port, arrival_ns);
      });
      SleepUntilNs(now_ns + kStepNs);
    }
    seen_.dropped = socket_->dropped() - dropped;
    seen_.sent = socket_->sent() - sent;
    return std::move(seen_);
  }

 private:
  void Send(int64_t now_ns) {
    for (Leg& leg : legs_) {
      if (leg.due_ns > now_ns) continue;
      leg.due_ns += kFrameNs;
      Write(leg);
    }
    socket_->Flush();
  }

  void Write(Leg& leg) {
    uint8_t* const packet = socket_->Next();
    WriteRtpHeader(packet, {leg.sequence == 0, 0, leg.sequence, leg.timestamp, leg.ssrc});
    leg.sequence++;
    leg.timestamp += kFrameBytes;
    std::memset(packet + kRtpHeaderBytes, 0x55, kFrameBytes);
    const auto now_ns = static_cast<uint64_t>(MonotonicNs());
    PutBig32(packet + kRtpHeaderBytes, static_cast<uint32_t>(now_ns >> 32));
    PutBig32(packet + kRtpHeaderBytes + 4, static_cast<uint32_t>(now_ns));
    PutBig32(packet + kRtpHeaderBytes + 8, kMagic);
    size_t bytes = kRtpHeaderBytes + kFrameBytes;
    if (leg.seal) bytes = leg.seal->ProtectRtp(packet, bytes, LoadSocket::kRoom);
    socket_->Add(&leg.to, bytes);
  }

  void Note(const uint8_t* packet, size_t bytes, uint16_t port, int64_t arrival_ns) {
    const auto found = by_port_.find(port);
    if (found == by_port_.end() || KindOf(packet, bytes) != DatagramKind::kRtp) return;
    std::array<uint8_t, LoadSocket::kRoom> plain;
    if (found->second->open) {
      if (found->second->open->OpenRtp(packet, bytes, arrival_ns, plain.data(), &bytes) !=
          SrtpResult::kOpened)
        return;
      packet = plain.data();
    }
    RtpView view;
    if (!ParseRtp(packet, bytes, &view) || view.payload_bytes != kFrameBytes) return;
    if (GetBig32(view.payload + 8) != kMagic) return;
    const uint64_t sent_ns = uint64_t{GetBig32(view.payload)} << 32 | GetBig32(view.payload + 4);
    seen_.received++;
    seen_.delays_ns.push_back(arrival_ns - static_cast<int64_t>(sent_ns));
  }

  LoadSocket* const socket_;
  std::vector<Leg> legs_;
  std::unordered_map<uint16_t, Leg*> by_port_;  // in network order
  Seen seen_;
};

int Main() {
  const auto socket = std::make_unique<LoadSocket>();
  std::istringstream line;
  if (!ReadOrder(socket.get(), &line)) return 1;
  int64_t settle_ms = 0, measured_ms = 0;
  line >> settle_ms >> measured_ms;
  const auto load = std::make_unique<Load>(socket.get(), LegsIn(line));
  load->Run(settle_ms * kNsPerMs);
  std::printf("measuring\n");
  std::fflush(stdout);
  Seen seen = load->Run(measured_ms * kNsPerMs);
  std::printf("measured\n");
  std::fflush(stdout);
  std::sort(seen.delays_ns.begin(), seen.delays_ns.end());
  std::printf("result %lu %lu %u %ld %ld %ld\n", seen.sent, seen.received, seen.dropped,
              At(seen.delays_ns, 0.5), At(seen.delays_ns, 0.99), At(seen.delays_ns, 1));
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace
}  // namespace parley::bench

int main() { return parley::bench::Main(); }
