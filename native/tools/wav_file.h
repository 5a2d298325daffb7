// Sound files in RIFF WAVE: what a recording comes in and what is spoken goes out as.
#ifndef PARLEY_TOOLS_WAV_FILE_H_
#define PARLEY_TOOLS_WAV_FILE_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace parley::tools {

struct Sound {
  std::vector<float> samples;  // mono, [-1, 1]
  uint32_t rate = 0;           // Hz
};

struct WavFormat {
  uint32_t kind = 0, channels = 0, rate = 0, bits = 0;
};

// Reads a file of any length, block by block: PCM of 8, 16, 24 or 32 bits or floats, any rate, at most 16
// channels, of which the mean is taken.
class WavReader {
 public:
  // Throws std::invalid_argument with the path, what was expected and found.
  explicit WavReader(const std::string& path);

  uint32_t rate() const { return format_.rate; }
  uint64_t left() const { return left_; }  // samples
  // Returns how many were read; fewer than `most` do not mean the end.
  size_t Read(float* samples, size_t most);

 private:
  std::string Bytes(uint64_t at, size_t count);

  std::ifstream file_;
  WavFormat format_;
  uint64_t left_ = 0;
};

// Reads a whole file of up to 2^28 samples. Throws as WavReader does.
Sound ReadWav(const std::string& path);

enum class Rounding : uint8_t { kNearest, kTowardsZero };

// Samples of 16 bits; beyond [-1, 1] they are clipped. Throws std::system_error with the path.
void WriteWav(const std::string& path, const Sound& sound, Rounding rounding = Rounding::kNearest);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_WAV_FILE_H_
