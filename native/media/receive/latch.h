// The address that the far end's RTP comes from: symmetric RTP (RFC 4961) for
// peers behind address translators, whose SDP names an address that cannot be
// reached from here.
//
//   learning ──first source──▶ latched ──window over──▶ settled
//
// The announced address takes the call back with its first packet, at any time.
// Another source is latched only after kInSequence packets in sequence of one
// SSRC, and only if it has a rank: the announced host or that of the signalling,
// an allowed network, or any address if the announced one cannot be routed. A
// higher rank may displace a lower one; the same rank may not while its media is
// heard. SRTP proves a source from anywhere, but it has to send as many packets.
//
// Once the window is over, a source of the same rank is refused, except the first
// that had settled. A new description opens the window again: for the present
// source if its address is the same, for others once that one is silent.
#ifndef PARLEY_MEDIA_RECEIVE_LATCH_H_
#define PARLEY_MEDIA_RECEIVE_LATCH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "media/receive/address.h"

namespace parley {

class Latch {
 public:
  static constexpr int kInSequence = 4;          // packets
  static constexpr uint16_t kLowestPort = 1024;  // no media is sent to a port below

  struct Rules {
    int64_t window_ns = 2'000'000'000;
    // No learning: nothing is sent but to the announced address, and others are heard only if SRTP proves
    // them.
    bool announced_only = false;
    // The host that the signalling comes from; unknown if there is none.
    Address signalling;
    std::vector<Network> networks;
    // The announced address cannot be routed, so any source may be the far end.
    bool anywhere = false;
  };

  // A valid RTP packet. `proven`: SRTP found it genuine and newer than all before.
  struct Arrival {
    const Address& from;
    uint32_t ssrc;
    uint16_t sequence;
    bool proven;
  };

  void SetRules(const Rules& rules) { rules_ = rules; }

  // `announced` may be unknown. The present source stays the target until
  // another is latched, unless the announced address is a new one.
  void Learn(const Address& announced) {
    if (announced != announced_) latched_ = settled_ = Address();
    if (!settled_.known()) settled_ = latched_;
    announced_ = announced;
    latching_ = true;
    since_ns_ = -1;
    candidates_ = {};
  }

  // True if the packet is the call's.
  bool Accept(const Arrival& packet, int64_t now_ns) {
    if (rules_.announced_only ? packet.from != announced_ : !Takes(packet, now_ns)) return packet.proven;
    if (packet.from != latched_) Move(packet.from);
    heard_ns_ = now_ns;
    return true;
  }

  const Address& announced() const { return announced_; }
  const Address& latched() const { return latched_; }  // unknown before the first packet
  const Address& target() const { return latched_.known() ? latched_ : announced_; }
  bool is_away() const { return latched_.known() && announced_.known() && latched_ != announced_; }

 private:
  enum Rank : uint8_t { kNobody, kAnyone, kNetwork, kHost, kAnnounced };

  // A source that is not latched yet.
  struct Candidate {
    Address from;
    uint32_t ssrc = 0;
    uint16_t sequence = 0;
    int packets = 0;
  };
  // Strangers must not disturb the count of sources that have a rank or keys.
  enum Slot : uint8_t { kStranger, kKnown, kProven, kSlots };

  Rank RankOf(const Address& from) const {
    if (!from.known() || from.port() < kLowestPort) return kNobody;
    if (from == announced_) return rules_.anywhere ? kHost : kAnnounced;
    if (!rules_.anywhere && from.SameHost(announced_)) return kHost;
    if (from.SameHost(rules_.signalling)) return kHost;
    for (const Network& network : rules_.networks) {
      if (network.Has(from)) return kNetwork;
    }
    return rules_.anywhere ? kAnyone : kNobody;
  }

  bool Takes(const Arrival& packet, int64_t now_ns) {
    const Address& from = packet.from;
    if (latching_ && since_ns_ >= 0 && now_ns - since_ns_ >= rules_.window_ns) latching_ = false;
    if (from == latched_) {
      if (!latching_ && !settled_.known()) settled_ = from;
    } else if (!MayMove(packet, RankOf(from), latched_.known() && now_ns - heard_ns_ < rules_.window_ns)) {
      return false;
    }
    if (latching_ && since_ns_ < 0) since_ns_ = now_ns;
    return true;
  }

  // `is_there`: the latched source is heard.
  bool MayMove(const Arrival& packet, Rank rank, bool is_there) {
    const Rank present = RankOf(latched_);
    if (rank == kAnnounced) return true;
    if (packet.from.port() < kLowestPort) return false;
    if (packet.from == settled_ && (!is_there || rank >= present)) return true;
    const bool is_awaited = latching_ && since_ns_ < 0 && !is_there;
    const bool may = rank > kNobody && (!latched_.known() || rank > present || is_awaited);
    if (!packet.proven && !may) return false;
    const Slot slot = packet.proven ? kProven : rank == kAnyone ? kStranger : kKnown;
    return IsInSequence(candidates_[slot], packet);
  }

  static bool IsInSequence(Candidate& candidate, const Arrival& packet) {
    const bool is_same =
        candidate.packets > 0 && candidate.from == packet.from && candidate.ssrc == packet.ssrc;
    if (is_same && packet.sequence == candidate.sequence) return false;  // a repetition
    const bool is_next = is_same && packet.sequence == static_cast<uint16_t>(candidate.sequence + 1);
    candidate = {packet.from, packet.ssrc, packet.sequence, is_next ? candidate.packets + 1 : 1};
    return candidate.packets >= kInSequence;
  }

  void Move(const Address& to) {
    // A stranger that was displaced by a better rank has no claim to come back.
    if (RankOf(settled_) == kAnyone && RankOf(to) > kAnyone) settled_ = Address();
    else if (!settled_.known() && to == announced_) settled_ = latched_;
    latched_ = to;
    candidates_ = {};
  }

  Rules rules_;
  Address announced_;
  Address latched_;
  Address settled_;  // the first that was heard when a window was over, or there when the next one began
  std::array<Candidate, kSlots> candidates_{};
  bool latching_ = true;
  int64_t since_ns_ = -1;  // the first packet of this window; -1: none yet
  int64_t heard_ns_ = 0;   // time of the last packet from latched_
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_LATCH_H_
