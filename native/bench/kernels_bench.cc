// How near a matrix times a few vectors comes to reading the matrix at all, for
// the shapes of the published talker and code predictor.
//
//   kernels_bench [seconds a row]     prints one table; KERNELS=avx2 forces a variant
//
// Weights are far larger than the caches, walked through like the layers of a model. Each
// row carries its own reading ceiling, measured in turns with it, since other programs share
// the machine; for the same reason a turn is shorter than a time slice, and the figure is
// the 90th percentile over turns.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"

namespace parley {
namespace {

constexpr size_t kWeightBytes = size_t{192} << 20;  // six times a cache of 32 MB
constexpr size_t kTurnBytes = size_t{8} << 20;      // about a millisecond
constexpr size_t kMostVectors = 8;

struct Shape {
  const char* what;
  size_t rows, columns;
};

// 0.6B: hidden 1024, 16 + 2 * 8 heads of 128, feed-forward 3072; the predictor's layers are the same.
constexpr Shape kShapes[] = {
    {"0.6B + predictor qkv", 4096, 1024},     {"0.6B + predictor o", 1024, 2048},
    {"0.6B + predictor gate, up", 6144, 1024}, {"0.6B + predictor down", 1024, 3072},
    {"0.6B codec head", 3072, 1024},           {"predictor head", 2048, 1024},
    {"1.7B gate, up", 12288, 2048},            {"1.7B down", 2048, 6144},
};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Percentile90(std::vector<double> values) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(values.size() * 9 / 10);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

// The plainest reading: eight sums of whole words.
uint64_t ReadAll(const char* from, size_t bytes) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 64 <= bytes; i += 64) {
    uint64_t words[8];
    std::memcpy(words, from + i, sizeof words);
    for (size_t k = 0; k < 8; k++) sums[k] ^= words[k];
  }
  uint64_t all = 0;
  for (const uint64_t sum : sums) all ^= sum;
  return all;
}

class Bench {
 public:
  explicit Bench(double seconds)
      : seconds_(seconds),
        weights_(kWeightBytes),
        scales_(1 << 14, 0.01f),
        x_(kMostVectors * 8192, 0.5f),
        y_(kMostVectors * (1 << 14)) {
    // Small values of every format: 1 as bf16 twice, which is harmless as bytes.
    for (size_t i = 0; i < weights_.size(); i++) weights_[i] = i % 2 == 0 ? '\x80' : '\x3f';
  }

  void Run() {
    std::printf("| matrix | format | vectors | threads | GB/s | reading GB/s | ratio |\n");
    std::printf("| --- | --- | --- | --- | --- | --- | --- |\n");
    for (const unsigned threads : {1u, 2u}) {
      for (const Format format : {Format::kBf16, Format::kInt8}) {
        for (const Shape& shape : kShapes) {
          for (const size_t vectors : {1, 2, 4, 8}) Row(shape, format, vectors, threads);
        }
      }
    }
  }

 private:
  void Row(const Shape& shape, Format format, size_t vectors, unsigned threads) {
    cpu::ThreadPoolOptions options;
    options.threads = threads;
    options.nice = 0;  // a figure, not a server
    cpu::CpuKernels kernels(options);
    cpu::ThreadPool readers(options);
    std::vector<double> products, readings;
    size_t at = 0;
    for (const double end = Now() + seconds_; Now() < end || products.size() < 10;) {
      products.push_back(Product(&kernels, shape, format, vectors, &at));
      readings.push_back(Reading(&readers));
    }
    const double product = Percentile90(products), reading = Percentile90(readings);
    std::printf("| %s %zux%zu | %s | %zu | %u | %.1f | %.1f | %.2f |\n", shape.what, shape.rows, shape.columns,
                format == Format::kBf16 ? "bf16" : "int8", vectors, threads, product, reading, product / reading);
    std::fflush(stdout);
  }

  // GB/s of one walk through about 8 MB of different matrices.
  double Product(cpu::CpuKernels* kernels, const Shape& shape, Format format, size_t vectors, size_t* at) {
    Matrix w{format, nullptr, format == Format::kInt8 ? scales_.data() : nullptr, shape.rows, shape.columns};
    size_t bytes = 0;
    const double start = Now();
    while (bytes < kTurnBytes) {
      if (*at + w.Bytes() > weights_.size()) *at = 0;
      w.values = weights_.data() + *at;
      kernels->Multiply(w, Rows(x_.data(), vectors, shape.columns), {}, y_.data());
      *at += w.Bytes();
      bytes += w.Bytes();
    }
    return static_cast<double>(bytes) / (Now() - start) / 1e9;
  }

  double Reading(cpu::ThreadPool* pool) {
    const size_t bytes = kTurnBytes;
    place_ = (place_ + bytes) % kWeightBytes;
    uint64_t seen[2] = {};
    const double start = Now();
    pool->Run([&](unsigned part) {
      const auto share = cpu::ShareOf(bytes, 4096, part, pool->Threads());
      seen[part] = ReadAll(weights_.data() + place_ + share.first, share.second - share.first);
    });
    const double elapsed = Now() - start;
    sink_ = sink_ ^ seen[0] ^ seen[1];
    return static_cast<double>(bytes) / elapsed / 1e9;
  }

  double seconds_;
  std::vector<char> weights_;
  std::vector<float> scales_, x_, y_;
  size_t place_ = 0;
  volatile uint64_t sink_ = 0;
};

}  // namespace
}  // namespace parley

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 0.5;
  std::printf("%s; 90th percentile of the turns of %.1f s\n\n", parley::cpu::ChooseVariant().name, seconds);
  parley::Bench(seconds).Run();
  return 0;
}
