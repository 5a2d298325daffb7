// Norms of rows, one warp per row, and rotary angles.
#ifndef PARLEY_KERNELS_CUDA_NORMS_CUH_
#define PARLEY_KERNELS_CUDA_NORMS_CUH_

#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/lane_math.cuh"

namespace parley::cuda {

constexpr uint32_t kNormWarps = 4;

struct NormArgs {
  const float* x;
  const float* weight;
  const float* bias;  // LayerNorm, or none: RMSNorm
  float* y;           // may be x
  const uint32_t* rows;
  uint32_t width;
  float eps;
};

// The widest row that a lane's registers can hold, in fours: columns 4 lane, 4 lane + 128, ...
constexpr uint32_t kLaneFours = 16;

__device__ __forceinline__ bool FitsLanes(const NormArgs& args, const float* x, const float* y) {
  return args.width % 4 == 0 && args.width <= kLaneFours * 128 && IsAligned16(x) && IsAligned16(y) &&
         IsAligned16(args.weight) && IsAligned16(args.bias);
}

// A lane's part of a row of weights or values; all of it is asked for at once.
struct LaneFours {
  float4 fours[kLaneFours];

  __device__ __forceinline__ void Load(const float* row, uint32_t width) {
    const uint32_t first = threadIdx.x % 32 * 4;
#pragma unroll
    for (uint32_t n = 0; n < kLaneFours; n++) {
      fours[n] = make_float4(0, 0, 0, 0);
      if (first + n * 128 < width) fours[n] = *reinterpret_cast<const float4*>(row + first + n * 128);
    }
  }
  // The four and the first of its columns.
  template <class Use>
  __device__ __forceinline__ void ForEach(uint32_t width, const Use& use) {
    const uint32_t first = threadIdx.x % 32 * 4;
#pragma unroll
    for (uint32_t n = 0; n < kLaneFours; n++) {
      if (first + n * 128 < width) use(fours[n], n, first + n * 128);
    }
  }
};

// Sums in the order of RmsFactor.
__device__ __forceinline__ float SumOfSquares(const float4& v, float sum) {
  return fmaf(v.w, v.w, fmaf(v.z, v.z, fmaf(v.y, v.y, fmaf(v.x, v.x, sum))));
}

static __global__ void __launch_bounds__(kNormWarps * 32) RmsNormKernel(const NormArgs args) {
  LaunchDependents();
  const uint32_t row = blockIdx.x * kNormWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float* const x = args.x + static_cast<size_t>(row) * args.width;
  float* const y = args.y + static_cast<size_t>(row) * args.width;
  const bool is_there = row < *args.rows, fits = FitsLanes(args, x, y);
  LaneFours weights;
  if (is_there && fits) weights.Load(args.weight, args.width);
  GridDependencyWait();
  if (!is_there) return;
  if (fits) {
    LaneFours held;
    held.Load(x, args.width);
    float sum = 0;
    held.ForEach(args.width, [&](const float4& v, uint32_t, uint32_t) { sum = SumOfSquares(v, sum); });
    const float factor = RmsFactorOf(sum, args.width, args.eps);
    held.ForEach(args.width, [&](const float4& v, uint32_t n, uint32_t column) {
      const float4 w = weights.fours[n];
      *reinterpret_cast<float4*>(y + column) =
          make_float4(Normed(v.x, factor, w.x), Normed(v.y, factor, w.y), Normed(v.z, factor, w.z),
                      Normed(v.w, factor, w.w));
    });
    return;
  }
  const float factor = RmsFactor(x, args.width, args.eps);
  LanesHaveLoaded();  // y may be x
  for (uint32_t k = lane; k < args.width; k += 32) y[k] = Normed(x[k], factor, args.weight[k]);
}

// Visits a row that does not fit into registers: lane l has the same columns, in the same order.
template <class Use>
__device__ __forceinline__ void ForEachOfLane(uint32_t width, const Use& use) {
  for (uint32_t begin = threadIdx.x % 32 * 4; begin < width; begin += 128) {
    for (uint32_t k = begin; k < begin + 4 && k < width; k++) use(k);
  }
}

__device__ __forceinline__ float OffSquared(float value, float mean, float sum) {
  return fmaf(value - mean, value - mean, sum);
}

__device__ __forceinline__ float LayerFactor(float squares, float width, float eps) {
  return 1.0f / sqrtf(SumOfLanes(squares) / width + eps);
}

static __global__ void __launch_bounds__(kNormWarps * 32) LayerNormKernel(const NormArgs args) {
  LaunchDependents();
  const uint32_t row = blockIdx.x * kNormWarps + threadIdx.x / 32;
  const float* const x = args.x + static_cast<size_t>(row) * args.width;
  float* const y = args.y + static_cast<size_t>(row) * args.width;
  const bool is_there = row < *args.rows, fits = FitsLanes(args, x, y);
  const auto width = static_cast<float>(args.width);
  float sum = 0, squares = 0;
  LaneFours weights, biases;
  if (is_there && fits) {
    weights.Load(args.weight, args.width);
    biases.Load(args.bias, args.width);
  }
  GridDependencyWait();
  if (!is_there) return;
  if (fits) {
    LaneFours held;
    held.Load(x, args.width);
    held.ForEach(args.width, [&](const float4& v, uint32_t, uint32_t) { sum = sum + v.x + v.y + v.z + v.w; });
    const float mean = SumOfLanes(sum) / width;
    held.ForEach(args.width, [&](const float4& v, uint32_t, uint32_t) {
      squares =
          OffSquared(v.w, mean, OffSquared(v.z, mean, OffSquared(v.y, mean, OffSquared(v.x, mean, squares))));
    });
    const float factor = LayerFactor(squares, width, args.eps);
    held.ForEach(args.width, [&](const float4& v, uint32_t n, uint32_t column) {
      const float4 w = weights.fours[n], b = biases.fours[n];
      *reinterpret_cast<float4*>(y + column) =
          make_float4((v.x - mean) * factor * w.x + b.x, (v.y - mean) * factor * w.y + b.y,
                      (v.z - mean) * factor * w.z + b.z, (v.w - mean) * factor * w.w + b.w);
    });
    return;
  }
  ForEachOfLane(args.width, [&](uint32_t k) { sum += x[k]; });
  const float mean = SumOfLanes(sum) / width;
  ForEachOfLane(args.width, [&](uint32_t k) { squares = OffSquared(x[k], mean, squares); });
  const float factor = LayerFactor(squares, width, args.eps);
  ForEachOfLane(args.width,
                [&](uint32_t k) { y[k] = (x[k] - mean) * factor * args.weight[k] + args.bias[k]; });
}

// y [rows, width] = the norm of x; y may be x.
inline void EnqueueNorm(Queue& queue, const float* x, const float* weight, const float* bias, size_t rows,
                        size_t width, float eps, float* y) {
  if (rows == 0) return;
  const auto count = static_cast<uint32_t>(rows);
  const NormArgs args{x, weight, bias, y, queue.Data(count), static_cast<uint32_t>(width), eps};
  Grid grid;
  grid.x = static_cast<uint32_t>((BucketOf(rows) + kNormWarps - 1) / kNormWarps);
  grid.threads = kNormWarps * 32;
  if (bias == nullptr) queue.Launch<&RmsNormKernel>(grid, args);
  else queue.Launch<&LayerNormKernel>(grid, args);
}

// --- rotary positions

struct AnglesArgs {
  const uint64_t* positions;
  const uint32_t* count;
  float* angles;
  uint32_t half;
  double theta;
};

constexpr uint32_t kAnglesThreads = 64;

// In double: a float has lost the angle's fraction after some thousand positions. Only where they go to has
// to be waited for.
static __global__ void __launch_bounds__(kAnglesThreads) AnglesKernel(const AnglesArgs args) {
  LaunchDependents();
  const uint32_t i = blockIdx.x;
  const bool is_there = i < *args.count;
  float* const row = args.angles + static_cast<size_t>(i) * 2 * args.half;
  bool may_write = false;
  for (uint32_t j = threadIdx.x; is_there && j < args.half; j += kAnglesThreads) {
    const double frequency =
        pow(args.theta, -2.0 * static_cast<double>(j) / static_cast<double>(2 * args.half));
    const double angle = static_cast<double>(args.positions[i]) * frequency;
    double sine, cosine;
    sincos(angle, &sine, &cosine);
    if (!may_write) GridDependencyWait();
    may_write = true;
    row[j] = static_cast<float>(cosine);
    row[args.half + j] = static_cast<float>(sine);
  }
  if (!may_write) GridDependencyWait();
}

inline void EnqueueAngles(Queue& queue, const uint64_t* positions, size_t count, size_t head_dim,
                          double theta, float* angles) {
  if (count == 0) return;
  const size_t bucket = BucketOf(count);
  const auto rows = static_cast<uint32_t>(count);
  Grid grid;
  grid.x = static_cast<uint32_t>(bucket);
  grid.threads = kAnglesThreads;
  queue.Launch<&AnglesKernel>(grid, AnglesArgs{queue.Data(positions, count, bucket), queue.Data(rows), angles,
                                               static_cast<uint32_t>(head_dim / 2), theta});
}

struct RotateArgs {
  float* x;
  const float* angles;
  const uint32_t* rows;
  uint32_t heads;
  uint32_t half;
};

__device__ __forceinline__ float2 Rotated(float low, float high, float cosine, float sine) {
  return make_float2(low * cosine - high * sine, high * cosine + low * sine);
}

static __global__ void RotateKernel(const RotateArgs args) {
  GridDependencyWait();
  LaunchDependents();
  const uint32_t row = blockIdx.x;
  if (row >= *args.rows) return;
  const float* const cosines = args.angles + static_cast<size_t>(row) * 2 * args.half;
  for (uint32_t i = threadIdx.x; i < args.heads * args.half; i += blockDim.x) {
    const uint32_t head = i / args.half, j = i % args.half;
    float* const low = args.x + (static_cast<size_t>(row) * args.heads + head) * 2 * args.half + j;
    const float2 turned = Rotated(low[0], low[args.half], cosines[j], cosines[args.half + j]);
    low[0] = turned.x;
    low[args.half] = turned.y;
  }
}

inline void EnqueueRotate(Queue& queue, float* x, size_t rows, size_t heads, size_t head_dim,
                          const float* angles) {
  if (rows == 0) return;
  const auto count = static_cast<uint32_t>(rows);
  Grid grid;
  grid.x = static_cast<uint32_t>(BucketOf(rows));
  grid.threads = 256;
  queue.Launch<&RotateKernel>(grid, RotateArgs{x, angles, queue.Data(count), static_cast<uint32_t>(heads),
                                               static_cast<uint32_t>(head_dim / 2)});
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_NORMS_CUH_
