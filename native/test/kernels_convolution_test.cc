// Convolutions against their definitions, and in pieces against the whole.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "test/check.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

constexpr size_t kTime = 37;

double Worst(const std::vector<float>& seen, const std::vector<double>& wanted) {
  if (seen.size() != wanted.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < seen.size(); i++) {
    const double off = std::fabs(seen[i] - wanted[i]);
    worst = off <= worst ? worst : off;  // NaN is the worst
  }
  return worst;
}

// Runs `convolve(x with room, count, y)` over the signal, `piece` inputs at a time.
template <class Convolve>
std::vector<float> InPieces(const std::vector<float>& x, size_t channels, size_t history, size_t out,
                            size_t piece, const Convolve& convolve) {
  std::vector<float> y(x.size() / channels * out, NAN);
  const size_t time = x.size() / channels;
  for (size_t at = 0; at < time; at += piece) {
    const size_t count = std::min(piece, time - at);
    std::vector<float> room((history + count) * channels, NAN);
    const auto from = x.begin() + static_cast<std::ptrdiff_t>(at * channels);
    std::copy(from, from + static_cast<std::ptrdiff_t>(count * channels),
              room.begin() + static_cast<std::ptrdiff_t>(history * channels));
    convolve(room.data() + history * channels, count, y.data() + at * out);
  }
  return y;
}

struct Shape {
  size_t in, out, taps, dilation;
};

// w: [out, in, taps], correlation, zeros before the start.
std::vector<double> ExactCausal(const Shape& s, const std::vector<float>& w, const float* bias,
                                const std::vector<float>& x) {
  std::vector<double> y(kTime * s.out);
  for (size_t t = 0; t < kTime; t++) {
    for (size_t o = 0; o < s.out; o++) {
      double sum = bias[o];
      for (size_t j = 0; j < s.taps; j++) {
        const size_t back = (s.taps - 1 - j) * s.dilation;
        if (back > t) continue;
        for (size_t i = 0; i < s.in; i++) sum += w[(o * s.in + i) * s.taps + j] * x[(t - back) * s.in + i];
      }
      y[t * s.out + o] = sum;
    }
  }
  return y;
}

void ACausalConvolutionIsItsDefinitionHoweverItIsFed() {
  for (const Shape& s : {Shape{16, 24, 7, 1},
                         {20, 6, 7, 3},
                         {33, 5, 7, 9},
                         {1, 4, 7, 1},
                         {8, 1, 7, 1},
                         {12, 12, 1, 1},
                         {5, 7, 3, 2}}) {
    const auto w = RandomFloats(s.out * s.in * s.taps, 1), bias = RandomFloats(s.out, 2);
    const auto x = RandomFloats(kTime * s.in, 3);
    const auto packed = PackConvolution(w.data(), s.out, s.in, s.taps);
    Convolution convolution{{Format::kF32, packed.data(), nullptr, s.out, s.taps * s.in},
                            bias.data(),
                            s.in,
                            s.taps,
                            s.dilation,
                            1};
    std::vector<float> first;
    for (const cpu::Variant* variant : Variants()) {
      const auto kernels = MakeKernels(*variant, 2);
      for (const size_t piece : {kTime, size_t{1}, size_t{2}, size_t{5}}) {
        std::vector<float> tail(convolution.History() * s.in);
        const auto y =
            InPieces(x, s.in, convolution.History(), s.out, piece, [&](float* room, size_t count, float* to) {
              const Stretch stretch{room, count, tail.data()};
              kernels->ConvolveCausal(convolution, &stretch, 1, to);
            });
        if (first.empty()) first = y;
        CHECK(SameBits(y, first));
      }
    }
    CHECK(Worst(first, ExactCausal(s, w, bias.data(), x)) < 5e-6);
  }
}

// w: [in, out, kernel]; the full output without its last kernel - stride samples.
std::vector<double> ExactTransposed(size_t in, size_t out, size_t kernel, size_t stride,
                                    const std::vector<float>& w, const float* bias,
                                    const std::vector<float>& x) {
  std::vector<double> full(((kTime - 1) * stride + kernel) * out);
  for (size_t t = 0; t < kTime; t++) {
    for (size_t k = 0; k < kernel; k++) {
      for (size_t o = 0; o < out; o++) {
        for (size_t i = 0; i < in; i++)
          full[(t * stride + k) * out + o] += w[(i * out + o) * kernel + k] * x[t * in + i];
      }
    }
  }
  full.resize(kTime * stride * out);
  for (size_t i = 0; i < full.size(); i++) full[i] += bias[i % out];
  return full;
}

void ATransposedConvolutionIsACausalOneOfMoreRows() {
  struct Upsampling {
    size_t in, out, kernel, stride;
  };
  for (const Upsampling& u : {Upsampling{10, 6, 16, 8}, {18, 9, 10, 5}, {4, 4, 2, 2}, {3, 2, 12, 4}}) {
    const auto w = RandomFloats(u.in * u.out * u.kernel, 1), bias = RandomFloats(u.out, 2);
    const auto x = RandomFloats(kTime * u.in, 3);
    const size_t taps = u.kernel / u.stride, rows = u.stride * u.out;
    const auto packed = PackTransposed(w.data(), u.in, u.out, u.kernel, u.stride);
    const auto repeated = RepeatBias(bias.data(), u.out, u.stride);
    Convolution convolution{
        {Format::kF32, packed.data(), nullptr, rows, taps * u.in}, repeated.data(), u.in, taps, 1, 1};
    const auto kernels = MakeKernels(*Variants().back());
    std::vector<float> first;
    for (const size_t piece : {kTime, size_t{1}, size_t{3}}) {
      std::vector<float> tail(convolution.History() * u.in);
      const auto y =
          InPieces(x, u.in, convolution.History(), rows, piece, [&](float* room, size_t count, float* to) {
            const Stretch stretch{room, count, tail.data()};
            kernels->ConvolveCausal(convolution, &stretch, 1, to);
          });
      if (first.empty()) first = y;
      CHECK(SameBits(y, first));
    }
    CHECK(Worst(first, ExactTransposed(u.in, u.out, u.kernel, u.stride, w, bias.data(), x)) < 3e-6);
  }
}

void ADepthwiseConvolutionKeepsChannelsApart() {
  for (const size_t channels : {1, 8, 19, 48}) {
    const size_t taps = 7;
    const auto w = RandomFloats(channels * taps, 1), bias = RandomFloats(channels, 2);
    const auto x = RandomFloats(kTime * channels, 3);
    const auto packed = PackDepthwise(w.data(), channels, taps);
    std::vector<double> wanted(kTime * channels);
    for (size_t t = 0; t < kTime; t++) {
      for (size_t c = 0; c < channels; c++) {
        wanted[t * channels + c] = bias[c];
        for (size_t j = 0; j < taps; j++) {
          if (t + j >= taps - 1)
            wanted[t * channels + c] += w[c * taps + j] * x[(t + j - (taps - 1)) * channels + c];
        }
      }
    }
    std::vector<float> first;
    for (const cpu::Variant* variant : Variants()) {
      for (const size_t piece : {kTime, size_t{1}, size_t{4}}) {
        const auto kernels = MakeKernels(*variant, 2);
        std::vector<float> tail((taps - 1) * channels);
        const auto y =
            InPieces(x, channels, taps - 1, channels, piece, [&](float* room, size_t count, float* to) {
              const Stretch stretch{room, count, tail.data()};
              kernels->ConvolveDepthwise(packed.data(), bias.data(), channels, taps, &stretch, 1, to);
            });
        if (first.empty()) first = y;
        CHECK(SameBits(y, first));
      }
    }
    CHECK(Worst(first, wanted) < 2e-6);
  }
}

// Several streams of one convolution, each with its past.
struct Streams {
  size_t channels, history;
  std::vector<std::vector<float>> rooms, tails;
  std::vector<Stretch> stretches;

  Streams(const std::vector<size_t>& counts, size_t channels, size_t history)
      : channels(channels), history(history) {
    for (const size_t count : counts) {
      rooms.push_back(RandomFloats((history + count) * channels, 100 + rooms.size()));
      tails.push_back(RandomFloats(history * channels, 200 + rooms.size()));
      stretches.push_back({rooms.back().data() + history * channels, count, tails.back().data()});
    }
  }
};

template <class Convolve>
void CheckStreamsApart(const std::vector<size_t>& counts, size_t channels, size_t history, size_t out,
                       const Convolve& convolve) {
  Streams together(counts, channels, history), alone(counts, channels, history);
  size_t positions = 0;
  for (const size_t count : counts) positions += count;
  std::vector<float> y(positions * out, NAN), each(positions * out, NAN);
  convolve(together.stretches.data(), counts.size(), y.data());
  float* to = each.data();
  for (size_t s = 0; s < counts.size(); s++) {
    convolve(&alone.stretches[s], size_t{1}, to);
    to += counts[s] * out;
  }
  CHECK(SameBits(y, each));
  CHECK(together.tails == alone.tails);
}

void StreamsThatAreConvolvedTogetherStayApart() {
  const size_t in = 20, out = 24, taps = 7;
  const auto w = RandomFloats(out * in * taps, 1), bias = RandomFloats(out, 2);
  const auto packed = PackConvolution(w.data(), out, in, taps);
  const auto deep = RandomFloats(taps * in, 3);
  for (const cpu::Variant* variant : Variants()) {
    const auto kernels = MakeKernels(*variant, 2);
    for (const auto& counts : {std::vector<size_t>{4, 4}, {1, 3, 2, 9, 1}, {40, 2, 25}, {0, 5}, {64}}) {
      for (const size_t dilation : {1, 3}) {
        const Convolution convolution{
            {Format::kF32, packed.data(), nullptr, out, taps * in}, bias.data(), in, taps, dilation, 1};
        CheckStreamsApart(counts, in, convolution.History(), out,
                          [&](const Stretch* streams, size_t count, float* y) {
                            kernels->ConvolveCausal(convolution, streams, count, y);
                          });
      }
      CheckStreamsApart(counts, in, taps - 1, in, [&](const Stretch* streams, size_t count, float* y) {
        kernels->ConvolveDepthwise(deep.data(), nullptr, in, taps, streams, count, y);
      });
    }
  }
}

void WindowsStepByTheStride() {
  const size_t in = 9, out = 4, taps = 4, stride = 3, count = 8;
  const auto w = RandomFloats(out * in * taps, 1);
  const auto x = RandomFloats(((count - 1) * stride + taps) * in, 2);
  const auto packed = PackConvolution(w.data(), out, in, taps);
  const Convolution convolution{
      {Format::kF32, packed.data(), nullptr, out, taps * in}, nullptr, in, taps, 1, stride};
  std::vector<float> y(count * out);
  MakeKernels()->Multiply(convolution.weights, WindowsOf(convolution, x.data(), count), {}, y.data());
  std::vector<double> wanted(y.size());
  for (size_t t = 0; t < count; t++) {
    for (size_t o = 0; o < out; o++) {
      for (size_t j = 0; j < taps; j++) {
        for (size_t i = 0; i < in; i++) {
          wanted[t * out + o] += w[(o * in + i) * taps + j] * x[(t * stride + j) * in + i];
        }
      }
    }
  }
  CHECK(Worst(y, wanted) < 1e-6);
}

void SignalsArePaddedInThreeWays() {
  const auto kernels = MakeKernels();
  const std::vector<float> x = {1, 10, 2, 20, 3, 30};
  const auto padded = [&](Padding padding) {
    std::vector<float> y(6 * 2, NAN);
    kernels->Pad(x.data(), 3, 2, 2, 1, padding, y.data());
    return y;
  };
  CHECK((padded(Padding::kZero) == std::vector<float>{0, 0, 0, 0, 1, 10, 2, 20, 3, 30, 0, 0}));
  CHECK((padded(Padding::kReplicate) == std::vector<float>{1, 10, 1, 10, 1, 10, 2, 20, 3, 30, 3, 30}));
  CHECK((padded(Padding::kReflect) == std::vector<float>{3, 30, 2, 20, 1, 10, 2, 20, 3, 30, 2, 20}));
  std::vector<float> y(7 * 2);
  CHECK(RefusalOf([&] { kernels->Pad(x.data(), 3, 2, 3, 1, Padding::kReflect, y.data()); }) != "");
}

// w: [out, in, 3, 3] over frames and bands.
std::vector<double> ExactPlane(size_t frames, size_t bands, size_t in, size_t out,
                               const std::vector<float>& w, const std::vector<float>& x) {
  std::vector<double> y;
  for (size_t t = 0; t < frames; t += 2) {
    for (size_t b = 0; b < bands; b += 2) {
      for (size_t o = 0; o < out; o++) {
        double sum = 0;
        for (size_t tap = 0; tap < 9; tap++) {
          const size_t frame = t + tap / 3, band = b + tap % 3;  // plus one, of the border
          if (frame == 0 || band == 0 || frame > frames || band > bands) continue;
          for (size_t i = 0; i < in; i++)
            sum += w[(o * in + i) * 9 + tap] * x[((frame - 1) * bands + band - 1) * in + i];
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

void AConvolutionOverAPlaneIsAProductOfItsWindows() {
  using Plane = Kernels;
  struct Size {
    size_t frames, bands, in, out;
  };
  for (const Size& s : {Size{100, 128, 1, 5}, {50, 64, 20, 20}, {7, 5, 3, 2}, {1, 1, 4, 3}, {2, 9, 16, 1}}) {
    const auto w = RandomFloats(s.out * s.in * 9, 1), x = RandomFloats(s.frames * s.bands * s.in, 2);
    const size_t columns = Plane::PlaneColumns(s.in), rows = Plane::HalfOf(s.frames) * Plane::HalfOf(s.bands);
    CHECK(columns % 32 == 0 && columns >= 9 * s.in);
    std::vector<float> laid(s.out * columns, 1e9f);  // of what stands beside zeros
    for (size_t o = 0; o < s.out; o++) {
      for (size_t i = 0; i < s.in; i++) {
        for (size_t tap = 0; tap < 9; tap++) laid[o * columns + tap * s.in + i] = w[(o * s.in + i) * 9 + tap];
      }
    }
    std::vector<float> first;
    for (const cpu::Variant* variant : Variants()) {
      for (const unsigned threads : {1u, 3u}) {
        const auto kernels = MakeKernels(*variant, threads);
        std::vector<float> windows(rows * columns, NAN), y(rows * s.out, NAN);
        kernels->GatherPlanes(x.data(), {1, s.frames, s.bands, s.in}, windows.data());
        kernels->Multiply({Format::kF32, laid.data(), nullptr, s.out, columns},
                          Rows(windows.data(), rows, columns), {}, y.data());
        if (first.empty()) first = y;
        CHECK(SameBits(y, first));
      }
    }
    CHECK(Worst(first, ExactPlane(s.frames, s.bands, s.in, s.out, w, x)) < 5e-6);
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(kernels_convolution) {
  using namespace parley::test;
  return Run({
      {"a causal convolution is its definition however it is fed",
       ACausalConvolutionIsItsDefinitionHoweverItIsFed},
      {"a transposed convolution is a causal one of more rows", ATransposedConvolutionIsACausalOneOfMoreRows},
      {"a depthwise convolution keeps channels apart", ADepthwiseConvolutionKeepsChannelsApart},
      {"streams that are convolved together stay apart", StreamsThatAreConvolvedTogetherStayApart},
      {"windows step by the stride", WindowsStepByTheStride},
      {"signals are padded in three ways", SignalsArePaddedInThreeWays},
      {"a convolution over a plane is a product of its windows",
       AConvolutionOverAPlaneIsAProductOfItsWindows},
  });
}
