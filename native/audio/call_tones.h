// Tells by the bursts of a call's sound what its tones mean: ring-back, busy and reorder by the cadences of a
// country (ITU-T E.180), special information tones (SIT, ITU-T E.180), fax (CNG and CED, ITU-T T.30), and the
// beep of an answering machine. A tone that others could follow is told when none has followed. kSteady: a
// tone that may be a beep has lasted 0.1 s, and goes on.
#ifndef PARLEY_AUDIO_CALL_TONES_H_
#define PARLEY_AUDIO_CALL_TONES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "audio/tone_bursts.h"

namespace parley {

enum class ToneKind : uint8_t {
  kRingBack = 1,
  kBusy,
  kReorder,
  kSit,
  kFaxCalling,
  kFaxAnswer,
  kBeep,
  kSteady
};

struct CallTone {
  ToneKind kind;
  double hz;      // of a beep; otherwise of its first sine
  int64_t begin;  // samples since the beginning of the sound
  int64_t end;    // of what was heard of it until now
};

// A tone of a country.
struct ToneCadence {
  static constexpr size_t kMostSteps = 8;

  ToneKind kind;
  double low_hz, high_hz;               // high_hz is 0 for one sine
  size_t steps;                         // 2, 4, 6 or 8
  std::array<uint16_t, kMostSteps> ms;  // sound, silence, sound, ...
};

class CallTones {
 public:
  static constexpr size_t kMostAtOnce = 2;  // tones of one Take

  explicit CallTones(std::vector<ToneCadence> cadences) : cadences_(std::move(cadences)) {}

  // Takes ToneBursts::kHop samples. Returns how many tones were written to `out`.
  size_t Take(const float* samples, CallTone out[kMostAtOnce]);
  void Break();  // the sound breaks off here

 private:
  static constexpr size_t kStages = 3;  // tones of SIT

  bool TakeOpen(const ToneBurst& burst, CallTone* tone);
  bool TakeBurst(const ToneBurst& burst, CallTone* tone);
  bool TakeFax(const ToneBurst& burst, CallTone* tone) const;
  bool TakeSit(const ToneBurst& burst, CallTone* tone);
  bool TakeCadence(const ToneBurst& burst, CallTone* tone);
  bool Fits(const ToneCadence& cadence, const ToneBurst& burst, int64_t* begin) const;
  bool Report(const ToneCadence& cadence, int64_t begin, const ToneBurst& burst, CallTone* tone);
  bool IsAlone(const ToneCadence& cadence) const;
  void HoldBeep(ToneBurst burst);
  int64_t PatienceFor(const ToneBurst& burst) const;

  const std::vector<ToneCadence> cadences_;
  ToneBursts bursts_;
  ToneBurst before_;  // the last burst
  bool has_before_ = false;
  int64_t answer_begin_ = -1;  // of the fax answer tone that was told last
  int64_t steady_begin_ = -1;  // of the tone that was told last while it went on

  size_t sit_stage_ = 0;
  int64_t sit_begin_ = 0, sit_end_ = 0;

  ToneBurst beep_;
  int64_t beep_due_ = -1;                              // when it is told; -1: none is held
  ToneBurst beep_like_{INT64_MIN / 2, INT64_MIN / 2};  // the last burst that could be a beep
  bool is_alone_ = false;                              // no other tone was shortly before it

  // The cadence that was told last goes on until then.
  ToneKind told_ = ToneKind::kBeep;
  double told_low_hz_ = 0, told_high_hz_ = 0;
  int64_t told_until_ = -1;
};

}  // namespace parley

#endif  // PARLEY_AUDIO_CALL_TONES_H_
