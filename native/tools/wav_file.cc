#include "tools/wav_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "model/files/file.h"
#include "tools/output_file.h"

namespace parley::tools {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;
constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
constexpr uint32_t kMostRate = 768'000, kMostChannels = 16;

[[noreturn]] void Refuse(const std::string& path, const std::string& problem) {
  throw std::invalid_argument(path + ": " + problem);
}

uint32_t Little(const std::string& bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t n = count; n-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + n]);
  return value;
}

struct Format {
  uint32_t kind = 0, channels = 0, rate = 0, bits = 0;
};

Format ReadFormat(const std::string& path, const std::string& bytes, size_t at, size_t size) {
  if (size < 16) Refuse(path, "its fmt chunk has " + std::to_string(size) + " bytes; 16 are the least");
  Format format = {Little(bytes, at, 2), Little(bytes, at + 2, 2), Little(bytes, at + 4, 4),
                   Little(bytes, at + 14, 2)};
  if (format.kind == kExtensible && size >= 26) format.kind = Little(bytes, at + 24, 2);
  const bool pcm = format.kind == kPcm && format.bits % 8 == 0 && format.bits >= 8 && format.bits <= 32;
  if (!pcm && !(format.kind == kFloat && format.bits == 32)) {
    Refuse(path, "holds " + std::to_string(format.bits) + " bits of format " + std::to_string(format.kind) +
                     "; PCM (1) of 8, 16, 24 or 32 bits and floats (3) of 32 are read");
  }
  if (format.channels < 1 || format.channels > kMostChannels) {
    Refuse(path, "has " + std::to_string(format.channels) + " channels; 1 to 16 are read");
  }
  if (format.rate < 1 || format.rate > kMostRate)
    Refuse(path, "has a rate of " + std::to_string(format.rate) + " Hz");
  return format;
}

float SampleAt(const std::string& bytes, size_t at, const Format& format) {
  const uint32_t word = Little(bytes, at, format.bits / 8);
  if (format.kind == kFloat) {
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  if (format.bits == 8) return (static_cast<float>(word) - 128) / 128;  // the only one without a sign
  const auto value = static_cast<int32_t>(word << (32 - format.bits));
  return static_cast<float>(value) / 2147483648.0f;
}

Sound ReadSamples(const std::string& bytes, size_t at, size_t size, const Format& format) {
  const size_t width = format.bits / 8, frame = width * format.channels;
  Sound sound{std::vector<float>(size / frame), format.rate};
  for (size_t n = 0; n < sound.samples.size(); n++) {
    float sum = 0;
    for (size_t c = 0; c < format.channels; c++) sum += SampleAt(bytes, at + n * frame + c * width, format);
    sound.samples[n] = sum / static_cast<float>(format.channels);
  }
  return sound;
}

std::string LittleBytes(uint32_t value, size_t count) {
  std::string bytes;
  for (size_t n = 0; n < count; n++) bytes += static_cast<char>(value >> (8 * n) & 0xFF);
  return bytes;
}

}  // namespace

Sound ReadWav(const std::string& path) {
  std::string bytes, problem;
  if (!model::ReadFile(path, kMostBytes, &bytes, &problem)) throw std::invalid_argument(problem);
  if (bytes.size() < 12 || bytes.compare(0, 4, "RIFF") != 0 || bytes.compare(8, 4, "WAVE") != 0) {
    Refuse(path, "is no WAV file: it does not begin with RIFF and WAVE");
  }
  Format format;
  for (size_t at = 12; bytes.size() - at >= 8;) {
    const std::string name = bytes.substr(at, 4);
    // A stream that was cut off or never finished tells of more than there is.
    const size_t size = std::min<size_t>(Little(bytes, at + 4, 4), bytes.size() - at - 8);
    if (name == "fmt ") format = ReadFormat(path, bytes, at + 8, size);
    if (name == "data") {
      if (format.kind == 0) Refuse(path, "has samples before their format");
      return ReadSamples(bytes, at + 8, size, format);
    }
    at = std::min(bytes.size(), at + 8 + size + size % 2);
  }
  Refuse(path, "has no samples");
}

void WriteWav(const std::string& path, const Sound& sound) {
  const auto data = static_cast<uint32_t>(2 * sound.samples.size());
  std::string bytes = "RIFF" + LittleBytes(36 + data, 4) + "WAVEfmt " + LittleBytes(16, 4) +
                      LittleBytes(kPcm, 2) + LittleBytes(1, 2) + LittleBytes(sound.rate, 4) +
                      LittleBytes(2 * sound.rate, 4) + LittleBytes(2, 2) + LittleBytes(16, 2) + "data" +
                      LittleBytes(data, 4);
  for (const float sample : sound.samples) {
    const float clipped = std::min(1.0f, std::max(-1.0f, sample));
    bytes += LittleBytes(static_cast<uint32_t>(std::lround(clipped * 32767)), 2);
  }
  OutputFile file(path, OutputFile::kReplace);
  file.Write(bytes);
  file.Close();
}

}  // namespace parley::tools
