// Where the far end's media really comes from: symmetric RTP (RFC 4961) for
// peers behind address translators, whose SDP tells an address that nobody can
// reach.
//
//   learning ──first valid packet──▶ latched ──window over──▶ settled
//
// While the window lasts the announced source may still take over from another
// one that came first. Once settled every other source is refused, except one
// that proves itself by SRTP. Learn() opens the window again: a new description
// of the call came.
#ifndef PARLEY_MEDIA_RECEIVE_LATCH_H_
#define PARLEY_MEDIA_RECEIVE_LATCH_H_

#include <cstdint>

#include "media/receive/address.h"

namespace parley {

class Latch {
 public:
  struct Rules {
    int64_t window_ns = 2'000'000'000;
    bool announced_only = false;  // no learning: only the announced address is heard
  };

  void SetRules(const Rules& rules) { rules_ = rules; }

  // `announced` may be unknown. The present source stays the target until
  // another is latched, unless the announced address is a new one.
  void Learn(const Address& announced) {
    if (announced != announced_) latched_ = Address();
    announced_ = announced;
    latching_ = true;
    since_ns_ = -1;
  }

  // Whether a valid packet from there is the call's. `proven`: SRTP found it
  // genuine and newer than all before.
  bool Accept(const Address& from, int64_t now_ns, bool proven) {
    if (rules_.announced_only) {
      if (from != announced_) return false;
      latched_ = from;
      return true;
    }
    if (latching_ && since_ns_ >= 0 && now_ns - since_ns_ >= rules_.window_ns) latching_ = false;
    if (latching_ && since_ns_ < 0) {
      since_ns_ = now_ns;
      latched_ = from;
      return true;
    }
    if (from == latched_) return true;
    if (!proven && !(latching_ && from == announced_)) return false;
    latched_ = from;
    return true;
  }

  const Address& announced() const { return announced_; }
  const Address& latched() const { return latched_; }  // unknown before the first packet
  const Address& target() const { return latched_.known() ? latched_ : announced_; }

 private:
  Rules rules_;
  Address announced_;
  Address latched_;
  bool latching_ = true;
  int64_t since_ns_ = -1;  // the first packet of this window; -1: none yet
};

}  // namespace parley

#endif  // PARLEY_MEDIA_RECEIVE_LATCH_H_
