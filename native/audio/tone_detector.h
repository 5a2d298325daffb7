// Finds keys and the tones of calls in the sound of a far end.
//
//   sound of 8 or 16 kHz ──▶ 8 kHz ─┬▶ DtmfDetector ──▶ keys
//                                   └▶ CallTones ─────▶ ring-back, busy, reorder, SIT, fax, beep
//
// An object belongs to one thread at a time. It allocates memory in its constructor only.
#ifndef PARLEY_AUDIO_TONE_DETECTOR_H_
#define PARLEY_AUDIO_TONE_DETECTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "audio/call_tones.h"
#include "audio/dtmf_detector.h"
#include "audio/half_band.h"

namespace parley {

struct ToneWishes {
  bool keys = false;
  bool tones = false;
  std::vector<ToneCadence> cadences;  // with `tones`: those of a country
  bool any() const { return keys || tones; }
};

// A key or a tone that was found. Times are microseconds since the beginning of the sound.
struct FoundTone {
  bool is_key;
  uint8_t event;  // of a key: RFC 4733. Otherwise a ToneKind
  double hz;      // 0 of a key
  int64_t begin_us, length_us;
};

class ToneDetector {
 public:
  static constexpr size_t kQuantumMs = 16;  // of one Take
  static constexpr size_t kMostAtOnce = 6;

  // `rate`: 8000 or 16,000 Hz.
  ToneDetector(int rate, ToneWishes wishes);

  // Takes 16 ms of samples in [-1, 1]. Returns how many tones were written to `out`.
  size_t Take(const float* samples, FoundTone out[kMostAtOnce]);
  // The sound breaks off here, and goes on later.
  size_t Break(FoundTone out[kMostAtOnce]);
  // Time of the sample that is taken next.
  int64_t position_us() const { return taken_ * 1'000'000 / kRate; }

 private:
  static constexpr int kRate = 8000;
  static constexpr size_t kQuantum = kRate * kQuantumMs / 1000;
  static_assert(kQuantum == ToneBursts::kHop && kQuantum % DtmfDetector::kHop == 0, "whole hops");

  int64_t TimeOf(int64_t sample) const;

  const bool halves_;
  int64_t taken_ = 0;  // samples of kRate
  HalfBandHalver halver_;
  std::array<float, kQuantum> quantum_;
  std::optional<DtmfDetector> keys_;
  std::optional<CallTones> tones_;
};

}  // namespace parley

#endif  // PARLEY_AUDIO_TONE_DETECTOR_H_
