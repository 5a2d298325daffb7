#include "tools/wav_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "tools/output_file.h"

namespace parley::tools {
namespace {

constexpr size_t kMostSamples = size_t{1} << 28;  // of a sound that is read as a whole
constexpr size_t kReadFrames = 4096;              // frames
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

WavFormat FormatOf(const std::string& path, const std::string& bytes) {
  if (bytes.size() < 16)
    Refuse(path, "its fmt chunk has " + std::to_string(bytes.size()) + " bytes; 16 are the least");
  WavFormat format = {Little(bytes, 0, 2), Little(bytes, 2, 2), Little(bytes, 4, 4), Little(bytes, 14, 2)};
  if (format.kind == kExtensible && bytes.size() >= 26) format.kind = Little(bytes, 24, 2);
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

float SampleAt(const std::string& bytes, size_t at, const WavFormat& format) {
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

std::string LittleBytes(uint32_t value, size_t count) {
  std::string bytes;
  for (size_t n = 0; n < count; n++) bytes += static_cast<char>(value >> (8 * n) & 0xFF);
  return bytes;
}

}  // namespace

WavReader::WavReader(const std::string& path) : file_(path, std::ios::binary) {
  if (!file_) Refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
  file_.seekg(0, std::ios::end);
  const std::streamoff end = file_.tellg();
  if (!file_ || end < 0) Refuse(path, "cannot be read");
  const auto size = static_cast<uint64_t>(end);
  const std::string head = Bytes(0, 12);
  if (head.size() < 12 || head.compare(0, 4, "RIFF") != 0 || head.compare(8, 4, "WAVE") != 0)
    Refuse(path, "is no WAV file: it does not begin with RIFF and WAVE");
  for (uint64_t at = 12; size >= at + 8;) {
    const std::string chunk = Bytes(at, 8);
    // A stream that was cut off or never finished tells of more than there is.
    const uint64_t length = std::min<uint64_t>(Little(chunk, 4, 4), size - at - 8);
    if (chunk.compare(0, 4, "fmt ") == 0)
      format_ = FormatOf(path, Bytes(at + 8, static_cast<size_t>(std::min<uint64_t>(length, 64))));
    if (chunk.compare(0, 4, "data") == 0) {
      if (format_.kind == 0) Refuse(path, "has samples before their format");
      left_ = length / (uint64_t{format_.bits} / 8 * format_.channels);
      file_.seekg(static_cast<std::streamoff>(at + 8));
      return;
    }
    at += 8 + length + length % 2;
  }
  Refuse(path, "has no samples");
}

// Returns the `count` bytes from `at` on, or fewer where the file ends.
std::string WavReader::Bytes(uint64_t at, size_t count) {
  std::string bytes(count, '\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(at));
  file_.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(file_.gcount()));
  return bytes;
}

size_t WavReader::Read(float* samples, size_t most) {
  const size_t width = format_.bits / 8, frame = width * format_.channels;
  std::string bytes(frame * static_cast<size_t>(std::min<uint64_t>({most, left_, kReadFrames})), '\0');
  file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const size_t count = static_cast<size_t>(file_.gcount()) / frame;
  left_ = count == bytes.size() / frame ? left_ - count : 0;  // the file became shorter
  for (size_t n = 0; n < count; n++) {
    float sum = 0;
    for (size_t c = 0; c < format_.channels; c++) sum += SampleAt(bytes, n * frame + c * width, format_);
    samples[n] = sum / static_cast<float>(format_.channels);
  }
  return count;
}

Sound ReadWav(const std::string& path) {
  WavReader reader(path);
  if (reader.left() > kMostSamples)
    Refuse(path, "is too long to be read as a whole: " + std::to_string(reader.left()) + " samples");
  Sound sound{std::vector<float>(static_cast<size_t>(reader.left())), reader.rate()};
  size_t read = 0;
  while (reader.left() > 0) read += reader.Read(sound.samples.data() + read, sound.samples.size() - read);
  sound.samples.resize(read);
  return sound;
}

void WriteWav(const std::string& path, const Sound& sound, Rounding rounding) {
  const auto data = static_cast<uint32_t>(2 * sound.samples.size());
  std::string bytes = "RIFF" + LittleBytes(36 + data, 4) + "WAVEfmt " + LittleBytes(16, 4) +
                      LittleBytes(kPcm, 2) + LittleBytes(1, 2) + LittleBytes(sound.rate, 4) +
                      LittleBytes(2 * sound.rate, 4) + LittleBytes(2, 2) + LittleBytes(16, 2) + "data" +
                      LittleBytes(data, 4);
  for (const float sample : sound.samples) {
    const float scaled = std::min(1.0f, std::max(-1.0f, sample)) * 32767;
    const float whole = rounding == Rounding::kNearest ? std::round(scaled) : std::trunc(scaled);
    bytes += LittleBytes(static_cast<uint32_t>(static_cast<int32_t>(whole)), 2);
  }
  OutputFile file(path, OutputFile::kReplace);
  file.Write(bytes);
  file.Close();
}

}  // namespace parley::tools
