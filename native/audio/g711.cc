// Both laws code the sign, a segment (an octave) and four bits within it. The sample is cut to the law's own
// width first: 14 bits for mu-law, 13 for A-law, with negative values in ones' complement, as the reference
// code of the ITU-T does (G.191).
#include "audio/g711.h"

#include <algorithm>

namespace parley {
namespace {

constexpr int kMuBias = 33;    // moves the segment borders to powers of two
constexpr int kMuMost = 8191;  // 14 bits without the sign, biased
constexpr int kMuToggle = 0xff;
constexpr int kAToggle = 0x55;  // every other bit is inverted (G.711, table 1a, note 2)

int HighestBit(int value) {
  int bit = 0;
  while (value >>= 1) bit++;
  return bit;
}

int MuCode(int value) {
  const int sign = value < 0 ? 0x80 : 0;
  const int magnitude = std::min(((value < 0 ? ~value : value) >> 2) + kMuBias, kMuMost);
  const int segment = HighestBit(magnitude) - 5;
  return (sign | segment << 4 | (magnitude >> (segment + 1) & 0x0f)) ^ kMuToggle;
}

int ACode(int value) {
  const int sign = value < 0 ? 0 : 0x80;
  const int magnitude = (value < 0 ? ~value : value) >> 4;
  // Segments 0 and 1 have the same step. Each later segment doubles it.
  const int segment = std::max(0, HighestBit(magnitude) - 3);
  return (sign | segment << 4 | (magnitude >> std::max(0, segment - 1) & 0x0f)) ^ kAToggle;
}

int MuValue(int code) {
  const int bits = code ^ kMuToggle;
  const int magnitude = ((((bits & 0x0f) << 1) + kMuBias) << (bits >> 4 & 7)) - kMuBias;
  return (bits & 0x80 ? -magnitude : magnitude) * 4;
}

int AValue(int code) {
  const int bits = code ^ kAToggle;
  const int segment = bits >> 4 & 7;
  const int step = ((bits & 0x0f) << 1) + 1;  // the middle of the interval
  const int magnitude = segment == 0 ? step : (step + 32) << (segment - 1);
  return (bits & 0x80 ? magnitude : -magnitude) * 8;
}

struct Filled : G711Law {
  Filled(int (*code_of)(int), int (*value_of)(int)) {
    for (int code = 0; code < 256; code++) values[code] = static_cast<int16_t>(value_of(code));
    for (int n = 0; n < 65536; n++) codes[n] = static_cast<uint8_t>(code_of(n - 32768));
  }
};

}  // namespace

const G711Law& MuLaw() {
  static const Filled law(MuCode, MuValue);
  return law;
}

const G711Law& ALaw() {
  static const Filled law(ACode, AValue);
  return law;
}

}  // namespace parley
