// Elementwise operations of the CUDA backend, on signals and on tables.
#include "kernels/cuda/codec/signals.cuh"
#include "kernels/cuda/codec/statistics.cuh"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/planes.cuh"
#include "kernels/cuda/tables.cuh"

namespace parley::cuda {

void CudaKernels::Activate(Activation activation, float* x, size_t count) {
  EnqueueActivate(Next(), activation, x, count);
}

void CudaKernels::Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels,
                        float* y) {
  const Stretch whole{y, rows, nullptr};
  EnqueueSpread(Next(), x, a, b, channels, &whole, 1);
}

void CudaKernels::Spread(const float* x, const float* a, const float* b, size_t channels,
                         const Stretch* streams, size_t count) {
  EnqueueSpread(Next(), x, a, b, channels, streams, count);
}

void CudaKernels::Add(float* y, const float* x, size_t count) { EnqueueAdd(Next(), y, x, count); }

void CudaKernels::Clamp(float* x, size_t count, float lowest, float highest) {
  EnqueueClamp(Next(), x, count, lowest, highest);
}

void CudaKernels::CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width,
                              size_t to, size_t width, size_t rows) {
  Require(from + width <= from_width && to + width <= to_width, "columns outside the signal");
  EnqueueCopyColumns(Next(), x, from_width, from, y, to_width, to, width, rows);
}

void CudaKernels::Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right,
                      Padding padding, float* y) {
  if (padding == Padding::kReflect) {
    Require(rows > left && rows > right, "a signal is reflected over fewer rows than it has");
  }
  if (padding == Padding::kReplicate) Require(rows > 0, "nothing to replicate");
  EnqueuePad(Next(), x, rows, channels, left, right, padding, y);
}

void CudaKernels::Gather(const Matrix& table, const Ids& ids, size_t count, bool add, float* y) {
  Require(!HasScales(table.format) || table.scales != nullptr, "a table of 8 bits has no scales");
  EnqueueGather(Next(), table, ids, count, add, y);
}

void CudaKernels::GatherSum(const Matrix* tables, size_t table_count, const Ids& ids, size_t count, bool add,
                            float* y) {
  for (size_t t = 0; t < table_count; t++) {
    Require(!HasScales(tables[t].format) || tables[t].scales != nullptr, "a table of 8 bits has no scales");
  }
  EnqueueGatherSum(Next(), tables, table_count, ids, count, add, y);
}

void CudaKernels::TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) {
  Require(table.format == Format::kF32 && table.rows > 0 && table.rows <= INT32_MAX,
          "a codebook is a table of f32");
  if (count == 0) return;
  Queue& queue = Next();
  const size_t bytes = count * sizeof(int32_t);
  EnqueueTakeNearest(queue, table, x, count,
                     static_cast<int32_t*>(recorder_.Result(ids, bytes, BucketOf(bytes))));
}

void CudaKernels::GatherPlanes(const float* x, const Planes& planes, float* y) {
  EnqueueGatherPlanes(Next(), x, planes, y);
}

void CudaKernels::Statistics(const float* x, const float* weights, size_t rows, size_t channels,
                             size_t stride, float floor, float* mean, float* deviation) {
  Require(rows > 0, "statistics over no time");
  Require(stride >= channels, "the rows of a signal overlap");
  EnqueueStatistics(Next(), x, weights, rows, channels, stride, floor, mean, deviation);
}

void CudaKernels::SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) {
  Require(stride >= channels, "the rows of a signal overlap");
  EnqueueSoftmaxOverTime(Next(), x, rows, channels, stride);
}

void CudaKernels::Modulate(const float* shift, const float* scale, size_t rows, size_t width, size_t stride,
                           float* x) {
  EnqueueModulate(Next(), shift, scale, rows, width, stride, x);
}

void CudaKernels::AddGated(const float* x, const float* gate, size_t rows, size_t width, size_t stride,
                           float* y) {
  EnqueueAddGated(Next(), x, gate, rows, width, stride, y);
}

void CudaKernels::AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) {
  EnqueueAddScaled(Next(), y, x, gain, rows, channels);
}

}  // namespace parley::cuda
