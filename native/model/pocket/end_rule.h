// Decides which steps of a chunk are spoken: when the end of speech counts, and how many frames follow it.
#ifndef PARLEY_MODEL_POCKET_END_RULE_H_
#define PARLEY_MODEL_POCKET_END_RULE_H_

#include <cstddef>
#include <optional>

namespace parley::model {

// An end of speech is an end logit above this, in all published models.
inline constexpr float kEndThreshold = -4.0f;

// The limits of one chunk.
struct EndLimits {
  size_t earliest_end = 0;      // the first step whose end of speech counts
  size_t frames_after_eos = 0;  // frames of the step that has the end, and of those behind it
  size_t max_frames = 0;        // of a chunk whose end never comes
};

class EndRule {
 public:
  EndRule() = default;
  explicit EndRule(const EndLimits& limits) : limits_(limits) {}

  // The next step, and whether its logit says that speech has ended. True: its latent is spoken. False: the
  // latent is dropped, and the chunk has ended.
  bool Take(bool end) {
    if (end && !found_ && frames_ >= limits_.earliest_end) {
      found_ = true;
      first_end_ = frames_;
    }
    stopped_ = EndReached();
    if (!stopped_) frames_++;
    return !stopped_;
  }

  // True if the latent of the next step would be dropped, whatever it is.
  bool EndReached() const { return found_ && frames_ >= first_end_ + limits_.frames_after_eos; }
  // True if there is no next step.
  bool Ended() const { return stopped_ || frames_ >= limits_.max_frames; }

  size_t frames() const { return frames_; }  // spoken
  // The step whose end of speech counted.
  std::optional<size_t> first_end() const {
    return found_ ? std::optional<size_t>(first_end_) : std::nullopt;
  }

 private:
  EndLimits limits_;
  size_t frames_ = 0;
  size_t first_end_ = 0;  // if it was found
  bool found_ = false, stopped_ = false;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_END_RULE_H_
