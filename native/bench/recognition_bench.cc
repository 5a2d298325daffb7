// Measures recognition on a checkpoint of full size, by stage, beside the arithmetic that the stage has and
// the reading of memory.
//
//   recognition_bench <directory> [seconds of sound] [decoder: bf16 | int8] [threads] [turns]
//
// With a number of turns it measures the final pass of a live turn instead: the caller has spoken four
// seconds, passes over the sound so far were done while he spoke, and 200 ms of silence follow. The last
// pass's text is the draft; none of it or all of it holds.
//
// The checkpoint may be of random weights (native/tools/write_checkpoint --type asr): its text never ends, so
// four ids are made for each second of sound, as speech has them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/reading.h"
#include "kernels/cpu/cpu_kernels.h"
#include "media/random.h"
#include "model/recognition/recognition_work.h"

namespace parley::bench {
namespace {

using namespace model;

constexpr size_t kRate = 16'000;
constexpr double kIdsASecond = 4;

// Noise whose loudness comes and goes as that of syllables.
std::vector<float> Sound(double seconds) {
  Random random(1);
  std::vector<float> samples(static_cast<size_t>(seconds * kRate));
  for (size_t n = 0; n < samples.size(); n++) {
    const double time = static_cast<double>(n) / kRate, loudness = std::fabs(std::sin(time * 11));
    samples[n] = static_cast<float>(0.2 * loudness * (2 * random.Unit() - 1));
  }
  return samples;
}

struct Loaded {
  std::unique_ptr<const RecognitionCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<RecognitionModel> model;
  double seconds = 0;

  Loaded(const std::string& directory, std::optional<Format> format, unsigned threads) {
    cpu::ThreadPoolOptions options;
    options.threads = threads;
    options.nice = 0;
    const double start = Now();
    std::string problem;
    checkpoint = RecognitionCheckpoint::Open(directory, RecognitionKind::kRecogniser, &problem);
    if (!checkpoint) throw std::runtime_error(problem);
    kernels = std::make_unique<cpu::CpuKernels>(options);
    model = std::make_unique<RecognitionModel>(*kernels, *checkpoint, format);
    seconds = Now() - start;
  }
};

// Multiply-accumulates of a transformer's matrices for a row.
double RowWork(const TransformerConfig& c, double matrices) {
  return static_cast<double>(c.layers) *
             static_cast<double>(2 * c.hidden * c.query_width() + 2 * c.hidden * c.kv_width()) +
         static_cast<double>(c.layers) * matrices * static_cast<double>(c.hidden * c.intermediate);
}

void Print(const char* stage, double seconds, double audio, double operations) {
  std::printf("%-12s %8.1f ms for a second of sound   %6.1f GFLOP/s\n", stage, seconds / audio * 1e3,
              operations / seconds / 1e9);
}

void Run(const Loaded& loaded, double audio) {
  const RecognitionConfig& config = loaded.checkpoint->config();
  const std::vector<float> sound = Sound(audio);
  Pass pass;
  pass.tail.assign(12, 198);
  pass.max_new_tokens = static_cast<size_t>(kIdsASecond * audio);
  RecognitionStream stream(*loaded.model, std::vector<int32_t>(9, 198), Format::kBf16);
  RecognitionStream* const one = &stream;
  const double start = Now();
  stream.Push(sound.data(), sound.size());
  stream.BeginPass(pass);
  const double heard = Now();
  RecognitionWork work(*loaded.model);
  while (work.Encode(&one, 1, 4)) {
    while (work.Advance()) continue;
  }
  const double encoded = Now();
  while (work.Prefill(&one, 1, 256)) {
    while (work.Advance()) continue;
  }
  const double prefilled = Now();
  while (stream.turn() == RecognitionStream::Turn::kDecode) loaded.model->Decode(&one, 1);
  const double end = Now();
  // The convolutions alone.
  AudioConvolutions& convolutions = loaded.model->encoder().convolutions();
  const auto bands = static_cast<size_t>(config.encoder.mel_bands);
  const std::vector<float> features(kChunkFrames * bands, 0.3f);
  std::vector<float> rows(kChunkTokens * convolutions.width());
  const AudioConvolutions::Chunk chunk{features.data(), kChunkFrames, true, rows.data()};
  const double convolving = Now();
  for (int n = 0; n < 4; n++) convolutions.Run(chunk);
  const double convolved = (Now() - convolving) / 4;
  const double tokens = static_cast<double>(stream.audio_tokens());
  const double encoder = 2 * tokens * RowWork(config.encoder.transformer, 2);
  Print("features", heard - start, audio, 0.02e9 * audio);
  Print("convolve", convolved * audio, audio, 4.39e9 * audio);
  Print("encoder", encoded - heard - convolved * audio, audio, encoder);
  Print("prefill", prefilled - encoded, audio, 2 * (tokens + 21) * RowWork(config.decoder, 3));
  Print("decode", end - prefilled, audio, 0);
  std::printf("%-12s %8.1f ms an id\n", "", (end - prefilled) / (kIdsASecond * audio) * 1e3);
  std::printf("%-12s %8.2f times real time\n", "whole", audio / (end - start));
}

// Runs a pass to its end. Returns seconds.
double RunPass(const Loaded& loaded, RecognitionStream* stream) {
  RecognitionWork work(*loaded.model);
  const double start = Now();
  while (work.Encode(&stream, 1, 1) || work.Prefill(&stream, 1, 128)) {
    while (work.Advance()) continue;
  }
  while (stream->turn() == RecognitionStream::Turn::kDecode) loaded.model->Decode(&stream, 1);
  return Now() - start;
}

Pass PassOf(size_t ids, std::vector<int32_t> draft) {
  Pass pass;
  pass.last = LastFrame::kFilled;
  pass.tail.assign(12, 198);
  pass.max_new_tokens = ids;
  pass.draft = std::move(draft);
  return pass;
}

// The final pass of one turn. `right`: its draft is what comes out.
double FinalPass(const Loaded& loaded, const std::vector<float>& sound, bool right) {
  constexpr size_t kTurn = 4 * kRate, kPause = kRate / 5, kLast = kRate / 2;
  constexpr size_t kIds = 4 * static_cast<size_t>(kIdsASecond);
  std::vector<int32_t> text;
  if (right) {
    RecognitionStream whole(*loaded.model, std::vector<int32_t>(9, 198), Format::kBf16);
    whole.Push(sound.data(), kTurn + kPause);
    whole.BeginPass(PassOf(kIds, {}));
    RunPass(loaded, &whole);
    text = whole.generated();
  }
  RecognitionStream stream(*loaded.model, std::vector<int32_t>(9, 198), Format::kBf16);
  stream.Push(sound.data(), kTurn - kLast);
  stream.BeginPass(PassOf(kIds, {}));
  RunPass(loaded, &stream);
  if (!right) text = stream.generated();
  stream.Push(sound.data() + kTurn - kLast, kLast + kPause);
  const double start = Now();
  // One id follows the draft: the end.
  stream.BeginPass(PassOf(right ? kIds + 1 : kIds, text));
  RunPass(loaded, &stream);
  if (right && stream.draft_taken() != kIds) throw std::runtime_error("the right draft did not hold");
  return Now() - start;
}

void RunTurns(const Loaded& loaded, size_t turns) {
  constexpr double kPauseMs = 200;
  const std::vector<float> sound = Sound(5);
  std::printf("%-22s %8s %8s %8s   ms after the last sample of speech\n", "draft", "p50", "p95", "worst");
  for (const bool right : {true, false}) {
    std::vector<double> times;
    for (size_t n = 0; n < turns; n++) times.push_back(kPauseMs + FinalPass(loaded, sound, right) * 1e3);
    std::sort(times.begin(), times.end());
    std::printf("%-22s %8.0f %8.0f %8.0f\n", right ? "all of it holds" : "none of it holds", times[turns / 2],
                times[turns * 95 / 100], times.back());
  }
}

}  // namespace
}  // namespace parley::bench

int main(int count, char** words) {
  using namespace parley::bench;
  if (count < 2) {
    std::fputs("recognition_bench <directory> [seconds] [bf16 | int8] [threads] [turns]\n", stderr);
    return 1;
  }
  try {
    const double seconds = count > 2 ? std::atof(words[2]) : 30;
    const bool int8 = count > 3 && std::string(words[3]) == "int8";
    const auto threads = static_cast<unsigned>(count > 4 ? std::atoi(words[4]) : 2);
    const Loaded loaded(words[1], int8 ? std::optional(parley::Format::kInt8) : std::nullopt, threads);
    std::printf("%s, decoder %s: loaded in %.1f s, weights %.2f GB\n", loaded.kernels->Name(),
                int8 ? "int8" : "as the file", loaded.seconds,
                static_cast<double>(loaded.model->WeightBytes()) / 1e9);
    if (count > 5) RunTurns(loaded, static_cast<size_t>(std::max(1, std::atoi(words[5]))));
    else
      for (int n = 0; n < 2; n++) Run(loaded, seconds);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "recognition_bench: %s\n", problem.what());
    return 1;
  }
}
