// Launches a product as its plan says, with the kernels of all formats and shapes. They take half a minute to
// compile, and are compiled here alone.
#include <cstdint>

#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/products/prepare.cuh"
#include "kernels/cuda/products/product_args.cuh"
#include "kernels/cuda/products/products.cuh"
#include "kernels/cuda/products/skinny_gemm.cuh"
#include "kernels/number_formats.h"

namespace parley::cuda {

// Products without tensor cores: few rows (the codec's last convolution), any number of columns, any address.
// A warp computes one row of one vector in f32. In each segment, lane l sums columns l, l + 32, ... by fmaf;
// then the lanes are joined over 16, 8, 4, 2 and 1.
template <class Value>
__device__ __forceinline__ float SumOfRow(const Value* row, const VectorsView& x, const float* vector,
                                          uint32_t columns) {
  float sum = 0;
  for (uint32_t done = 0; done < columns; done += x.length, row += x.length, vector += x.segment_stride) {
    for (uint32_t k = threadIdx.x % 32; k < x.length; k += 32) sum = fmaf(FloatOf(row[k]), vector[k], sum);
  }
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  return sum;
}

template <int kMatrix>
__device__ __forceinline__ float RowTimes(const ProductArgs& args, uint32_t row, const float* vector) {
  const MatrixView& matrix = args.matrices[kMatrix];
  const uint64_t start = static_cast<uint64_t>(row) * args.columns;
  switch (args.formats[kMatrix]) {
    case Format::kF32:
      return SumOfRow(static_cast<const float*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kF16:
      return SumOfRow(static_cast<const F16*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kBf16:
      return SumOfRow(static_cast<const Bf16*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kFp8:
      return SumOfRow(static_cast<const Fp8*>(matrix.values) + start, args.x, vector, args.columns);
    case Format::kInt8:
      break;
  }
  return SumOfRow(static_cast<const int8_t*>(matrix.values) + start, args.x, vector, args.columns);
}

template <bool kGated>
__global__ void __launch_bounds__(256) MultiplyPlainly(ProductArgs args) {
  LaunchDependents();
  GridDependencyWait();
  const VectorCounts counts = *args.x.counts;
  const uint32_t rows = args.matrices[0].rows;
  const uint64_t warp = static_cast<uint64_t>(blockIdx.x) * 8 + threadIdx.x / 32;
  if (warp >= static_cast<uint64_t>(rows) * counts.vectors) return;
  const uint32_t vector = static_cast<uint32_t>(warp / rows), row = static_cast<uint32_t>(warp % rows);
  const float* const from = VectorAt(args.x, counts, vector);
  const float first = RowTimes<0>(args, row, from);
  if constexpr (kGated) {
    const float up = RowTimes<1>(args, row, from);
    if (threadIdx.x % 32 == 0) FinishGated(args, row, vector, first, up);
  } else if (threadIdx.x % 32 == 0) {
    FinishValue(args, args.matrices[0], row, vector, first);
  }
}

namespace {

template <Format kFormat, int kTerms, bool kGated, bool kNorm, uint32_t kOctets, uint32_t kTiles>
void LaunchGemv(Queue& queue, const Plan& plan, ProductArgs args, size_t bucket) {
  if constexpr (kTiles < MostTiles(kFormat, kOctets, kGated)) {
    if (plan.tiles > kTiles)
      return LaunchGemv<kFormat, kTerms, kGated, kNorm, kOctets, kTiles * 2>(queue, plan, args, bucket);
  }
  using Shape = GemvShape<kFormat, kTiles, kOctets, kTerms, kGated, kNorm>;
  queue.Launch<MultiplyGemv<Shape>>(CutRows<Shape>(&args, bucket), args);
}

template <Format kFormat, int kTerms, bool kGated>
void LaunchGemvOf(Queue& queue, const Plan& plan, const ProductArgs& args, size_t bucket) {
  switch (plan.octets) {
    case 1:
      if (args.norm != nullptr)
        return LaunchGemv<kFormat, kTerms, kGated, true, 1, 1>(queue, plan, args, bucket);
      return LaunchGemv<kFormat, kTerms, kGated, false, 1, 1>(queue, plan, args, bucket);
    case 2:
      return LaunchGemv<kFormat, kTerms, kGated, false, 2, 1>(queue, plan, args, bucket);
    default:
      return LaunchGemv<kFormat, kTerms, kGated, false, 4, 1>(queue, plan, args, bucket);
  }
}

template <Format kFormat, int kTerms, bool kGated>
void LaunchSkinnyGemmOf(Queue& queue, const Plan& plan, ProductArgs args, size_t bucket) {
  using Large = SkinnyGemmShape<kFormat, 4, 4, kTerms, kGated>;
  using Small = SkinnyGemmShape<kFormat, 2, 2, kTerms, kGated>;
  if (plan.tiles == 4) return queue.Launch<MultiplySkinnyGemm<Large>>(CutRows<Large>(&args, bucket), args);
  queue.Launch<MultiplySkinnyGemm<Small>>(CutRows<Small>(&args, bucket), args);
}

template <Format kFormat, int kTerms, bool kGated>
void LaunchOf(Queue& queue, const Plan& plan, ProductArgs args, size_t bucket) {
  if (plan.cut == Cut::kGemv) return LaunchGemvOf<kFormat, kTerms, kGated>(queue, plan, args, bucket);
  LaunchSkinnyGemmOf<kFormat, kTerms, kGated>(queue, plan, args, bucket);
}

template <Format kFormat, int kTerms>
void LaunchOf(Queue& queue, const Plan& plan, bool gated, const ProductArgs& args, size_t bucket) {
  if (gated) LaunchOf<kFormat, kTerms, true>(queue, plan, args, bucket);
  else LaunchOf<kFormat, kTerms, false>(queue, plan, args, bucket);
}

// The terms of all vectors, normed where they are to be; args->x becomes their places.
template <int kTerms>
void PrepareTerms(Queue& queue, Room& room, const Plan& plan, const LaidVectors& laid, ProductArgs* args) {
  const size_t columns = laid.as_signals ? laid.columns : laid.bucket * args->columns,
               bytes = BlocksOf(columns * 2, 256) * 256;
  auto* const terms = static_cast<unsigned char*>(room.AtLeast(bytes * kTerms));
  const PrepareArgs prepare{args->x,
                            args->norm,
                            terms,
                            bytes,
                            args->columns,
                            args->eps,
                            ReadsTiles(plan.cut) ? 0u : 1u,
                            args->activates ? 1u : 0u};
  Grid grid;
  grid.threads = 256;
  args->terms = terms;
  args->term_bytes = bytes;
  if (laid.as_signals) {
    grid.x = static_cast<uint32_t>(BlocksOf(laid.longest / kEight, 256));
    grid.y = static_cast<uint32_t>(laid.streams);
    return queue.Launch<PrepareSignals<kTerms>>(grid, prepare);
  }
  if (args->norm != nullptr) {
    grid.x = static_cast<uint32_t>(laid.bucket);
    queue.Launch<PrepareNormed<kTerms>>(grid, prepare);
  } else {
    grid.x = static_cast<uint32_t>(BlocksOf(columns / kEight, 256));
    queue.Launch<PrepareVectors<kTerms>>(grid, prepare);
  }
  args->norm = nullptr;
  args->x = {nullptr, nullptr, args->x.counts, args->columns, 0, args->columns};
}

}  // namespace

void LaunchPlainly(Queue& queue, bool gated, const ProductArgs& args, size_t bucket) {
  Grid grid;
  grid.threads = 256;
  grid.x = static_cast<uint32_t>(BlocksOf(args.matrices[0].rows * bucket, 8));
  if (gated) queue.Launch<MultiplyPlainly<true>>(grid, args);
  else queue.Launch<MultiplyPlainly<false>>(grid, args);
}

void EnqueuePlanned(Queue& queue, Room& room, const Plan& plan, bool gated, ProductArgs args,
                    const LaidVectors& laid) {
  const Format format = args.formats[0];
  const int terms = VectorTermsOf(format, room.rules.full_vectors);
  if (!ReadsFloats(plan) && args.terms == nullptr) {
    if (terms == 2) PrepareTerms<2>(queue, room, plan, laid, &args);
    else PrepareTerms<1>(queue, room, plan, laid, &args);
  }
  if (ReadsTiles(plan.cut)) {
    if (format == Format::kInt8)
      return LaunchTilesOf<Format::kInt8>(queue, room.rules, plan, gated, args, laid);
    if (format == Format::kFp8)
      return LaunchTilesOf<Format::kFp8>(queue, room.rules, plan, gated, args, laid);
    return LaunchTilesOf<Format::kBf16>(queue, room.rules, plan, gated, args, laid);
  }
  switch (format) {
    case Format::kF32:
      return LaunchOf<Format::kF32, 2>(queue, plan, gated, args, laid.bucket);
    case Format::kF16:
      return LaunchOf<Format::kF16, 2>(queue, plan, gated, args, laid.bucket);
    case Format::kBf16:
      return terms == 2 ? LaunchOf<Format::kBf16, 2>(queue, plan, gated, args, laid.bucket)
                        : LaunchOf<Format::kBf16, 1>(queue, plan, gated, args, laid.bucket);
    case Format::kInt8:
      return terms == 2 ? LaunchOf<Format::kInt8, 2>(queue, plan, gated, args, laid.bucket)
                        : LaunchOf<Format::kInt8, 1>(queue, plan, gated, args, laid.bucket);
    case Format::kFp8:
      return terms == 2 ? LaunchOf<Format::kFp8, 2>(queue, plan, gated, args, laid.bucket)
                        : LaunchOf<Format::kFp8, 1>(queue, plan, gated, args, laid.bucket);
  }
}

}  // namespace parley::cuda
