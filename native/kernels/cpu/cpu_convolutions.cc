// Convolutions of the CPU backend, as products with windows over a signal that follows its past.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/cpu_kernels.h"

namespace parley::cpu {
namespace {

// Below so many positions a stream's product waits for the weights: then streams share one.
constexpr size_t kShortStretch = 16;

// Puts the past before x; keeps the last `history` rows of both for the next call.
// Returns where the past begins.
float* TakeTail(const Stretch& stretch, size_t history, size_t channels) {
  const size_t size = history * channels;
  if (size == 0) return stretch.x;
  float* past = stretch.x - size;
  std::memcpy(past, stretch.tail, size * sizeof(float));
  std::memcpy(stretch.tail, past + stretch.count * channels, size * sizeof(float));
  return past;
}

}  // namespace

// The windows of all streams as plain vectors: of one segment as they are where they lie, so that
// the order of summation is the same.
const float* CpuKernels::GatherWindows(const Convolution& convolution, const Stretch* streams, size_t count) {
  const size_t length = convolution.weights.columns, most = count * kShortStretch * length;
  if (windows_.size() < most) windows_.resize(most);
  float* to = windows_.data();
  for (size_t s = 0; s < count; s++) {
    const float* from = streams[s].x - convolution.History() * convolution.channels;
    for (size_t i = 0; i < streams[s].count; i++, to += length) {
      std::memcpy(to, from + i * convolution.channels, length * sizeof(float));
    }
  }
  return windows_.data();
}

void CpuKernels::ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count,
                                float* y) {
  Require(convolution.stride == 1, "a causal convolution with state has stride 1");
  Require(convolution.weights.columns == convolution.taps * convolution.channels,
          "the convolution's weights are not [rows, taps * channels]");
  const Finish finish{convolution.bias, nullptr, false};
  size_t positions = 0;
  bool are_short = count > 1 && convolution.dilation == 1;
  for (size_t s = 0; s < count; s++) {
    TakeTail(streams[s], convolution.History(), convolution.channels);
    positions += streams[s].count;
    are_short = are_short && streams[s].count < kShortStretch;
  }
  if (are_short) {
    const float* windows = GatherWindows(convolution, streams, count);
    return Multiply(convolution.weights, Rows(windows, positions, convolution.weights.columns), finish, y);
  }
  for (size_t s = 0; s < count; s++) {
    const float* first = streams[s].x - convolution.History() * convolution.channels;
    Multiply(convolution.weights, WindowsOf(convolution, first, streams[s].count), finish, y);
    y += streams[s].count * convolution.weights.rows;
  }
}

void CpuKernels::ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                                   const Stretch* streams, size_t count, float* y) {
  Require(taps > 0, "a convolution has no taps");
  for (size_t s = 0; s < count; s++) {
    const float* past = TakeTail(streams[s], taps - 1, channels);
    const size_t positions = streams[s].count;
    Split(positions, 1, positions * channels * taps / 8, [&](size_t first, size_t last) {
      variant_.depthwise(weights, bias, channels, taps, past + first * channels, last - first,
                         y + first * channels);
    });
    y += positions * channels;
  }
}

void CpuKernels::Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right, Padding padding,
                     float* y) {
  if (padding == Padding::kReflect) {
    Require(rows > left && rows > right, "a signal is reflected over fewer rows than it has");
  }
  if (padding == Padding::kReplicate) Require(rows > 0, "nothing to replicate");
  const auto row = [&](size_t to, size_t from) {
    std::memcpy(y + to * channels, x + from * channels, channels * sizeof(float));
  };
  const auto zero = [&](size_t to) { std::fill_n(y + to * channels, channels, 0.0f); };
  for (size_t i = 0; i < left; i++) {
    if (padding == Padding::kZero) zero(i);
    else row(i, padding == Padding::kReflect ? left - i : 0);
  }
  for (size_t i = 0; i < rows; i++) row(left + i, i);
  for (size_t i = 0; i < right; i++) {
    if (padding == Padding::kZero) zero(left + rows + i);
    else row(left + rows + i, padding == Padding::kReflect ? rows - 2 - i : rows - 1);
  }
}

// Taps of neighbouring bands lie beside each other.
void CpuKernels::GatherPlanes(const float* x, const Planes& planes, float* y) {
  const size_t frames = planes.frames, bands = planes.bands, channels = planes.channels;
  const size_t columns = PlaneColumns(channels), taps = kPlaneTaps * channels;
  const size_t out_frames = HalfOf(frames), out = HalfOf(bands);
  const auto window = [&](const float* plane, size_t frame, size_t band, float* to) {
    std::fill_n(to, columns, 0.0f);
    const size_t first = band == 0 ? 1 : 0, last = std::min(kPlaneTaps, bands + 1 - 2 * band);
    for (size_t tap = 0; tap < kPlaneTaps; tap++) {
      const size_t t = 2 * frame + tap;  // one more than the frame's number
      if (t < 1 || t > frames) continue;
      std::copy_n(plane + ((t - 1) * bands + 2 * band + first - 1) * channels, (last - first) * channels,
                  to + tap * taps + first * channels);
    }
  };
  const size_t all = planes.count * out_frames;
  Split(all, 1, all * out * columns / 8, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; row++) {
      const float* const plane = x + row / out_frames * frames * bands * channels;
      for (size_t band = 0; band < out; band++)
        window(plane, row % out_frames, band, y + (row * out + band) * columns);
    }
  });
}

}  // namespace parley::cpu
