// Norms of rows, one warp a row; rotary angles.
#ifndef PARLEY_KERNELS_CUDA_NORMS_CUH_
#define PARLEY_KERNELS_CUDA_NORMS_CUH_

#include "kernels/cuda/queue.h"
#include "kernels/cuda/rms.cuh"

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

static __global__ void __launch_bounds__(kNormWarps * 32) RmsNormKernel(const NormArgs args) {
  AwaitInputs();
  LetNextBegin();
  const uint32_t row = blockIdx.x * kNormWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= *args.rows) return;
  const float* const x = args.x + static_cast<size_t>(row) * args.width;
  float* const y = args.y + static_cast<size_t>(row) * args.width;
  const float factor = RmsFactor(x, args.width, args.eps);
  if (args.width % 4 == 0 && IsAligned16(x) && IsAligned16(y) && IsAligned16(args.weight)) {
    for (uint32_t k = lane * 4; k < args.width; k += 128) {
      const float4 in = *reinterpret_cast<const float4*>(x + k), w = *reinterpret_cast<const float4*>(args.weight + k);
      *reinterpret_cast<float4*>(y + k) =
          make_float4(Normed(in.x, factor, w.x), Normed(in.y, factor, w.y), Normed(in.z, factor, w.z), Normed(in.w, factor, w.w));
    }
    return;
  }
  for (uint32_t k = lane; k < args.width; k += 32) y[k] = Normed(x[k], factor, args.weight[k]);
}

static __global__ void __launch_bounds__(kNormWarps * 32) LayerNormKernel(const NormArgs args) {
  AwaitInputs();
  LetNextBegin();
  const uint32_t row = blockIdx.x * kNormWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= *args.rows) return;
  const float* const x = args.x + static_cast<size_t>(row) * args.width;
  float* const y = args.y + static_cast<size_t>(row) * args.width;
  const auto width = static_cast<float>(args.width);
  float sum = 0, squares = 0;
  for (uint32_t k = lane; k < args.width; k += 32) sum += x[k];
  const float mean = SumOfLanes(sum) / width;
  for (uint32_t k = lane; k < args.width; k += 32) squares = fmaf(x[k] - mean, x[k] - mean, squares);
  const float factor = 1.0f / sqrtf(SumOfLanes(squares) / width + args.eps);
  for (uint32_t k = lane; k < args.width; k += 32) y[k] = (x[k] - mean) * factor * args.weight[k] + args.bias[k];
}

// y [rows, width] = the norm of x; y may be x.
inline void EnqueueNorm(Queue& queue, const float* x, const float* weight, const float* bias, size_t rows, size_t width,
                        float eps, float* y) {
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

// In double: a float has lost the angle's fraction after some thousand positions.
static __global__ void AnglesKernel(const AnglesArgs args) {
  AwaitInputs();
  LetNextBegin();
  const uint32_t i = blockIdx.x;
  if (i >= *args.count) return;
  float* const row = args.angles + static_cast<size_t>(i) * 2 * args.half;
  for (uint32_t j = threadIdx.x; j < args.half; j += blockDim.x) {
    const double frequency = pow(args.theta, -2.0 * static_cast<double>(j) / static_cast<double>(2 * args.half));
    const double angle = static_cast<double>(args.positions[i]) * frequency;
    row[j] = static_cast<float>(cos(angle));
    row[args.half + j] = static_cast<float>(sin(angle));
  }
}

inline void EnqueueAngles(Queue& queue, const uint64_t* positions, size_t count, size_t head_dim, double theta,
                          float* angles) {
  if (count == 0) return;
  const size_t bucket = BucketOf(count);
  const auto rows = static_cast<uint32_t>(count);
  Grid grid;
  grid.x = static_cast<uint32_t>(bucket);
  grid.threads = 64;
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
  AwaitInputs();
  LetNextBegin();
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

inline void EnqueueRotate(Queue& queue, float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) {
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
