// Where the far end's media really comes from: symmetric RTP (RFC 4961) for
// peers behind address translators, whose SDP tells an address that nobody can
// reach.
//
//   learning ──first valid packet──▶ latched ──window over──▶ settled
//
// While the window lasts the announced source may still take over from another
// one that came first. Once settled every other source is refused, except one
// that proves itself by SRTP, and the first that had settled. A new description
// of the call opens the window again: where its address is the same, for the
// source that is there, and for others only once that one is silent.
#ifndef PARLEY_MEDIA_RECEIVE_LATCH_H_
#define PARLEY_MEDIA_RECEIVE_LATCH_H_

#include <cstdint>

#include "media/receive/address.h"

namespace parley {

class Latch {
 public:
  struct Rules {
    int64_t window_ns = 2'000'000'000;
    // No learning: nothing is sent but to the announced address, and others are heard only where SRTP proves them.
    bool announced_only = false;
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
  }

  // Whether a valid packet from there is the call's. `proven`: SRTP found it
  // genuine and newer than all before.
  bool Accept(const Address& from, int64_t now_ns, bool proven) {
    if (rules_.announced_only && from != announced_) return proven;  // heard, but not sent to
    if (!rules_.announced_only && !Takes(from, now_ns, proven)) return false;
    latched_ = from;
    heard_ns_ = now_ns;
    return true;
  }

  const Address& announced() const { return announced_; }
  const Address& latched() const { return latched_; }  // unknown before the first packet
  const Address& target() const { return latched_.known() ? latched_ : announced_; }

 private:
  bool Takes(const Address& from, int64_t now_ns, bool proven) {
    if (latching_ && since_ns_ >= 0 && now_ns - since_ns_ >= rules_.window_ns) latching_ = false;
    const bool is_there = latched_.known() && now_ns - heard_ns_ < rules_.window_ns;
    if (latching_ && since_ns_ < 0 && (!is_there || from == latched_)) {
      since_ns_ = now_ns;
      return true;
    }
    if (!latching_ && from == latched_ && !settled_.known()) settled_ = from;
    return from == latched_ || from == settled_ || proven || (latching_ && from == announced_);
  }

  Rules rules_;
  Address announced_;
  Address latched_;
  Address settled_;  // the first that was heard when a window was over, or there when the next one began
  bool latching_ = true;
  int64_t since_ns_ = -1;  // the first packet of this window; -1: none yet
  int64_t heard_ns_ = 0;   // of latched_, the last packet
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_LATCH_H_
