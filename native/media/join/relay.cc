#include "media/join/relay.h"

#include <algorithm>

#include "media/clock.h"

namespace parley {
namespace {

constexpr int64_t kTurnNs = kNsPerSecond / Relay::kMostPerSecond;
constexpr int kOpeningsShift = 24;  // the intake's number of a source grows slowly

}  // namespace

// After a pause the numbers begin anew: what was dropped meanwhile is no loss.
void Relay::Put(RelayedPacket packet, const uint8_t* payload) {
  const bool is_open = open();
  if (is_open && !was_open_) openings_++;
  was_open_ = is_open;
  if (!is_open) return;
  packet.source += openings_ << kOpeningsShift;
  if (packet.bytes > kMaxPayload || !HasTurn(packet.arrival_ns) || !ring_.Write(packet, payload)) {
    return dropped_.Add();
  }
  clock_->NoteRelayed(slot_, packet.arrival_ns);
}

bool Relay::HasTurn(int64_t now_ns) {
  const int64_t turn_ns = std::max(turn_ns_, now_ns) + kTurnNs;
  if (turn_ns - now_ns > kMostAtOnce * kTurnNs) return false;
  turn_ns_ = turn_ns;
  return true;
}

Relay::Figures Relay::figures() const {
  return {packets_.value(), octets_.value(),   paused_.value(),
          refused_.value(), repeated_.value(), dropped_.value()};
}

}  // namespace parley
