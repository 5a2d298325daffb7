// Norms, waves, activations, positions, tables and statistics against double precision;
// the 16-bit formats; the mel spectrum against a plain Fourier sum.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/log_mel.h"
#include "test/check.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

constexpr double kPi = 3.14159265358979323846;

void SixteenBitsRoundToTheNearest() {
  for (uint32_t bits = 0; bits < 65536; bits++) {
    const float wide = ToFloat(F16{static_cast<uint16_t>(bits)}),
                broad = ToFloat(Bf16{static_cast<uint16_t>(bits)});
    if (wide == wide) CHECK_EQ(ToF16(wide).bits, bits);
    if (broad == broad) CHECK_EQ(ToBf16(broad).bits, bits);
  }
  CHECK_EQ(ToFloat(ToF16(1 + 1.0f / 2048)), 1.0f);  // ties to even
  CHECK_EQ(ToFloat(ToF16(1 + 3.0f / 2048)), 1 + 2.0f / 1024);
  CHECK_EQ(ToF16(65519.0f).bits, 0x7bff);
  CHECK_EQ(ToF16(65520.0f).bits, 0x7c00);
  CHECK_EQ(ToF16(2.98e-8f).bits, 0);
  CHECK_EQ(ToF16(-2.99e-8f).bits, 0x8001);
  CHECK_EQ(ToF16(6.1034e-5f).bits, 0x0400);  // the last subnormal rounds up to the first normal
  CHECK_EQ(ToFloat(ToBf16(1 + 1.0f / 256)), 1.0f);
  CHECK_EQ(ToFloat(ToBf16(1 + 3.0f / 256)), 1 + 2.0f / 128);
  CHECK_EQ(ToBf16(3.4e38f).bits, 0x7f80);
  CHECK(std::isnan(ToFloat(ToBf16(NAN))) && std::isnan(ToFloat(ToF16(NAN))));
}

void SnakeIsRightAndTheSameOnEveryVariant() {
  for (const size_t channels : {1, 8, 21, 96}) {
    const size_t rows = 40;
    auto x = RandomFloats(rows * channels, 1);
    for (float& value : x) value *= 30;
    auto a = RandomFloats(channels, 2), b = RandomFloats(channels, 3);
    for (float& value : a) value = std::exp(3 * value);
    for (float& value : b) value = 1 / (std::exp(value) + 1e-9f);
    std::vector<float> wanted;
    for (const cpu::Variant* variant : Variants()) {
      std::vector<float> y(x.size(), NAN);
      MakeKernels(*variant, 2)->Snake(x.data(), a.data(), b.data(), rows, channels, y.data());
      if (wanted.empty()) wanted = y;
      CHECK(SameBits(y, wanted));
    }
    for (size_t i = 0; i < x.size(); i++) {
      const double wave = std::sin(static_cast<double>(x[i] * a[i % channels]));
      CHECK(std::fabs(wanted[i] - (x[i] + wave * wave * b[i % channels])) < 4e-6);
    }
  }
}

void AWaveOfAnyInputStaysAWave() {
  const float one = 1;
  for (const cpu::Variant* variant : Variants()) {
    std::vector<float> x(16, 1e20f), a(16, one), b(16, one), y(16);
    x[3] = -3e7f;
    x[4] = NAN;
    MakeKernels(*variant)->Snake(x.data(), a.data(), b.data(), 1, 16, y.data());
    CHECK_EQ(y[0], 1e20f);
    CHECK(y[3] >= -3e7f && y[3] <= -3e7f + 2);
    CHECK(std::isnan(y[4]));
  }
}

void NormsAreWhatDoublePrecisionSays() {
  for (const size_t width : {1, 16, 100, 1024}) {
    const size_t rows = 5;
    auto x = RandomFloats(rows * width, 1);
    for (float& value : x) value = value * 3 + 1;
    const auto w = RandomFloats(width, 2), b = RandomFloats(width, 3);
    std::vector<float> first;
    for (const cpu::Variant* variant : Variants()) {
      std::vector<float> y(2 * x.size());
      const auto kernels = MakeKernels(*variant, 2);
      kernels->RmsNorm(x.data(), w.data(), rows, width, 1e-6f, y.data());
      kernels->LayerNorm(x.data(), w.data(), b.data(), rows, width, 1e-3f, y.data() + x.size());
      if (first.empty()) first = y;
      CHECK(SameBits(y, first));
    }
    for (size_t r = 0; r < rows; r++) {
      double sum = 0, squares = 0, variance = 0;
      for (size_t i = 0; i < width; i++) sum += x[r * width + i], squares += std::pow(x[r * width + i], 2);
      const double mean = sum / static_cast<double>(width);
      for (size_t i = 0; i < width; i++)
        variance += std::pow(x[r * width + i] - mean, 2) / static_cast<double>(width);
      for (size_t i = 0; i < width; i++) {
        const double rms = x[r * width + i] * w[i] / std::sqrt(squares / static_cast<double>(width) + 1e-6);
        const double layer = (x[r * width + i] - mean) / std::sqrt(variance + 1e-3) * w[i] + b[i];
        CHECK(std::fabs(first[r * width + i] - rms) < 1e-6 * (1 + std::fabs(rms)));
        CHECK(std::fabs(first[x.size() + r * width + i] - layer) < 2e-6 * (1 + std::fabs(layer)));
      }
    }
  }
}

void ActivationsAreWhatDoublePrecisionSays() {
  const auto exact = [](Activation activation, double x) {
    switch (activation) {
      case Activation::kSilu:
        return x / (1 + std::exp(-x));
      case Activation::kGelu:
        return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
      case Activation::kGeluTanh:
        return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
      case Activation::kElu:
        return x > 0 ? x : std::expm1(x);
      case Activation::kRelu:
        return x > 0 ? x : 0;
      case Activation::kTanh:
        return std::tanh(x);
      case Activation::kSigmoid:
        return 1 / (1 + std::exp(-x));
    }
    return x;
  };
  for (const Activation activation :
       {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kElu, Activation::kRelu,
        Activation::kTanh, Activation::kSigmoid}) {
    std::vector<float> x = RandomFloats(5000, 4);
    for (float& value : x) value *= 20;
    x[0] = -100, x[1] = 100, x[2] = 0, x[3] = NAN;
    std::vector<float> wanted;
    for (const cpu::Variant* variant : Variants()) {
      std::vector<float> y = x;
      MakeKernels(*variant, 2)->Activate(activation, y.data(), y.size());
      CHECK(std::isnan(y[3]));
      y[3] = 0;  // one NaN is as good as another
      if (wanted.empty()) wanted = y;
      CHECK(SameBits(y, wanted));
    }
    for (size_t i = 0; i < x.size(); i++) {
      if (i != 3) CHECK(std::fabs(wanted[i] - exact(activation, x[i])) <= 4e-7 * (1 + std::fabs(wanted[i])));
    }
  }
}

// Little would be left of e^x - 1 where e^x is nearly 1.
void EluIsExactNearZero() {
  const auto kernels = MakeKernels(*Variants().back());
  std::vector<float> x;
  for (float value = -1; value < -1e-30f; value /= 1.7f) x.push_back(value);
  x.push_back(-INFINITY);
  std::vector<float> y = x;
  kernels->Activate(Activation::kElu, y.data(), y.size());
  for (size_t i = 0; i < x.size(); i++) {
    const double exact = std::expm1(static_cast<double>(x[i]));
    CHECK(std::fabs(y[i] - exact) <= 3e-7 * std::fabs(exact));
  }
}

void RotationIsHalfSplitAndKeepsFarAnglesExact() {
  const auto kernels = MakeKernels();
  const std::vector<uint64_t> positions = {0, 3, 10'000'019};
  const size_t dim = 8, heads = 2;
  std::vector<float> angles(3 * dim), x = RandomFloats(3 * heads * dim, 5);
  const std::vector<float> before = x;
  kernels->Angles(positions.data(), 3, dim, 1e4, angles.data());
  kernels->Rotate(x.data(), 3, heads, dim, angles.data());
  for (size_t i = 0; i < x.size(); i++) {
    const size_t row = i / (heads * dim), at = i % dim, j = at % 4;
    const double angle = static_cast<double>(positions[row]) * std::pow(1e4, -static_cast<double>(j) / 4);
    const double low = before[i - at + j], high = before[i - at + j + 4];
    const double wanted = at < 4 ? low * std::cos(angle) - high * std::sin(angle)
                                 : high * std::cos(angle) + low * std::sin(angle);
    CHECK(std::fabs(x[i] - wanted) < 3e-7);
  }
}

void TablesGiveAndTakeRows() {
  const auto kernels = MakeKernels();
  for (const Format format : kFormats) {
    const auto table = MakeMatrix(format, 6, 9, 1);
    const std::vector<int32_t> ids = {5, 0, 5};
    std::vector<float> y(27, 1);
    kernels->Gather(table->matrix, {ids.data()}, 3, true, y.data());
    for (size_t i = 0; i < 27; i++)
      CHECK_EQ(y[i], 1 + static_cast<float>(table->At(static_cast<size_t>(ids[i / 9]), i % 9)));
    kernels->Gather(table->matrix, {ids.data()}, 3, false, y.data());
    CHECK_EQ(y[10], static_cast<float>(table->At(0, 1)));
    // Every second one; one of them is none.
    const std::vector<int32_t> apart = {5, 0, -1, 0, 2};
    kernels->Gather(table->matrix, {apart.data(), 2}, 3, false, y.data());
    CHECK_EQ(y[0], static_cast<float>(table->At(5, 0)));
    CHECK_EQ(y[9], 0.0f);
    CHECK_EQ(y[18], static_cast<float>(table->At(2, 0)));
    y.assign(27, 1);
    kernels->Gather(table->matrix, {apart.data(), 2}, 3, true, y.data());
    CHECK_EQ(y[9], 1.0f);
    CHECK_EQ(y[18], 1 + static_cast<float>(table->At(2, 0)));
  }
  const std::vector<float> codes = {0, 0, 2, 2, 2, 2, -1, 1};  // rows 1 and 2 are equal
  std::vector<float> x = {1.5f, 1.75f, -2, 1};
  std::vector<int32_t> ids(2);
  kernels->TakeNearest({Format::kF32, codes.data(), nullptr, 4, 2}, x.data(), 2, ids.data());
  CHECK((ids == std::vector<int32_t>{1, 3}));
  CHECK((x == std::vector<float>{-0.5f, -0.25f, -1, 0}));
}

// The first of the nearest rows of a table, in double; the first of all for what is no number.
int32_t NearestOf(const std::vector<float>& table, const float* x, size_t width) {
  size_t best = 0;
  double least = 0;
  for (size_t r = 0; r < table.size() / width; r++) {
    double distance = 0;
    for (size_t i = 0; i < width; i++)
      distance += std::pow(static_cast<double>(x[i]) - table[r * width + i], 2);
    if (r > 0 && !(distance < least)) continue;
    least = distance;
    best = r;
  }
  return static_cast<int32_t>(best);
}

// Among equal rows, rows that differ in the last place alone, and one so long that floats tell nothing of it.
void TheNearestRowIsTheOneThatDoubleFinds() {
  constexpr size_t kRows = 300, kWidth = 37, kCount = 60;
  std::vector<float> table = RandomFloats(kRows * kWidth, 1), x = RandomFloats(kCount * kWidth, 2);
  const auto row = [&](size_t r) { return table.begin() + static_cast<std::ptrdiff_t>(r * kWidth); };
  const auto vector = [&](size_t n) { return x.begin() + static_cast<std::ptrdiff_t>(n * kWidth); };
  std::copy_n(row(7), kWidth, row(250));
  for (const size_t r : {8u, 200u}) std::copy_n(row(100), kWidth, row(r));
  std::for_each(row(8), row(9), [](float& value) { value = std::nextafter(value, 0.0f); });
  std::for_each(row(5), row(6), [](float& value) { value *= 1e5f; });
  std::copy_n(row(250), kWidth, vector(0));
  std::copy_n(row(200), kWidth, vector(1));
  std::copy_n(row(5), kWidth, vector(2));
  x[3 * kWidth] = std::nanf("");
  for (size_t n = 11; n < kCount; n += 2) {  // nearer to the one before than floats can tell
    for (size_t i = 0; i < kWidth; i++)
      table[n * kWidth + i] = table[(n - 1) * kWidth + i] + (i % 3 == 0 ? 1e-4f : -5e-5f);
  }
  std::copy(row(10), row(kCount), vector(10));
  std::vector<int32_t> wanted;
  for (size_t n = 0; n < kCount; n++) wanted.push_back(NearestOf(table, &x[n * kWidth], kWidth));
  CHECK(wanted[0] == 7 && wanted[1] == 100 && wanted[2] == 5 && wanted[3] == 0);
  const Matrix codebook{Format::kF32, table.data(), nullptr, kRows, kWidth};
  for (const cpu::Variant* variant : Variants()) {
    std::vector<float> rest = x;
    std::vector<int32_t> ids(kCount);
    MakeKernels(*variant, 2)->TakeNearest(codebook, rest.data(), kCount, ids.data());
    CHECK(ids == wanted);
    CHECK_EQ(rest[2 * kWidth], 0.0f);
  }
}

void StatisticsOverTimeAreWeighted() {
  const auto kernels = MakeKernels();
  const std::vector<float> x = {1, 5, 3, 5};  // two channels, two moments
  float mean[2], deviation[2];
  kernels->Statistics(x.data(), nullptr, 2, 2, 2, 1e-12f, mean, deviation);
  CHECK(mean[0] == 2 && mean[1] == 5 && deviation[0] == 1);
  CHECK(std::fabs(deviation[1] - 1e-6f) < 1e-12f);
  std::vector<float> weights = {std::log(3.0f), 0, 0, 0};
  kernels->SoftmaxOverTime(weights.data(), 2, 2, 2);
  CHECK(std::fabs(weights[0] - 0.75f) < 1e-7f && weights[1] == 0.5f);
  kernels->Statistics(x.data(), weights.data(), 2, 2, 2, 1e-12f, mean, deviation);
  CHECK(std::fabs(mean[0] - 1.5f) < 1e-6f);
  CHECK(std::fabs(deviation[0] - std::sqrt(0.75f)) < 1e-6f);
  std::vector<float> y = {1, 1, 1, 1}, cut(6);
  const float gain[] = {2, 0};
  kernels->AddScaled(y.data(), x.data(), gain, 2, 2);
  CHECK((y == std::vector<float>{3, 1, 7, 1}));
  const float shifts[] = {1, 2, 9, 3, 4, 9}, scales[] = {1, 0, 9, 2, -1, 9};
  std::vector<float> turned = {1, 2, 3, 4};
  kernels->Modulate(shifts, scales, 2, 2, 3, turned.data());
  CHECK((turned == std::vector<float>{3, 4, 12, 4}));
  kernels->AddGated(y.data(), scales, 2, 2, 3, turned.data());
  CHECK((turned == std::vector<float>{6, 4, 26, 3}));
  kernels->CopyColumns(x.data(), 2, 1, cut.data(), 3, 2, 1, 2);
  CHECK((cut == std::vector<float>{0, 0, 5, 0, 0, 5}));
  kernels->Add(y.data(), x.data(), 4);
  kernels->Clamp(y.data(), 4, 5, 8);
  CHECK((y == std::vector<float>{5, 6, 8, 6}));
  y = {NAN, INFINITY, -INFINITY, 3e38f};
  kernels->Clamp(y.data(), 4, -1, 1);
  CHECK(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[2]) && y[3] == 1);
}

// Bit for bit, and nothing is written beside them.
void AFewChannelsHaveTheStatisticsThatTheyHaveAmongAll() {
  constexpr size_t kRows = 37, kChannels = 21;
  const auto kernels = MakeKernels(cpu::kPortable, 2);
  const std::vector<float> x = RandomFloats(kRows * kChannels, 3),
                           scores = RandomFloats(kRows * kChannels, 4);
  std::vector<float> whole = scores, cut = scores, even(kChannels), seen_even(kChannels);
  std::vector<float> mean(kChannels), deviation(kChannels), seen_mean(kChannels), seen_deviation(kChannels);
  kernels->Statistics(x.data(), nullptr, kRows, kChannels, kChannels, 0, even.data(), nullptr);
  kernels->SoftmaxOverTime(whole.data(), kRows, kChannels, kChannels);
  kernels->Statistics(x.data(), whole.data(), kRows, kChannels, kChannels, 0, mean.data(), deviation.data());
  for (const auto& [first, count] : {std::pair<size_t, size_t>{0, 16}, {16, 1}, {17, 4}}) {
    const float* const some = x.data() + first;
    kernels->Statistics(some, nullptr, kRows, count, kChannels, 0, seen_even.data() + first, nullptr);
    kernels->SoftmaxOverTime(cut.data() + first, kRows, count, kChannels);
    kernels->Statistics(some, cut.data() + first, kRows, count, kChannels, 0, seen_mean.data() + first,
                        seen_deviation.data() + first);
    size_t others = 0;
    for (size_t i = 0; i < cut.size(); i++) others += i % kChannels >= first + count && cut[i] == scores[i];
    CHECK_EQ(others, kRows * (kChannels - first - count));
  }
  CHECK(SameBits(cut, whole) && SameBits(seen_even, even));
  CHECK(SameBits(seen_mean, mean) && SameBits(seen_deviation, deviation));
  CHECK(RefusalOf([&] { kernels->SoftmaxOverTime(cut.data(), 2, 3, 2); }) != "");
  CHECK(RefusalOf([&] { kernels->Statistics(x.data(), nullptr, 2, 3, 2, 0, mean.data(), nullptr); }) != "");
}

void TheMelSpectrumIsThePlainSum() {
  const LogMelShape shape{8000, 64, 16, 10, 24};
  const LogMel mel(shape);
  const size_t count = 100;
  const auto samples = RandomFloats(count, 6);
  const auto seen = mel.Of(samples.data(), count);
  CHECK_EQ(seen.size(), mel.FramesOf(count) * 10);
  CHECK_EQ(mel.FramesOf(count), (count + 48 - 64) / 16 + 1);
  std::vector<float> padded;
  for (size_t i = 24; i > 0; i--) padded.push_back(samples[i]);
  padded.insert(padded.end(), samples.begin(), samples.end());
  for (size_t i = 0; i < 24; i++) padded.push_back(samples[count - 2 - i]);
  // A rate of 8000 puts the ten bands' edges at fixed frequencies of Slaney's scale.
  const double top = 15 + 27 * std::log(4.0) / std::log(6.4);
  const auto hertz = [&](double i) {
    const double m = top * i / 11;
    return m < 15 ? m * 200 / 3 : 1000 * std::pow(6.4, (m - 15) / 27);
  };
  for (size_t t = 0; t < mel.FramesOf(count); t++) {
    for (size_t m = 0; m < 10; m++) {
      const auto at = static_cast<double>(m);
      double sum = 0;
      for (size_t k = 0; k <= 32; k++) {
        double re = 0, im = 0;
        for (size_t n = 0; n < 64; n++) {
          const double turn = 2 * kPi * static_cast<double>(n) / 64;
          const double value = padded[t * 16 + n] * (0.5 - 0.5 * std::cos(turn));
          re += value * std::cos(turn * static_cast<double>(k));
          im -= value * std::sin(turn * static_cast<double>(k));
        }
        const double f = static_cast<double>(k) * 125;
        const double rise = (f - hertz(at)) / (hertz(at + 1) - hertz(at));
        const double fall = (hertz(at + 2) - f) / (hertz(at + 2) - hertz(at + 1));
        const double height = std::fmax(0, std::fmin(rise, fall)) * 2 / (hertz(at + 2) - hertz(at));
        sum += height * std::sqrt(re * re + im * im + 1e-9);
      }
      CHECK(std::fabs(seen[t * 10 + m] - std::log(std::fmax(sum, 1e-5))) < 1e-5);
    }
  }
  CHECK_EQ(mel.FramesOf(24), size_t{0});
}

void AMelSpectrumOfSeveralThreadsIsThatOfOne() {
  cpu::ThreadPool threads({3, {}, 0});
  const LogMel alone(kRecognitionMel), together(kRecognitionMel, &threads);
  for (const size_t count : {size_t{201}, size_t{4000}, size_t{16'000}, size_t{80'123}}) {
    const std::vector<float> sound = RandomFloats(count, 7);
    CHECK(alone.Of(sound.data(), count) == together.Of(sound.data(), count));
  }
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(kernels_elements) {
  using namespace parley::test;
  return Run({
      {"sixteen bits round to the nearest", SixteenBitsRoundToTheNearest},
      {"snake is right and the same on every variant", SnakeIsRightAndTheSameOnEveryVariant},
      {"a wave of any input stays a wave", AWaveOfAnyInputStaysAWave},
      {"norms are what double precision says", NormsAreWhatDoublePrecisionSays},
      {"ELU is exact near zero", EluIsExactNearZero},
      {"activations are what double precision says", ActivationsAreWhatDoublePrecisionSays},
      {"rotation is half-split and keeps far angles exact", RotationIsHalfSplitAndKeepsFarAnglesExact},
      {"tables give and take rows", TablesGiveAndTakeRows},
      {"the nearest row is the one that double finds", TheNearestRowIsTheOneThatDoubleFinds},
      {"statistics over time are weighted", StatisticsOverTimeAreWeighted},
      {"a few channels have the statistics that they have among all",
       AFewChannelsHaveTheStatisticsThatTheyHaveAmongAll},
      {"the mel spectrum is the plain sum", TheMelSpectrumIsThePlainSum},
      {"a mel spectrum of several threads is that of one", AMelSpectrumOfSeveralThreadsIsThatOfOne},
  });
}
