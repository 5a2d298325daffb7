// Measures recognition on a checkpoint of full size, by stage, beside the arithmetic that the stage has and
// the reading of memory.
//
//   recognition_bench <directory> [seconds of sound] [decoder: bf16 | int8] [threads] [turns]
//
// With a number of turns it measures the final pass of a live turn instead: the caller has spoken four
// seconds, a pass over the first 3.5 was done while he spoke, and 200 ms of silence follow. That pass's text
// is the draft of the last one. All of it holds, or all but its last two ids, or none of it. The first and
// the last tenth of the turns tell whether the cost stays the same.
//
// The checkpoint may be of random weights (native/tools/write_checkpoint --type asr): its text never ends, so
// four ids are made for each second of sound, as speech has them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/arithmetic.h"
#include "bench/reading.h"
#include "bench/sound.h"
#include "kernels/cpu/cpu_kernels.h"
#include "model/recognition/recognition_work.h"

namespace parley::bench {
namespace {

using namespace model;

constexpr size_t kRate = kSoundRate;
constexpr double kIdsASecond = 4;

struct Loaded {
  std::unique_ptr<const RecognitionCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<RecognitionModel> model;
  cpu::ThreadPoolOptions options;
  bool is_int8;
  double seconds = 0;

  Loaded(const std::string& directory, bool int8, unsigned threads) : is_int8(int8) {
    options.threads = threads;
    options.nice = 0;
    const auto format = int8 ? std::optional(Format::kInt8) : std::nullopt;
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

// The machine reaches these figures at best in this run.
struct Limits {
  double operations;  // GFLOP/s
  double reading;     // GB/s

  explicit Limits(const cpu::ThreadPoolOptions& options) {
    cpu::ThreadPool pool(options);
    Reading memory(options);
    std::vector<double> rates, turns;
    for (int n = 0; n < 60; n++) {
      rates.push_back(pool.Threads() / SecondsPerGiga(&pool));
      turns.push_back(memory.Turn());
    }
    operations = Percentile90(rates);
    reading = Percentile90(turns);
  }
};

void Print(const char* stage, double seconds, double audio) {
  std::printf("| %s | %.1f | ", stage, seconds / audio * 1e3);
}

void PrintArithmetic(const char* stage, double seconds, double audio, double operations,
                     const Limits& limits) {
  Print(stage, seconds, audio);
  const double rate = operations / seconds / 1e9;
  std::printf("%.0f of %.0f GFLOP/s |\n", rate, limits.operations);
}

// Bytes of weights that an id reads: the layers and the output head.
double BytesOfId(const Loaded& loaded) {
  const RecognitionConfig& config = loaded.checkpoint->config();
  return RowWork(config.decoder, 3) * (loaded.is_int8 ? 1 : 2) +
         2.0 * static_cast<double>(config.head_rows * config.decoder.hidden);
}

// Seconds of the stages of one sound.
struct Stages {
  double features, encoder, prefill, decode;
  size_t audio_tokens;
};

Stages Recognise(const Loaded& loaded, const std::vector<float>& sound, size_t ids) {
  Pass pass;
  pass.tail.assign(12, 198);
  pass.max_new_tokens = ids;
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
  return {heard - start, encoded - heard, prefilled - encoded, Now() - prefilled, stream.audio_tokens()};
}

// Seconds that the convolutions take for a second of sound.
double ConvolveSecond(const Loaded& loaded) {
  AudioConvolutions& convolutions = loaded.model->encoder().convolutions();
  const auto bands = static_cast<size_t>(loaded.checkpoint->config().encoder.mel_bands);
  const std::vector<float> features(kChunkFrames * bands, 0.3f);
  std::vector<float> rows(kChunkTokens * convolutions.width());
  const AudioConvolutions::Chunk chunk{features.data(), kChunkFrames, true, rows.data()};
  const double start = Now();
  for (int n = 0; n < 4; n++) convolutions.Run(&chunk, 1);
  return (Now() - start) / 4;
}

void Run(const Loaded& loaded, double audio) {
  const RecognitionConfig& config = loaded.checkpoint->config();
  const std::vector<float> sound = Sound(audio);
  const auto ids = static_cast<size_t>(kIdsASecond * audio);
  Recognise(loaded, sound, ids);  // touches all memory
  const Stages took = Recognise(loaded, sound, ids);
  const double convolving = ConvolveSecond(loaded) * audio;
  const Limits limits(loaded.options);
  const auto tokens = static_cast<double>(took.audio_tokens);
  std::puts("| stage | ms for a second of sound | rate of the machine's |");
  std::puts("|---|---|---|");
  PrintArithmetic("features", took.features, audio, 0.02e9 * audio, limits);
  PrintArithmetic("convolutions", convolving, audio, 4.39e9 * audio, limits);
  PrintArithmetic("encoder", took.encoder - convolving, audio,
                  2 * tokens * RowWork(config.encoder.transformer, 2), limits);
  PrintArithmetic("prefill", took.prefill, audio, 2 * (tokens + 21) * RowWork(config.decoder, 3), limits);
  Print("decode", took.decode, audio);
  const double id = took.decode / (kIdsASecond * audio);
  std::printf("%.1f of %.1f GB/s, %.1f ms an id |\n", BytesOfId(loaded) / id / 1e9, limits.reading, id * 1e3);
  const double whole = took.features + took.encoder + took.prefill + took.decode;
  std::printf("| whole | %.1f | %.2f x real time |\n", whole / audio * 1e3, audio / whole);
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

constexpr size_t kTurn = 4 * kRate, kPause = kRate / 5, kLast = kRate / 2;
constexpr size_t kIds = 4 * static_cast<size_t>(kIdsASecond);

// The text of a turn and its pause.
std::vector<int32_t> TextOf(const Loaded& loaded, const std::vector<float>& sound) {
  RecognitionStream whole(*loaded.model, std::vector<int32_t>(9, 198), Format::kBf16);
  whole.Push(sound.data(), kTurn + kPause);
  whole.BeginPass(PassOf(kIds, {}));
  RunPass(loaded, &whole);
  return whole.generated();
}

// Seconds of the final pass of a turn.
double FinalPass(const Loaded& loaded, const std::vector<float>& sound, const std::vector<int32_t>& draft,
                 size_t holds) {
  RecognitionStream stream(*loaded.model, std::vector<int32_t>(9, 198), Format::kBf16);
  stream.Push(sound.data(), kTurn - kLast);
  stream.BeginPass(PassOf(kIds, {}));
  RunPass(loaded, &stream);
  stream.Push(sound.data() + kTurn - kLast, kLast + kPause);
  const double start = Now();
  // One id follows the text: the end.
  stream.BeginPass(PassOf(kIds + 1, draft));
  RunPass(loaded, &stream);
  if (stream.draft_taken() != holds) throw std::runtime_error("another part of the draft held");
  return Now() - start;
}

double Percentile(std::vector<double> values, size_t percent) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, values.size() * percent / 100)];
}

void RunTurns(const Loaded& loaded, size_t turns) {
  constexpr double kPauseMs = 200;
  const std::vector<float> sound = Sound(5);
  const std::vector<int32_t> text = TextOf(loaded, sound);
  std::puts("| draft | p50 | p95 | worst | p50 of the first tenth | of the last tenth |");
  std::puts("|---|---|---|---|---|---|");
  for (const size_t wrong : {size_t{0}, size_t{2}, kIds}) {
    std::vector<int32_t> draft = text;
    for (size_t n = kIds - wrong; n < kIds; n++) draft[n] = text[n] == 198 ? 199 : 198;
    std::vector<double> times;
    for (size_t n = 0; n < turns; n++)
      times.push_back(kPauseMs + FinalPass(loaded, sound, draft, kIds - wrong) * 1e3);
    const auto tenth = static_cast<std::ptrdiff_t>((turns + 9) / 10);
    std::printf("| %zu of %zu ids hold | %.0f | %.0f | %.0f | %.0f | %.0f |\n", kIds - wrong, kIds,
                Percentile(times, 50), Percentile(times, 95), Percentile(times, 100),
                Percentile({times.begin(), times.begin() + tenth}, 50),
                Percentile({times.end() - tenth, times.end()}, 50));
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
    const Loaded loaded(words[1], int8, threads);
    std::printf("%s, decoder %s: loaded in %.1f s, weights %.2f GB\n\n", loaded.kernels->Name(),
                int8 ? "int8" : "as the file", loaded.seconds,
                static_cast<double>(loaded.model->WeightBytes()) / 1e9);
    if (count > 5) RunTurns(loaded, static_cast<size_t>(std::max(1, std::atoi(words[5]))));
    else Run(loaded, seconds);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "recognition_bench: %s\n", problem.what());
    return 1;
  }
}
