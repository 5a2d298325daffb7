// Compares a matrix times a few vectors with merely reading the matrix, for
// the shapes of the published talker and code predictor.
//
//   kernels_bench [seconds a row] [threads]   prints one table; KERNELS=avx2 forces a variant
//
// Weights are far larger than the caches, walked through like the layers of a model. Each
// row carries its own reading ceiling, measured in turns with it, since other programs share
// the machine; for the same reason a turn is shorter than a time slice, and the figure is
// the 90th percentile over turns.
#include <cstdio>
#include <cstdlib>

#include "bench/reading.h"
#include "kernels/cpu/cpu_kernels.h"

namespace parley::bench {
namespace {

constexpr size_t kCounts[] = {1, 2, 4, 8};
constexpr size_t kMostRows = 1 << 14, kMostColumns = 8192, kMostVectors = 8;

struct Shape {
  const char* what;
  size_t rows, columns;
  bool gated;  // two of them, by MultiplyGated
};

// 0.6B: hidden 1024, 16 + 2 * 8 heads of 128, feed-forward 3072; the predictor's layers are the same.
constexpr Shape kShapes[] = {
    {"0.6B qkv", 4096, 1024, false},        {"0.6B o", 1024, 2048, false},
    {"0.6B gate and up", 3072, 1024, true}, {"0.6B down", 1024, 3072, false},
    {"predictor head", 2048, 1024, false},  {"1.7B gate and up", 6144, 2048, true},
    {"1.7B down", 2048, 6144, false},
};

class Bench {
 public:
  explicit Bench(double seconds)
      : seconds_(seconds),
        weights_(Reading::kMemoryBytes),
        scales_(kMostRows, 0.01f),
        x_(kMostVectors * kMostColumns, 0.5f),
        y_(kMostVectors * kMostRows) {
    // Small values of every format: 1 as bf16 twice, which is harmless as bytes.
    for (size_t i = 0; i < weights_.size(); i++) weights_[i] = i % 2 == 0 ? '\x80' : '\x3f';
  }

  void Run(unsigned from, unsigned to) {
    std::printf("| matrix | format | threads | reading | 1 vector | 2 | 4 | 8 |\n");
    std::printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (unsigned threads = from; threads <= to; threads++) {
      cpu::ThreadPoolOptions options;
      options.threads = threads;
      options.nice = 0;  // a figure, not a server
      Reading reading(options);
      cpu::CpuKernels kernels(options);
      for (const Format format : {Format::kBf16, Format::kInt8}) {
        for (const Shape& shape : kShapes) Row(&kernels, &reading, shape, format, threads);
      }
    }
  }

 private:
  void Row(cpu::CpuKernels* kernels, Reading* reading, const Shape& shape, Format format, unsigned threads) {
    std::vector<double> products[std::size(kCounts)], readings;
    for (const double end = Now() + seconds_; Now() < end || readings.size() < 10;) {
      for (size_t n = 0; n < std::size(kCounts); n++) {
        products[n].push_back(Product(kernels, shape, format, kCounts[n]));
        readings.push_back(reading->Turn());
      }
    }
    const double ceiling = Percentile90(readings);
    std::printf("| %s %zux%zu | %s | %u | %.1f |", shape.what, shape.rows, shape.columns,
                format == Format::kBf16 ? "bf16" : "int8", threads, ceiling);
    for (const auto& turns : products) {
      std::printf(" %.1f (%.0f %%) |", Percentile90(turns), 100 * Percentile90(turns) / ceiling);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  // GB/s of one walk through a turn's bytes of different matrices.
  double Product(cpu::CpuKernels* kernels, const Shape& shape, Format format, size_t vectors) {
    Matrix w{format, nullptr, format == Format::kInt8 ? scales_.data() : nullptr, shape.rows, shape.columns};
    size_t bytes = 0;
    const auto next = [&] {
      if (at_ + w.Bytes() > weights_.size()) at_ = 0;
      w.values = weights_.data() + at_;
      at_ += w.Bytes();
      bytes += w.Bytes();
      return w;
    };
    const Vectors x = Rows(x_.data(), vectors, shape.columns);
    const double start = Now();
    while (bytes < Reading::kTurnBytes) {
      const Matrix first = next();
      shape.gated ? kernels->MultiplyGated(first, next(), x, y_.data())
                  : kernels->Multiply(first, x, {}, y_.data());
    }
    return static_cast<double>(bytes) / (Now() - start) / 1e9;
  }

  double seconds_;
  std::vector<char> weights_;
  std::vector<float> scales_, x_, y_;
  size_t at_ = 0;
};

}  // namespace
}  // namespace parley::bench

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  std::printf(
      "%s; GB/s of weights, and of that which reading brings; 90th percentile of the turns of %.1f s\n\n",
      parley::cpu::ChooseVariant().name, seconds);
  const auto threads = static_cast<unsigned>(count > 2 ? std::atoi(arguments[2]) : 0);
  parley::bench::Bench(seconds).Run(threads ? threads : 1, threads ? threads : 2);
  return 0;
}
