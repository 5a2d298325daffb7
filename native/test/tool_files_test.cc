// Options and sound files of the command line tools.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "test/golden_vectors.h"
#include "tools/options.h"
#include "tools/wav_file.h"

namespace parley {
namespace {

using namespace tools;
using test::RefusalOf;
using test::TempFolder;

Options Parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return {static_cast<int>(arguments.size()), const_cast<char**>(arguments.data()), {"text", "seed"}};
}

void OptionsAreReadAndMistakesNamed() {
  const Options options = Parsed({"a.wav", "--text", "--", "--seed", "12", "b"});
  CHECK_EQ(options.Required("text"), "--");
  CHECK_EQ(options.Whole("seed", 0, 12, 1), uint64_t{12});
  CHECK((options.positional() == std::vector<std::string>{"a.wav", "b"}));
  CHECK_EQ(Parsed({}).Whole("seed", 0, 9, 7), uint64_t{7});
  CHECK_EQ(Parsed({}).Text("text", "none"), "none");
  CHECK_EQ(RefusalOf([] { Parsed({}).Required("text"); }), "--text is missing");
  CHECK_EQ(RefusalOf([] { Parsed({"--sed", "1"}); }), "there is no option --sed");
  CHECK_EQ(RefusalOf([] { Parsed({"--seed"}); }), "--seed needs a value");
  CHECK_EQ(RefusalOf([] { Parsed({"--seed", "1", "--seed", "2"}); }), "--seed is given twice");
  for (const char* const wrong : {"", "-1", "1x", "10", "99999999999999999999"}) {
    CHECK_EQ(RefusalOf([&] { Parsed({"--seed", wrong}).Whole("seed", 0, 9, 0); }),
             std::string("--seed is a whole number from 0 to 9, not \"") + wrong + "\"");
  }
}

std::string Little(uint32_t value, size_t count) {
  std::string bytes;
  for (size_t n = 0; n < count; n++) bytes += static_cast<char>(value >> (8 * n) & 0xFF);
  return bytes;
}

std::string Chunk(const std::string& name, const std::string& bytes) {
  return name + Little(static_cast<uint32_t>(bytes.size()), 4) + bytes + std::string(bytes.size() % 2, '\0');
}

std::string FormatOf(uint32_t kind, uint32_t channels, uint32_t rate, uint32_t bits) {
  return Little(kind, 2) + Little(channels, 2) + Little(rate, 4) + Little(0, 4) + Little(0, 2) +
         Little(bits, 2);
}

std::string Wav(const std::string& chunks) {
  return "RIFF" + Little(static_cast<uint32_t>(chunks.size() + 4), 4) + "WAVE" + chunks;
}

void EveryWidthOfSampleIsRead() {
  TempFolder folder;
  const float half = 0.5f;
  std::string float_bytes(4, '\0');
  std::memcpy(&float_bytes[0], &half, 4);
  const struct {
    std::string format, samples;
  } files[] = {
      {FormatOf(1, 1, 8000, 8), "\xC0"},
      {FormatOf(1, 1, 8000, 16), Little(0x4000, 2)},
      {FormatOf(1, 1, 8000, 24), Little(0x400000, 3)},
      {FormatOf(1, 1, 8000, 32), Little(0x40000000, 4)},
      {FormatOf(3, 1, 8000, 32), float_bytes},
      {FormatOf(1, 2, 8000, 16), Little(0x6000, 2) + Little(0x2000, 2)},  // the mean of two channels
      {FormatOf(0xFFFE, 1, 8000, 16) + Little(22, 2) + Little(16, 2) + Little(4, 4) + Little(1, 2),
       Little(0x4000, 2)},
  };
  for (const auto& file : files) {
    const std::string path = folder / "a.wav";
    test::WriteAll(path,
                   Wav(Chunk("LIST", "odd") + Chunk("fmt ", file.format) + Chunk("data", file.samples)));
    const Sound sound = ReadWav(path);
    CHECK_EQ(sound.rate, 8000u);
    CHECK_EQ(sound.samples.size(), size_t{1});
    CHECK_EQ(sound.samples.at(0), 0.5f);
  }
}

void WhatIsWrittenIsReadAgain() {
  TempFolder folder;
  const Sound sound = {{0, 0.25f, -0.25f, 1, -1, 2, -2}, 24000};
  WriteWav(folder / "a.wav", sound);
  const Sound read = ReadWav(folder / "a.wav");
  CHECK_EQ(read.rate, 24000u);
  CHECK_EQ(read.samples.size(), sound.samples.size());
  for (size_t n = 0; n < read.samples.size(); n++) {
    CHECK(std::fabs(read.samples[n] - std::min(1.0f, std::max(-1.0f, sound.samples[n]))) < 5e-5f);
  }
}

void SamplesAreRoundedAsByThePackageOfPocketTts() {
  TempFolder folder;
  const test::GoldenVectors golden("pcm16", "pocket");
  const std::vector<float> samples = golden.Read("samples");
  WriteWav(folder / "a.wav", {samples, 24000}, Rounding::kTowardsZero);
  const std::string bytes = test::ReadAll(folder / "a.wav");
  const size_t head = bytes.size() - 2 * samples.size();
  std::vector<int32_t> written;
  for (size_t n = 0; n < samples.size(); n++) {
    int16_t sample;
    std::memcpy(&sample, bytes.data() + head + 2 * n, sizeof(sample));
    written.push_back(sample);
  }
  CHECK(written == golden.Read<int32_t>("pcm"));
}

// Two hours of 96 kHz, more than may be read as a whole.
void AFileOfAnyLengthIsReadBitByBit() {
  TempFolder folder;
  const std::string path = folder / "long.wav";
  constexpr uint32_t kBytes = 7200 * 96'000 * 2;
  const std::string head =
      Wav(Chunk("fmt ", FormatOf(1, 1, 96'000, 16)) + "data" + Little(kBytes, 4) + Little(0x4000, 2));
  test::WriteAll(path, head);
  std::filesystem::resize_file(path, head.size() - 2 + kBytes);
  WavReader reader(path);
  CHECK_EQ(reader.left(), kBytes / 2);
  std::vector<float> samples(100'000);
  CHECK_EQ(reader.Read(samples.data(), 1), size_t{1});
  CHECK_EQ(samples[0], 0.5f);
  uint64_t read = 1;
  while (read < 500'000) read += reader.Read(samples.data(), samples.size());
  CHECK_EQ(reader.left(), kBytes / 2 - read);
  CHECK_EQ(RefusalOf([&] { ReadWav(path); }),
           path + ": is too long to be read as a whole: 691200000 samples");
}

void WhatIsNoSoundIsNamed() {
  TempFolder folder;
  const std::string path = folder / "a.wav", format = Chunk("fmt ", FormatOf(1, 1, 8000, 16));
  const struct {
    std::string bytes, problem;
  } files[] = {
      {"", "is no WAV file: it does not begin with RIFF and WAVE"},
      {Wav(""), "has no samples"},
      {Wav(format), "has no samples"},
      {Wav(Chunk("data", "ab")), "has samples before their format"},
      {Wav(Chunk("fmt ", "short")), "its fmt chunk has 5 bytes; 16 are the least"},
      {Wav(Chunk("fmt ", FormatOf(7, 1, 8000, 8))),
       "holds 8 bits of format 7; PCM (1) of 8, 16, 24 or 32 bits and floats (3) of 32 are read"},
      {Wav(Chunk("fmt ", FormatOf(1, 0, 8000, 16))), "has 0 channels; 1 to 16 are read"},
      {Wav(Chunk("fmt ", FormatOf(1, 1, 0, 16))), "has a rate of 0 Hz"},
  };
  for (const auto& file : files) {
    test::WriteAll(path, file.bytes);
    CHECK_EQ(RefusalOf([&] { ReadWav(path); }), path + ": " + file.problem);
  }
  // A stream that was cut off tells of more than there is.
  test::WriteAll(path, Wav(format + "data" + Little(1000, 4) + Little(0x4000, 2) + "x"));
  CHECK_EQ(ReadWav(path).samples.size(), size_t{1});
  CHECK_EQ(RefusalOf([&] { ReadWav(folder / "none.wav"); }),
           (folder / "none.wav") + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace parley

TEST_GROUP(tool_files) {
  return parley::test::Run({
      {"options are read, and mistakes named", parley::OptionsAreReadAndMistakesNamed},
      {"every width of sample is read", parley::EveryWidthOfSampleIsRead},
      {"what is written is read again", parley::WhatIsWrittenIsReadAgain},
      {"samples are rounded as by the package of Pocket TTS",
       parley::SamplesAreRoundedAsByThePackageOfPocketTts},
      {"a file of any length is read bit by bit", parley::AFileOfAnyLengthIsReadBitByBit},
      {"what is no sound is named", parley::WhatIsNoSoundIsNamed},
  });
}
