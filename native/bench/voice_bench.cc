// Measures a new voice: a recording through the speaker encoder and the codec encoder, by stage.
//
//   voice_bench <directory of a Base checkpoint> [seconds of the recording] [threads]
//
// A stage is what lies between two taps. A piece is what a stream that speaks meanwhile waits for. The
// processor's time, of all threads, is the figure to compare: other programs share the machine.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "model/shared/preparation.h"
#include "model/speech/codec_encoder.h"
#include "model/speech/speaker_encoder.h"
#include "model/speech/voice_encoder.h"

namespace parley {
namespace {

using namespace model;

double Now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Processor time of all threads: the cost where other programs share the machine.
double Spent() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

std::vector<float> Sound(uint32_t rate, double seconds) {
  std::vector<float> samples(static_cast<size_t>(rate * seconds));
  for (size_t n = 0; n < samples.size(); n++) {
    const double at = static_cast<double>(n) / rate;
    samples[n] = static_cast<float>(0.4 * std::sin(1400 * at) * (1 + std::sin(20 * at)) / 2);
  }
  return samples;
}

// Milliseconds: on the clock, and of the processor.
struct Cost {
  double clock = 0, processor = 0;

  static Cost Now() { return {parley::Now(), Spent()}; }
  Cost Since(const Cost& start) const { return {clock - start.clock, processor - start.processor}; }
  void Add(const Cost& more) {
    clock += more.clock;
    processor += more.processor;
  }
  void Print(const std::string& what, double seconds) const {
    std::printf("| %s | %.1f | %.1f | %.2f |\n", what.c_str(), clock, processor, processor / seconds);
  }
};

// Times of the stages, in the order of their first end.
class Stages {
 public:
  Tap ToTap() {
    return [this](const std::string& stage, const float*, size_t, size_t) { End(stage); };
  }
  void Start() { last_ = Cost::Now(); }
  void End(const std::string& stage) {
    const Cost cost = Cost::Now().Since(last_);
    const auto named = [&](const auto& one) { return one.first == stage; };
    const auto found = std::find_if(stages_.begin(), stages_.end(), named);
    if (found == stages_.end()) stages_.emplace_back(stage, cost);
    else found->second.Add(cost);
    Start();
  }
  void Print(const std::string& part, double seconds) const {
    for (const auto& [stage, cost] : stages_) cost.Print(part + " " + stage, seconds);
  }

 private:
  Cost last_;
  std::vector<std::pair<std::string, Cost>> stages_;
};

// Advances to the end. Prints all of it, how many pieces that were, and the dearest of them. `ended` sees the
// end of each.
template <class Run, class Ended>
void Measure(const std::string& part, Run& run, double seconds, const Ended& ended) {
  Cost longest;
  size_t pieces = 0;
  const Cost start = Cost::Now();
  for (Cost begin = start; run.Advance(); begin = Cost::Now()) {
    ended();
    pieces++;
    const Cost piece = Cost::Now().Since(begin);
    if (piece.processor > longest.processor) longest = piece;
  }
  Cost::Now().Since(start).Print("**" + part + ", all**", seconds);
  longest.Print(part + ", the dearest of " + std::to_string(pieces) + " pieces", seconds);
}

void MeasurePreparation(uint32_t from, uint32_t to, const SpeakerEncoder& encoder, double seconds) {
  const std::vector<float> recording = Sound(from, seconds);
  Preparation preparation(VoiceEncoder::Rules(to, encoder.min_samples()), recording, from);
  Measure("from " + std::to_string(from) + " Hz", preparation, seconds, [] {});
}

void MeasureSpeaker(SpeakerEncoder& encoder, const std::vector<float>& samples, double seconds) {
  Stages stages;
  encoder.SetTap(stages.ToTap());
  SpeakerEncoder::Run run(encoder, samples);
  stages.Start();  // whose ends are not those of pieces
  Measure("speaker", run, seconds, [] {});
  stages.Print("speaker", seconds);
}

void MeasureCodec(CodecEncoder& encoder, const std::vector<float>& samples, double seconds) {
  Stages stages;
  encoder.SetTap(stages.ToTap());
  CodecEncoder::Run run(encoder, samples);
  stages.Start();
  Measure("codec", run, seconds, [&] { stages.End("codebooks"); });
  stages.Print("codec", seconds);
}

// Both encoders of one checkpoint.
struct Encoders {
  Encoders(SpeechKernels& kernels, const SpeechCheckpoint& checkpoint)
      : weights(kernels), speaker(kernels, weights, checkpoint), codec(kernels, weights, checkpoint) {}

  size_t WorkBytes(size_t samples) const {
    return std::max(speaker.WorkBytes(samples), codec.WorkBytes(samples));
  }

  Weights weights;
  SpeakerEncoder speaker;
  CodecEncoder codec;
};

// A second of sound, so that the weights are read from disk before anything is measured.
void WarmUp(Encoders* encoders) {
  const std::vector<float> samples = Sound(static_cast<uint32_t>(encoders->codec.sample_rate()), 1);
  SpeakerEncoder::Run speaker(encoders->speaker, samples);
  while (speaker.Advance()) continue;
  CodecEncoder::Run codec(encoders->codec, samples);
  while (codec.Advance()) continue;
}

void MeasureAll(Encoders* encoders, double seconds) {
  const auto rate = static_cast<uint32_t>(encoders->codec.sample_rate());
  std::printf("| stage | ms | of the processor | per second |\n| --- | --- | --- | --- |\n");
  MeasurePreparation(44'101, rate, encoders->speaker, seconds);  // no common divisor: the dearest
  MeasurePreparation(48'000, rate, encoders->speaker, seconds);
  const std::vector<float> samples = Sound(rate, seconds);
  MeasureSpeaker(encoders->speaker, samples, seconds);
  MeasureCodec(encoders->codec, samples, seconds);
  constexpr double kMegabyte = 1e6;
  const size_t most = VoiceEncoder::kMaxSeconds * rate;
  std::printf("\nWeights: %.0f MB beside the checkpoint, %.0f MB of it.\n",
              encoders->weights.OwnBytes() / kMegabyte, encoders->weights.MappedBytes() / kMegabyte);
  std::printf("Work: %.1f MB for this recording, %.1f MB for %zu s.\n",
              encoders->WorkBytes(samples.size()) / kMegabyte, encoders->WorkBytes(most) / kMegabyte,
              VoiceEncoder::kMaxSeconds);
}

int Bench(const std::string& directory, double seconds, unsigned threads) {
  std::string problem;
  const auto checkpoint = SpeechCheckpoint::Open(directory, PieceRule::kNative, &problem);
  if (checkpoint != nullptr && checkpoint->config().type != ModelType::kBase) {
    problem = directory + " is no Base checkpoint";
  }
  if (!problem.empty()) return std::fprintf(stderr, "%s\n", problem.c_str()), 1;
  cpu::ThreadPoolOptions options;
  options.threads = threads;
  options.nice = 0;  // a figure, not a server
  cpu::CpuKernels kernels(options);
  const double load = Now();
  Encoders encoders(kernels, *checkpoint);
  std::printf("%s; a recording of %.1f s; loaded in %.0f ms\n\n", kernels.Name(), seconds, Now() - load);
  WarmUp(&encoders);
  MeasureAll(&encoders, seconds);
  return 0;
}

}  // namespace
}  // namespace parley

int main(int count, char** arguments) {
  const double seconds = count > 2 ? std::atof(arguments[2]) : 10;
  const int threads = count > 3 ? std::atoi(arguments[3]) : 2;
  if (count < 2 || !(seconds >= 0.1 && seconds <= 60) || threads < 1 || threads > 64) {
    std::fprintf(stderr,
                 "usage: voice_bench <directory of a Base checkpoint> [seconds, 0.1 to 60] [threads]\n");
    return 2;
  }
  return parley::Bench(arguments[1], seconds, static_cast<unsigned>(threads));
}
