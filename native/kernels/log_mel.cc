#include "kernels/log_mel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace parley {
namespace {

constexpr double kPi = 3.14159265358979323846;
// For fewer frames waking the threads would take longer than the frames.
constexpr size_t kLeastDivided = 32;
using Complex = std::complex<double>;

// Slaney's scale: linear below 1000 Hz, then 27 steps to every factor of 6.4.
double HertzOf(double mel) {
  return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * std::log(6.4) / 27);
}

double MelOf(double hertz) {
  return hertz < 1000 ? 3 * hertz / 200 : 15 + 27 * std::log(hertz / 1000) / std::log(6.4);
}

// Empty if there are others than 2, 3, 4 and 5.
std::vector<size_t> FactorsOf(size_t count) {
  std::vector<size_t> factors;
  for (const size_t factor : {size_t{4}, size_t{2}, size_t{3}, size_t{5}}) {
    for (; count > 1 && count % factor == 0; count /= factor) factors.push_back(factor);
  }
  return count == 1 ? factors : std::vector<size_t>();
}

// Without what std::complex does for infinite values.
Complex Product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// -i a
Complex Turned(const Complex& a) { return {a.imag(), -a.real()}; }

// Transforms of 2 to 5 values in place.
void Transform(Complex (&a)[2]) {
  const Complex first = a[0];
  a[0] = first + a[1], a[1] = first - a[1];
}
void Transform(Complex (&a)[3]) {
  constexpr double kSine = 0.86602540378443864676;  // sine of a third of a turn
  const Complex sum = a[1] + a[2], middle = a[0] - 0.5 * sum, side = kSine * Turned(a[1] - a[2]);
  a[0] += sum, a[1] = middle + side, a[2] = middle - side;
}
void Transform(Complex (&a)[4]) {
  const Complex even = a[0] + a[2], other = a[0] - a[2], odd = a[1] + a[3], side = Turned(a[1] - a[3]);
  a[0] = even + odd, a[1] = other + side, a[2] = even - odd, a[3] = other - side;
}
void Transform(Complex (&a)[5]) {
  // These are cosines and sines of a fifth and of two fifths of a turn.
  constexpr double kCosine = 0.30901699437494742410, kCosine2 = -0.80901699437494742410;
  constexpr double kSine = 0.95105651629515357212, kSine2 = 0.58778525229247312917;
  const Complex outer = a[1] + a[4], inner = a[2] + a[3], apart = a[1] - a[4], apart2 = a[2] - a[3];
  const Complex middle = a[0] + kCosine * outer + kCosine2 * inner,
                middle2 = a[0] + kCosine2 * outer + kCosine * inner;
  const Complex side = Turned(kSine * apart + kSine2 * apart2),
                side2 = Turned(kSine2 * apart - kSine * apart2);
  a[0] += outer + inner;
  a[1] = middle + side, a[2] = middle2 + side2, a[3] = middle2 - side2, a[4] = middle - side;
}

// One pass of Stockham's transform, decimation in frequency: `stride` transforms of `count` values, x to y.
// roots: of unity, of which every `turn`-th is one of order `count`.
template <size_t kRadix>
void Pass(const Complex* x, size_t count, size_t stride, const Complex* roots, size_t turn, Complex* y) {
  const size_t part = count / kRadix;
  for (size_t p = 0; p < part; p++) {
    for (size_t q = 0; q < stride; q++) {
      Complex a[kRadix];
      for (size_t k = 0; k < kRadix; k++) a[k] = x[q + stride * (p + part * k)];
      Transform(a);
      Complex* const to = y + q + stride * kRadix * p;
      to[0] = a[0];
      for (size_t k = 1; k < kRadix; k++) to[stride * k] = p == 0 ? a[k] : Product(a[k], roots[p * k * turn]);
    }
  }
}

}  // namespace

LogMel::Room::Room(size_t window)
    : mirrored(window),
      values(window / 2),
      other(window / 2),
      spectrum(window / 2 + 1),
      powers(window / 2 + 1) {}

LogMel::LogMel(const LogMelShape& shape, cpu::ThreadPool* threads)
    : shape_(shape), threads_(threads), factors_(FactorsOf(shape.window / 2)) {
  if (factors_.empty() || shape.hop == 0 || shape.hop > shape.window || shape.bands == 0 ||
      shape.sample_rate == 0 || shape.window % 2 != 0 || 2 * shape.margin > shape.window) {
    throw std::invalid_argument(
        "a mel spectrum needs an even window of factors 2, 3 and 5, a hop within it, margins of at most half of "
        "it, and bands");
  }
  FillWindow();
  FillBands();
}

void LogMel::FillWindow() {
  const size_t n = shape_.window;
  for (size_t i = 0; i < n; i++) {
    const double turn = 2 * kPi * static_cast<double>(i) / static_cast<double>(n);
    hann_.push_back(0.5 - 0.5 * std::cos(turn));
    roots_.emplace_back(std::cos(turn), -std::sin(turn));
  }
}

void LogMel::FillBands() {
  const size_t n = shape_.window, bins = n / 2 + 1;
  const double rate = static_cast<double>(shape_.sample_rate);
  const double top = MelOf(rate / 2);
  const auto edge = [&](size_t i) {
    return HertzOf(top * static_cast<double>(i) / static_cast<double>(shape_.bands + 1));
  };
  bands_.resize(shape_.bands);
  for (size_t m = 0; m < shape_.bands; m++) {
    const double low = edge(m), middle = edge(m + 1), high = edge(m + 2);
    for (size_t k = 0; k < bins; k++) {
      const double hertz = static_cast<double>(k) * rate / static_cast<double>(n);
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      if (height <= 0) continue;
      if (bands_[m].heights.empty()) bands_[m].first = k;
      bands_[m].heights.push_back(height * 2 / (high - low));
    }
  }
}

size_t LogMel::FramesOf(size_t count) const {
  if (count <= shape_.margin || count + 2 * shape_.margin < shape_.window) return 0;
  const size_t frames = (count + 2 * shape_.margin - shape_.window) / shape_.hop + 1;
  return shape_.drops_last ? frames - 1 : frames;
}

// The frame of these ends with its sample t hop - margin + window - 1, or before the first margin's mirror is
// whole, with the last sample of that.
size_t LogMel::SettledFrames(size_t count) const {
  if (count <= shape_.margin || count + shape_.margin < shape_.window) return 0;
  return std::min((count + shape_.margin - shape_.window) / shape_.hop + 1, FramesOf(count));
}

size_t LogMel::FirstSampleOf(size_t frame) const {
  const size_t at = frame * shape_.hop;
  return at < shape_.margin ? 0 : at - shape_.margin;
}

// Transforms the room's values, which hold two samples of a frame each, to the frame's spectrum up to half
// the rate.
void LogMel::TransformFrame(Room* room) const {
  Complex *values = room->values.data(), *other = room->other.data();
  const size_t n = shape_.window, half = n / 2;
  size_t count = half, stride = 1;
  for (const size_t radix : factors_) {
    const auto pass = radix == 2 ? Pass<2> : radix == 3 ? Pass<3> : radix == 4 ? Pass<4> : Pass<5>;
    pass(values, count, stride, roots_.data(), n / count, other);
    std::swap(values, other);
    count /= radix, stride *= radix;
  }
  for (size_t k = 0; k <= half; k++) {
    const Complex a = values[k == half ? 0 : k], b = std::conj(values[k == 0 ? 0 : half - k]);
    room->spectrum[k] = 0.5 * (a + b + Turned(Product(a - b, roots_[k])));
  }
}

std::vector<float> LogMel::Of(const float* samples, size_t count) const {
  const size_t frames = FramesOf(count);
  if (frames == 0) throw std::invalid_argument("too few samples for a mel spectrum");
  std::vector<float> result(frames * shape_.bands);
  Of(samples, count, 0, frames, result.data());
  return result;
}

void LogMel::Of(const float* samples, size_t begin, size_t count, size_t first, size_t frames,
                float* result) const {
  if (first + frames > FramesOf(count))
    throw std::invalid_argument("frames beyond the end of a mel spectrum");
  if (begin > FirstSampleOf(first)) throw std::invalid_argument("frames of samples that are not there");
  const Piece piece{samples, begin, count};
  const unsigned parts = threads_ != nullptr && frames >= kLeastDivided ? threads_->Threads() : 1;
  std::vector<Room> rooms(parts, Room(shape_.window));
  const auto compute = [&](unsigned part) {
    const auto [from, to] = cpu::ShareOf(frames, 1, part, parts);
    for (size_t t = from; t < to; t++)
      ComputeFrame(piece, first + t, &rooms[part], result + t * shape_.bands);
  };
  if (parts == 1) compute(0);
  else threads_->Run(compute);
}

void LogMel::ComputeFrame(const Piece& piece, size_t frame, Room* room, float* result) const {
  const size_t n = shape_.window, margin = shape_.margin, count = piece.count;
  const size_t place = frame * shape_.hop;  // in the signal with its margins
  const float* samples = room->mirrored.data();
  if (place >= margin && place - margin + n <= count) {
    samples = piece.samples + (place - margin - piece.begin);
  } else {
    for (size_t i = 0; i < n; i++) {
      const size_t at = place + i < margin ? margin - place - i : place + i - margin;
      room->mirrored[i] = piece.samples[(at < count ? at : 2 * (count - 1) - at) - piece.begin];
    }
  }
  for (size_t i = 0; i < n / 2; i++)
    room->values[i] = {samples[2 * i] * hann_[2 * i], samples[2 * i + 1] * hann_[2 * i + 1]};
  TransformFrame(room);
  TakeBands(room, result);
}

void LogMel::TakeBands(Room* room, float* result) const {
  std::vector<double>& powers = room->powers;
  for (size_t k = 0; k <= shape_.window / 2; k++) {
    powers[k] = std::norm(room->spectrum[k]);
    if (!shape_.power) powers[k] = std::sqrt(powers[k] + 1e-9);
  }
  for (size_t m = 0; m < shape_.bands; m++) {
    double sum = 0;
    const Band& band = bands_[m];
    for (size_t k = 0; k < band.heights.size(); k++) sum += band.heights[k] * powers[band.first + k];
    result[m] = shape_.power ? std::log10(static_cast<float>(std::max(sum, 1e-10)))
                             : static_cast<float>(std::log(std::max(sum, 1e-5)));
  }
}

}  // namespace parley
