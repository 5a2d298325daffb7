// Measures the codec decoder's time for a frame of 80 ms, at the published sizes (SPEC 2.2).
//
//   codec_bench [seconds a row]     prints one table; KERNELS=avx2 forces a variant
//
// Weights are random, in a checkpoint of half a gigabyte that is written to the temporary folder and
// removed again. Beside each row stands what the same threads reach, in turns with it, in
// multiply-adds that never leave the registers. Other programs share the machine: figures are
// the 10th percentile over the calls of a row, and so is the ceiling; time of the processors, of all
// threads together, tells what a busy machine hides.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "bench/arithmetic.h"
#include "bench/reading.h"
#include "kernels/cpu/cpu_kernels.h"
#include "model/speech/codec_decoder.h"
#include "test/random_codec.h"

namespace parley {
namespace {

using bench::Now;

constexpr double kFrameOperations = 4.96e9;  // SPEC 12
constexpr size_t kGroups = 16;
constexpr size_t kEntries = 128;

const test::CodecSizes kPublished = {1024, 512, 1536, 512, 1024, 8, 16, 16, 64, 72, {2, 2}, {8, 5, 4, 3}};

// Processor time of this process, of all threads together.
double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double Percentile10(std::vector<double> values) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

struct Row {
  Format format;
  unsigned threads;
  size_t frames, batch;
};

void Measure(const model::SpeechCheckpoint& checkpoint, const Row& row, double seconds) {
  cpu::ThreadPoolOptions options;
  options.threads = row.threads;
  options.nice = 0;  // a figure, not a server
  cpu::CpuKernels kernels(options);
  cpu::ThreadPool pool(options);
  model::CodecDecoder decoder(kernels, checkpoint, row.format);
  std::vector<std::unique_ptr<model::CodecState>> states;
  std::vector<model::CodecDecoder::Job> jobs;
  std::vector<int32_t> codes(row.frames * kGroups);
  Random random(7);
  for (int32_t& code : codes) code = static_cast<int32_t>(random.Unit() * kEntries);
  std::vector<float> samples(row.frames * decoder.frame_samples());
  for (size_t s = 0; s < row.batch; s++) {
    states.push_back(decoder.NewState());
    jobs.push_back({states.back().get(), codes.data(), row.frames, samples.data()});
  }
  const size_t frames = row.frames * row.batch;
  for (size_t warm = 0; warm < 2; warm++) decoder.Decode(jobs.data(), jobs.size());
  std::vector<double> taken, processors, ceilings;
  for (const double end = Now() + seconds; Now() < end || taken.size() < 10;) {
    const double start = Now(), processor = ProcessorSeconds();
    decoder.Decode(jobs.data(), jobs.size());
    taken.push_back((Now() - start) / static_cast<double>(frames));
    processors.push_back((ProcessorSeconds() - processor) / static_cast<double>(frames));
    ceilings.push_back(bench::SecondsPerGiga(&pool));
  }
  const double frame = Percentile10(taken), ceiling = row.threads / Percentile10(ceilings);
  const double rate = kFrameOperations / frame / 1e9;
  std::printf("| %s | %u | %zu | %zu | %.1f | %.1f | %.2f | %.0f | %.0f | %.2f |\n",
              row.format == Format::kF32 ? "f32" : "f16", row.threads, row.frames, row.batch, frame * 1e3,
              Percentile10(processors) * 1e3, frame / 0.080, rate, ceiling, rate / ceiling);
  std::fflush(stdout);
}

void Run(double seconds) {
  const test::RandomCodec codec(kPublished);
  const auto checkpoint = codec.Open();
  std::printf(
      "| weights | threads | frames a call | streams | ms a frame | processor ms | of real time | GFLOP/s | registers GFLOP/s | ratio |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Format format : {Format::kF32, Format::kF16}) {
    for (const unsigned threads : {1u, 2u}) {
      for (const auto& [frames, batch] :
           {std::pair<size_t, size_t>{1, 1}, {2, 1}, {4, 1}, {1, 2}, {1, 4}, {4, 4}}) {
        Measure(*checkpoint, {format, threads, frames, batch}, seconds);
      }
    }
  }
}

}  // namespace
}  // namespace parley

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 3;
  std::printf("%s; 10th percentile of the calls of %.1f s\n\n", parley::cpu::ChooseVariant().name, seconds);
  parley::Run(seconds);
  return parley::test::Failures() == 0 ? 0 : 1;
}
