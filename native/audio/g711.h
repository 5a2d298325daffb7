// G.711: 16-bit samples to one byte of logarithmic code, and back, by table.
#ifndef PARLEY_AUDIO_G711_H_
#define PARLEY_AUDIO_G711_H_

#include <cstdint>

namespace parley {

struct G711Law {
  int16_t values[256];   // of each code
  uint8_t codes[65536];  // of each sample, at index sample + 32768
};

const G711Law& MuLaw();
const G711Law& ALaw();

}  // namespace parley

#endif  // PARLEY_AUDIO_G711_H_
