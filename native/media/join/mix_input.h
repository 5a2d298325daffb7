// A sound that enters a mix: one quantum of it at a time, with its gain, its loudness, and the place that it
// has among the loudest.
#ifndef PARLEY_MEDIA_JOIN_MIX_INPUT_H_
#define PARLEY_MEDIA_JOIN_MIX_INPUT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/byte_ring.h"
#include "media/hear/caller_sound.h"
#include "media/join/gain_ramp.h"
#include "media/join/joined_leg.h"
#include "media/join/joined_sound.h"

namespace parley {

struct MixInput {
  static constexpr float kLeast = 1e-7F;      // mean power: -70 dBFS
  static constexpr float kQuiet = 1e-5F;      // mean power: -50 dBFS
  static constexpr int64_t kHoldQuanta = 80;  // 400 ms
  static constexpr float kLouder = 2;         // 3 dB
  static constexpr int kNoPlace = -1;

  explicit MixInput(uint32_t its_id) : id(its_id) {}

  // After the samples were written.
  void Measure();
  // The idle noise of a codec needs no place.
  bool wants_place() const { return power > kLeast && !gain.silent(); }

  const uint32_t id;  // 0 is none
  std::array<float, JoinedSound::kQuantum> samples{};
  bool sounds = false;          // otherwise all are zero
  bool sounded_before = false;  // the same of the quantum before
  float power = 0;              // mean of this quantum
  float loudness = 0;           // mean power, smoothed
  int64_t quiet_quanta = 0;     // since it was louder than kQuiet
  int64_t louder_quanta = 0;    // in which it was kLouder than the weakest that has a place
  GainRamp gain{1};
  GainRamp::Step step{1, 1};  // of this quantum
  int place = kNoPlace;
};

// Tells that a member speaks after 100 ms of it, and that it does not after 500 ms without.
class SpeakingDetector {
 public:
  // True: it changed.
  bool Take(float power);
  bool speaking() const { return speaking_; }

 private:
  static constexpr float kSpeech = 3.2e-5F;  // mean power: -45 dBFS
  static constexpr int kOnQuanta = 20, kOffQuanta = 100;

  bool speaking_ = false;
  int heard_ = 0, silent_ = 0;  // quanta
};

// The far end of a leg.
class LegInput : public MixInput {
 public:
  static constexpr size_t kMostQuanta = CallerSound::kMostQuantum / JoinedSound::kQuantum;

  LegInput(uint32_t id, std::shared_ptr<JoinedLeg> leg);

  // Takes the packets that came until then, and the quanta that are due, at most kMostQuanta.
  void Hear(int64_t at_ns, size_t quanta);
  // Goes on to the next of them.
  void Next();
  const HearingFigures& figures() const { return sound_.figures(); }
  // The sound that was heard last is of G.711, which has nothing above 4 kHz, or of another codec. Neither is
  // true before the first sound.
  bool is_narrow() const { return sound_.codec() && IsG711(*sound_.codec()); }
  bool is_wide() const { return sound_.codec() && !IsG711(*sound_.codec()); }
  JoinedLeg& leg() { return *leg_; }
  SpeakingDetector speaking;

 private:
  static bool IsG711(VoiceCodec codec) { return codec == VoiceCodec::kPcmu || codec == VoiceCodec::kPcma; }

  const std::shared_ptr<JoinedLeg> leg_;
  CallerSound sound_;
  uint32_t source_ = 0;  // of the packets before
  bool has_source_ = false;
  std::array<float, CallerSound::kMostQuantum> heard_{};
  size_t next_ = 0;            // sample of heard_
  bool heard_sounds_ = false;  // otherwise heard_ is silent
};

// A ring of samples that JavaScript or a worker writes: music, a sound or a voice.
class RingInput : public MixInput {
 public:
  RingInput(uint32_t id, std::shared_ptr<ByteRing> ring, std::vector<uint32_t> only)
      : MixInput(id), ring_(std::move(ring)), only_(std::move(only)) {}

  // Takes the next quantum. False: the ring has ended, and everything was taken.
  bool Read();
  bool IsFor(uint32_t member) const;
  // Ends with a ramp.
  void Leave() {
    leaves_ = true;
    gain.Set(0);
  }
  bool has_left() const { return leaves_ && gain.silent(); }
  uint64_t missing() const { return missing_; }

 private:
  const std::shared_ptr<ByteRing> ring_;
  const std::vector<uint32_t> only_;  // members that hear it; empty: all
  bool begun_ = false, leaves_ = false;
  uint64_t missing_ = 0;  // samples that were not there in time
};

}  // namespace parley

#endif  // PARLEY_MEDIA_JOIN_MIX_INPUT_H_
