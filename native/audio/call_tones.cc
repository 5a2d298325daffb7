#include "audio/call_tones.h"

#include <algorithm>
#include <cmath>

namespace parley {
namespace {

constexpr int64_t Ms(int64_t ms) { return ms * ToneBursts::kRate / 1000; }

constexpr double kSitHz[] = {950, 1400, 1800}, kSitOff = 50;
constexpr int64_t kLeastSit = Ms(230), kMostSit = Ms(430), kMostSitGap = Ms(60);
constexpr double kCallingHz = 1100, kCallingOff = 38;
constexpr int64_t kLeastCalling = Ms(425), kMostCalling = Ms(575);
constexpr double kAnswerHz = 2100, kAnswerOff = 20;
constexpr int64_t kLeastAnswer = Ms(500);
constexpr double kLeastBeepHz = 435, kMostBeepHz = 2020, kBeepShare = 0.9;
// Codecs of few bits let the level of a tone rise and fall by 10 dB, and its frequency by 1.5 %; concealed
// packets fade.
constexpr double kBeepRise = 16, kBeepSpread = 0.016, kBeepSpreadHz = 12;
constexpr int64_t kBeepGap = Ms(80);  // a shorter gap in a beep is a lost packet
constexpr int64_t kLeastBeep = Ms(84), kMostBeep = Ms(3000);
constexpr int64_t kLeastSteady = Ms(100);
constexpr int64_t kApart = Ms(100);      // of a beep to tones beside it
constexpr int64_t kRepeats = Ms(1500);   // of tones of one frequency, which are a cadence
constexpr double kMostProgressHz = 500;  // of single tones in networks
constexpr int64_t kBusyPause = Ms(700);  // in any country, with some room
constexpr int64_t kLoneRing = Ms(600);   // so long a tone is known by itself
constexpr double kCadenceOff = 0.04;     // of the frequency
constexpr double kClosest = 35;          // Hz: closer sines are one, whose level beats

bool IsNear(double value, double wanted, double most) { return std::abs(value - wanted) <= most; }

bool IsSingle(const ToneBurst& burst, double hz, double off) {
  return burst.high_hz == 0 && IsNear(burst.low_hz, hz, off);
}

bool HasTonesOf(const ToneBurst& burst, const ToneCadence& cadence) {
  const bool is_low = IsNear(burst.low_hz, cadence.low_hz, kCadenceOff * cadence.low_hz);
  const bool is_close = cadence.high_hz > 0 && cadence.high_hz - cadence.low_hz < kClosest;
  if (is_close && burst.high_hz == 0) {
    return burst.low_hz >= (1 - kCadenceOff) * cadence.low_hz &&
           burst.low_hz <= (1 + kCadenceOff) * cadence.high_hz;
  }
  if (cadence.high_hz == 0) return burst.high_hz == 0 && is_low;
  return is_low && IsNear(burst.high_hz, cadence.high_hz, kCadenceOff * cadence.high_hz);
}

bool Lasts(int64_t samples, uint16_t ms) { return std::abs(samples - Ms(ms)) <= Ms(ms) * 15 / 100 + Ms(25); }

// One tone of the pitch and length of a beep.
bool IsBeepLike(const ToneBurst& burst) {
  return burst.high_hz == 0 && burst.low_hz >= kLeastBeepHz && burst.low_hz <= kMostBeepHz &&
         burst.length() >= kLeastBeep;
}

// The tone is one of those of a cadence, or between them.
bool IsPartOf(const ToneBurst& burst, double low_hz, double high_hz) {
  const double most_hz = std::max(low_hz, high_hz);
  return burst.low_hz >= (1 - kCadenceOff) * low_hz && burst.low_hz <= (1 + kCadenceOff) * most_hz;
}

// One tone with a gap.
ToneBurst Joined(const ToneBurst& first, const ToneBurst& second) {
  ToneBurst joined = second;
  joined.begin = first.begin;
  joined.rise = std::max(first.rise, second.rise);
  joined.spread_hz = std::max(first.spread_hz, second.spread_hz);
  joined.share = std::min(first.share, second.share);
  return joined;
}

bool IsBeep(const ToneBurst& burst) {
  const double most_spread = std::max(kBeepSpreadHz, kBeepSpread * burst.low_hz);
  return IsBeepLike(burst) && burst.length() <= kMostBeep && burst.share >= kBeepShare &&
         burst.rise <= kBeepRise && burst.spread_hz <= most_spread;
}

}  // namespace

size_t CallTones::Take(const float* samples, CallTone out[kMostAtOnce]) {
  ToneBurst burst;
  size_t count = 0;
  if (bursts_.Take(samples, &burst)) count += TakeBurst(burst, out);
  if (bursts_.Open(&burst)) count += TakeOpen(burst, out + count);
  if (count < kMostAtOnce && beep_due_ >= 0 && bursts_.position() >= beep_due_) {
    beep_due_ = -1;
    out[count++] = {ToneKind::kBeep, beep_.low_hz, beep_.begin, beep_.end};
  }
  return count;
}

void CallTones::Break() {
  ToneBurst ended;
  bursts_.Break(&ended);
  steady_begin_ = -1;
  has_before_ = false;
  sit_stage_ = 0;
  beep_due_ = told_until_ = -1;
}

// A burst that goes on: it may part a beep from what it would be alone, or be the long tone of a fax.
bool CallTones::TakeOpen(const ToneBurst& burst, CallTone* tone) {
  const bool is_same = beep_due_ >= 0 && IsNear(burst.low_hz, beep_.low_hz, kCadenceOff * beep_.low_hz);
  if (beep_due_ >= 0 && (is_same || burst.begin - beep_.end < kApart)) beep_due_ = -1;
  if (burst.begin != steady_begin_ && burst.length() >= kLeastSteady && IsBeep(burst)) {
    steady_begin_ = burst.begin;
    *tone = {ToneKind::kSteady, burst.low_hz, burst.begin, burst.end};
    return true;
  }
  if (!IsSingle(burst, kAnswerHz, kAnswerOff) || burst.length() < kLeastAnswer) return false;
  if (burst.begin == answer_begin_) return false;
  answer_begin_ = burst.begin;
  *tone = {ToneKind::kFaxAnswer, burst.low_hz, burst.begin, burst.end};
  return true;
}

bool CallTones::TakeBurst(const ToneBurst& burst, CallTone* tone) {
  const bool is_told = TakeFax(burst, tone) || TakeSit(burst, tone) || TakeCadence(burst, tone);
  if (is_told) beep_due_ = -1;
  else HoldBeep(burst);
  before_ = burst;
  has_before_ = true;
  return is_told;
}

bool CallTones::TakeFax(const ToneBurst& burst, CallTone* tone) const {
  if (!IsSingle(burst, kCallingHz, kCallingOff)) return false;
  if (burst.length() < kLeastCalling || burst.length() > kMostCalling) return false;
  *tone = {ToneKind::kFaxCalling, burst.low_hz, burst.begin, burst.end};
  return true;
}

bool CallTones::TakeSit(const ToneBurst& burst, CallTone* tone) {
  if (sit_stage_ > 0 && burst.begin - sit_end_ > kMostSitGap) sit_stage_ = 0;
  const bool lasts = burst.length() >= kLeastSit && burst.length() <= kMostSit;
  if (!lasts || !IsSingle(burst, kSitHz[sit_stage_], kSitOff)) {
    sit_stage_ = 0;
    if (!lasts || !IsSingle(burst, kSitHz[0], kSitOff)) return false;
  }
  if (sit_stage_ == 0) sit_begin_ = burst.begin;
  sit_end_ = burst.end;
  if (++sit_stage_ < kStages) return false;
  sit_stage_ = 0;
  *tone = {ToneKind::kSit, kSitHz[0], sit_begin_, burst.end};
  return true;
}

// The cadence that was told goes on as long as it fits: another may have parts of it.
bool CallTones::TakeCadence(const ToneBurst& burst, CallTone* tone) {
  int64_t begin = 0;
  for (const bool told : {true, false}) {
    for (const ToneCadence& cadence : cadences_) {
      const bool is_told = cadence.kind == told_ && burst.begin <= told_until_;
      if (is_told == told && Fits(cadence, burst, &begin)) return Report(cadence, begin, burst, tone);
    }
  }
  return false;
}

// A cadence is known by two bursts with their pause, or by a long first burst that no other tone has.
bool CallTones::Fits(const ToneCadence& cadence, const ToneBurst& burst, int64_t* begin) const {
  if (!HasTonesOf(burst, cadence)) return false;
  for (size_t step = 0; step < cadence.steps; step += 2) {
    if (!Lasts(burst.length(), cadence.ms[step])) continue;
    const size_t earlier = (step + cadence.steps - 2) % cadence.steps;
    const bool follows = has_before_ && HasTonesOf(before_, cadence) &&
                         Lasts(burst.begin - before_.end, cadence.ms[earlier + 1]) &&
                         (Lasts(before_.length(), cadence.ms[earlier]) ||
                          before_.length() < Ms(cadence.ms[earlier]));  // the sound began within it
    if (follows) return *begin = before_.begin, true;
  }
  const bool is_long = cadence.steps == 2 && Ms(cadence.ms[0]) >= kLoneRing;
  *begin = burst.begin;
  return is_long && Lasts(burst.length(), cadence.ms[0]) && IsAlone(cadence);
}

// False where it was told before and goes on.
bool CallTones::Report(const ToneCadence& cadence, int64_t begin, const ToneBurst& burst, CallTone* tone) {
  const bool goes_on = told_ == cadence.kind && burst.begin <= told_until_;
  const uint16_t longest = *std::max_element(cadence.ms.begin(), cadence.ms.begin() + cadence.steps);
  told_ = cadence.kind;
  told_low_hz_ = cadence.low_hz;
  told_high_hz_ = cadence.high_hz;
  told_until_ = burst.end + Ms(longest) * 13 / 10;
  if (goes_on) return beep_due_ = -1, false;
  *tone = {cadence.kind, burst.low_hz, begin, burst.end};
  return true;
}

// True: no other tone of the country has a burst like its own.
bool CallTones::IsAlone(const ToneCadence& cadence) const {
  ToneBurst own;
  own.end = Ms(cadence.ms[0]);
  own.low_hz = cadence.low_hz;
  own.high_hz = cadence.high_hz;
  for (const ToneCadence& other : cadences_) {
    if (&other == &cadence || other.kind == cadence.kind || !HasTonesOf(own, other)) continue;
    for (size_t step = 0; step < other.steps; step += 2) {
      if (Lasts(own.length(), other.ms[step])) return false;
    }
  }
  return true;
}

void CallTones::HoldBeep(ToneBurst burst) {
  if (!IsBeepLike(burst)) return;
  const int64_t pause = burst.begin - beep_like_.end;
  const bool is_repeated = IsNear(burst.low_hz, beep_like_.low_hz, kCadenceOff * beep_like_.low_hz);
  const bool goes_on = is_repeated && pause < kBeepGap;
  if (goes_on) burst = Joined(beep_like_, burst);
  else is_alone_ = pause >= (is_repeated ? kRepeats : kApart);
  const bool is_cadence = told_until_ >= burst.begin && IsPartOf(burst, told_low_hz_, told_high_hz_);
  beep_like_ = burst;
  beep_due_ = -1;
  if (!IsBeep(burst) || !is_alone_ || is_cadence) return;
  beep_ = burst;
  beep_due_ = burst.end + PatienceFor(burst);
}

// A burst of a cadence is no beep, which its next burst shows.
int64_t CallTones::PatienceFor(const ToneBurst& burst) const {
  int64_t patience = burst.low_hz <= kMostProgressHz ? kBusyPause : kApart;
  for (const ToneCadence& cadence : cadences_) {
    if (!HasTonesOf(burst, cadence)) continue;
    for (size_t step = 0; step < cadence.steps; step += 2) {
      if (Lasts(burst.length(), cadence.ms[step]))
        patience = std::max(patience, Ms(cadence.ms[step + 1]) * 12 / 10 + Ms(100));
    }
  }
  return patience;
}

}  // namespace parley
