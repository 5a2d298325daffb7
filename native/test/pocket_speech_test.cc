// The command line that speaks with Pocket TTS: a text becomes the official package's sound, and mistakes are
// named.
#include "tools/pocket_speech.h"

#include <cmath>
#include <string>

#include "test/golden_vectors.h"
#include "tools/wav_file.h"

namespace parley::test {
namespace {

using namespace tools;

constexpr double kTolerance = 1e-3;    // relative to the peak
constexpr double kStep = 0.5 / 32767;  // of 16 bits
constexpr size_t kEvery = 8;           // samples of the recorded audio

const std::string kPocket = kGolden + "/pocket", kModel = kPocket + "/tiny-current";

using Values = std::vector<float>;

Options Parsed(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers{const_cast<char*>("speak")};
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  return {static_cast<int>(pointers.size()),
          pointers.data(),
          {"model", "text", "voice", "noise", "max-tokens", "gelu", "rules", "seed", "threads", "language",
           "quantize", "cache"}};
}

std::vector<std::string> Joined(std::vector<std::string> first, const std::vector<std::string>& others) {
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

std::string VectorsOf(const std::string& name) { return kPocket + "/" + name + ".safetensors"; }

// Speaks with the options, and returns the file that was written.
Sound Spoken(const std::vector<std::string>& arguments) {
  const TempFolder folder;
  const std::string path = folder / "out.wav";
  const std::string report = SpeakWithPocket(Parsed(Joined(arguments, {"--threads", "2", path})));
  CHECK(report.find("flow net") != std::string::npos);
  return ReadWav(path);
}

void CheckAgainst(const std::string& name, const std::vector<std::string>& arguments) {
  const Sound sound = Spoken(Joined(arguments, {"--noise", VectorsOf(name)}));
  CHECK_EQ(sound.rate, uint32_t{24000});
  const GoldenVectors golden(name, "pocket");
  const bool whole = golden.Has("audio");
  const Values wanted = golden.Read(whole ? "audio" : "audio_every_8th");
  Values seen;
  for (size_t n = 0; n < sound.samples.size(); n += whole ? 1 : kEvery) seen.push_back(sound.samples[n]);
  CHECK_EQ(seen.size(), wanted.size());
  float peak = 0;
  for (const float value : wanted) peak = std::max(peak, std::fabs(value));
  double worst = 0;
  for (size_t n = 0; n < wanted.size(); n++) worst = std::max<double>(worst, std::fabs(seen[n] - wanted[n]));
  CHECK(worst < kTolerance * static_cast<double>(peak) + 2 * kStep);
}

void RequestsBecomeTheSoundOfThePackage() {
  const std::vector<std::string> current{"--model", kModel, "--voice", "mono24k"};
  CheckAgainst("tiny-current__gen_short", Joined(current, {"--text", "Hello world."}));
  CheckAgainst("tiny-current__gen_long",
               Joined(current, {"--text", "Please hold the line, your call is important to us."}));
  CheckAgainst("tiny-current__gen_chunks",
               Joined(current, {"--max-tokens", "12", "--text", "What time is it? It is ten past eight."}));
  const std::vector<std::string> first{"--model", kPocket + "/tiny-first", "--gelu", "erf", "--rules", "2.1"};
  CheckAgainst("tiny-first__gen_short", Joined(first, {"--voice", "mono24k", "--text", "Hola mundo"}));
  CheckAgainst("tiny-first__gen_long",
               Joined(first, {"--voice", "mono44k", "--text",
                              "Das Wetter bleibt sch\u00F6n; wie bitte? Ja, nat\u00FCrlich!"}));
}

void ASeedDrawsTheNoise() {
  const std::vector<std::string> request{"--model", kModel, "--voice", "mono24k", "--text", "Hello world."};
  const Sound first = Spoken(Joined(request, {"--seed", "1"}));
  CHECK(first.samples == Spoken(Joined(request, {"--seed", "1"})).samples);
  CHECK(first.samples != Spoken(Joined(request, {"--seed", "2"})).samples);
}

void FewerBitsSpeakNearlyAlike() {
  const std::vector<std::string> request{
      "--model", kModel,         "--voice", "mono24k",
      "--text",  "Hello world.", "--noise", VectorsOf("tiny-current__gen_short")};
  const Values exact = Spoken(request).samples;
  // The changes by int8 come back with every latent, so that only the first frame is nearly the same.
  const struct {
    const char *option, *value;
    size_t samples;
  } cases[] = {
      {"--quantize", "int8-backbone", 1920}, {"--quantize", "int8", 1920}, {"--cache", "f16", exact.size()}};
  for (const auto& [option, value, samples] : cases) {
    const Values seen = Spoken(Joined(request, {option, value})).samples;
    CHECK(seen != exact);
    CHECK(seen.size() >= samples);
    double worst = 0;
    for (size_t n = 0; n < samples && n < seen.size(); n++)
      worst = std::max<double>(worst, std::fabs(seen[n] - exact[n]));
    CHECK(worst < 0.02);
  }
}

std::string Mistake(const std::vector<std::string>& arguments) {
  return RefusalOf([&] { Spoken(arguments); });
}

void MistakesAreNamed() {
  const std::vector<std::string> request{"--model", kModel, "--text", "Hello world."};
  const std::vector<std::string> with_voice = Joined(request, {"--voice", "mono24k"});
  CHECK_EQ(Mistake(request), "--voice: there is no voice \"alba\" in " + kModel +
                                 "/embeddings, which has: mono24k, mono24k_old_form, stereo16k, tiny24k");
  CHECK_EQ(Mistake(Joined(request, {"--voice", "../model"})),
           "--voice: there is no voice \"../model\" in " + kModel +
               "/embeddings, which has: mono24k, mono24k_old_form, stereo16k, tiny24k");
  CHECK_EQ(Mistake(Joined(with_voice, {"--gelu", "fast"})), "--gelu is tanh or erf, not \"fast\"");
  CHECK_EQ(Mistake(Joined(with_voice, {"--rules", "3"})), "--rules is 3.3 or 2.1, not \"3\"");
  CHECK_EQ(Mistake(Joined(with_voice, {"--quantize", "fp8"})),
           "--quantize is none, int8-backbone or int8, not \"fp8\"");
  CHECK_EQ(Mistake(Joined(with_voice, {"--cache", "bf16"})), "--cache is f32 or f16, not \"bf16\"");
  CHECK_EQ(Mistake(Joined(with_voice, {"--max-tokens", "0"})),
           "--max-tokens is a whole number from 1 to 100000, not \"0\"");
  CHECK_EQ(Mistake(Joined(with_voice, {"--language", "en"})),
           "--language is for Qwen3-TTS models, and " + kModel + " holds none");
  CHECK_EQ(Mistake({"--model", kModel, "--voice", "mono24k", "--text", " \n"}),
           "--text has nothing to speak");
  CHECK_EQ(Mistake({"--voice", "mono24k", "--text", "Hello."}), "--model is missing");
}

void NoiseThatDoesNotFitIsNamed() {
  const std::vector<std::string> request{"--model", kModel, "--voice", "mono24k"};
  const auto mistake = [&](const std::string& text, const std::string& file) {
    return Mistake(Joined(request, {"--text", text, "--noise", file}));
  };
  const std::string other = VectorsOf("tiny-first__gen_short"), none = kModel + "/model.safetensors",
                    shorter = VectorsOf("tiny-current__gen_long");
  CHECK_EQ(mistake("Hello.", other),
           other + ": c0_noise: expected F32 [steps, 12], found another dtype or shape");
  CHECK_EQ(mistake("Hello.", none), none + ": c0_noise: expected F32 [steps, 12], found no such tensor");
  CHECK_EQ(mistake("Hello world.", shorter),
           shorter + ": c0_noise: has 10 rows, and the speech has not ended after as many steps");
  CHECK(mistake("Hello.", kModel + "/missing").find(kModel + "/missing") == 0);
}

void FoldersAreKnownByTheirFiles() {
  CHECK(HoldsPocket(kModel));
  CHECK(!HoldsPocket(kGolden + "/tiny-base"));
  CHECK_EQ(RefusalOf([] {
             RefuseOptionsOfOthers(Parsed({"--model", "/qwen", "--noise", "n.safetensors"}), false);
           }),
           "--noise is for Pocket TTS models, and /qwen holds none");
}

}  // namespace

TEST_GROUP(pocket_speech) {
  return Run({
      {"requests become the sound of the package", RequestsBecomeTheSoundOfThePackage},
      {"a seed draws the noise", ASeedDrawsTheNoise},
      {"fewer bits speak nearly alike", FewerBitsSpeakNearlyAlike},
      {"mistakes are named", MistakesAreNamed},
      {"noise that does not fit is named", NoiseThatDoesNotFitIsNamed},
      {"folders are known by their files", FoldersAreKnownByTheirFiles},
  });
}

}  // namespace parley::test
