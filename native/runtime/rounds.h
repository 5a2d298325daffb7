// A model with the scheduler of its streams. A device's thread serves it in rounds of some milliseconds, and
// is the only thread that calls it.
#ifndef PARLEY_RUNTIME_ROUNDS_H_
#define PARLEY_RUNTIME_ROUNDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/outcome.h"

namespace parley::runtime {

// Work on one device, the most urgent first: the sound of live listeners, the text of live speakers, and
// whatever reads or writes files.
enum class Rank : uint8_t { kListeners, kLiveText, kFiles };

// The purpose of a model's next round.
struct Need {
  Rank rank = Rank::kFiles;
  // The round of listeners must begin by then, so that every listener has sound. Live text was due then.
  Clock::time_point latest = Clock::time_point::max();
  Clock::duration least{};  // about the shortest time that the round takes
  bool is_final = false;    // live text: the final one of a turn, which goes before others
};

class Rounds {
 public:
  virtual ~Rounds() = default;
  // Takes orders. Returns no need if there is nothing to do until an order comes, or until LooksAgain().
  virtual std::optional<Need> Look() = 0;
  virtual Clock::time_point LooksAgain() const { return Clock::time_point::max(); }
  // Does a round, and shortens its work to `spare` where it can.
  virtual void Work(Clock::duration spare) = 0;
  virtual bool closing() const = 0;
  // Ends all streams, waiting and live.
  virtual void EndAll(Outcome outcome, const std::string& problem) = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ROUNDS_H_
