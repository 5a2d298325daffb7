// Sound files in RIFF WAVE: what a recording comes in and what is spoken goes out as.
#ifndef PARLEY_TOOLS_WAV_FILE_H_
#define PARLEY_TOOLS_WAV_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace parley::tools {

struct Sound {
  std::vector<float> samples;  // mono, [-1, 1]
  uint32_t rate = 0;           // Hz
};

// PCM of 8, 16, 24 or 32 bits or floats, any rate, at most 16 channels, of which the mean is taken. Throws
// std::invalid_argument with the path, what was expected and found.
Sound ReadWav(const std::string& path);

// 16 bits; beyond [-1, 1] is clipped. Throws std::system_error with the path.
void WriteWav(const std::string& path, const Sound& sound);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_WAV_FILE_H_
