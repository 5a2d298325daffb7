// See words.h.
#ifndef PARLEY_KERNELS_CUDA_GPU_WORDS_H_
#define PARLEY_KERNELS_CUDA_GPU_WORDS_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/number_formats.h"

namespace parley::cuda {

__device__ __forceinline__ unsigned char* SharedBytes() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return bytes;
}

// a: rows g and g + 8 of 16 by 16, b: column g of 16 by 8; g = lane / 4, t = lane % 4. a[0], a[1]: columns 2t, 2t + 1 of
// rows g and g + 8; a[2], a[3]: columns 2t + 8, 2t + 9 of the same; b[0], b[1]: the rows of the same numbers.
// d: row g, columns 2t and 2t + 1; then row g + 8. Each word two bf16, the lower one in its lower half.
__device__ __forceinline__ void Mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// --- products of a warpgroup, of 9.0 alone
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// Rows of 128 bytes, whose pieces of 16 lie as SwizzledPiece says, from a multiple of 1024: what wgmma is told of them.
__device__ __forceinline__ uint64_t SwizzledTile(const unsigned char* at) {
  const auto place = static_cast<uint32_t>(__cvta_generic_to_shared(at));
  return (static_cast<uint64_t>(1) << 62) | (static_cast<uint64_t>(1024 / 16) << 32) | ((place & 0x3ffff) >> 4);
}
#endif

__device__ __forceinline__ void MmaWide(float (&d)[16][4], const uint32_t (&a)[4], const unsigned char* tile, uint32_t step,
                                        bool from_zero) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const uint64_t vectors = SwizzledTile(tile) + step * 2;
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %69, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, p, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]), "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]), "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]), "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]), "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]), "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]), "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]), "+f"(d[13][0]), "+f"(d[13][1]), "+f"(d[13][2]), "+f"(d[13][3]), "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]), "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(vectors), "r"(from_zero ? 0 : 1));
#else
  (void)d, (void)a, (void)tile, (void)step, (void)from_zero;
  __trap();
#endif
}

__device__ __forceinline__ void BeginWide() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

__device__ __forceinline__ void FenceWide() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void CommitWide() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void AwaitWide() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}

__device__ __forceinline__ void AwaitDependence() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#ifdef PARLEY_CUDA_TRACE
// Of every grid, when its first block began, and when its inputs were there: ns of the GPU's clock. For builds that look for time; the
// grids' order is that of their second time.
constexpr uint32_t kTraceLength = 1 << 18;
extern __device__ ulonglong2 cuda_trace[kTraceLength];
extern __device__ uint32_t cuda_trace_count;

__device__ __forceinline__ unsigned long long TraceNow() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}

__device__ __forceinline__ void AwaitInputs() {
  const bool is_first = (threadIdx.x | blockIdx.x | blockIdx.y | blockIdx.z) == 0;
  const unsigned long long began = is_first ? TraceNow() : 0;
  AwaitDependence();
  if (!is_first) return;
  const uint32_t place = atomicAdd(&cuda_trace_count, 1u);
  if (place < kTraceLength) cuda_trace[place] = make_ulonglong2(began, TraceNow());
}
#else
__device__ __forceinline__ void AwaitInputs() { AwaitDependence(); }
#endif

__device__ __forceinline__ void LetNextBegin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void CopyAsync16(void* to, const void* from, bool valid) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ __forceinline__ void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// --- formats of numbers
__device__ __forceinline__ float FloatOf(float value) { return value; }
__device__ __forceinline__ float FloatOf(int8_t value) { return static_cast<float>(value); }
__device__ __forceinline__ float FloatOf(Bf16 value) { return __uint_as_float(static_cast<uint32_t>(value.bits) << 16); }
__device__ __forceinline__ float FloatOf(F16 value) { return __half2float(__ushort_as_half(value.bits)); }
__device__ __forceinline__ Bf16 Bf16Of(float value) { return {__bfloat16_as_ushort(__float2bfloat16_rn(value))}; }
__device__ __forceinline__ F16 F16Of(float value) { return {__half_as_ushort(__float2half_rn(value))}; }
__device__ __forceinline__ uint32_t PackBf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return static_cast<uint32_t>(__bfloat16_as_ushort(pair.x)) | static_cast<uint32_t>(__bfloat16_as_ushort(pair.y)) << 16;
}
__device__ __forceinline__ uint32_t PackF16(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return static_cast<uint32_t>(__half_as_ushort(pair.x)) | static_cast<uint32_t>(__half_as_ushort(pair.y)) << 16;
}
__device__ __forceinline__ float2 UnpackBf16(uint32_t pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000)};
}
__device__ __forceinline__ float2 UnpackF16(uint32_t pair) {
  return {__half2float(__ushort_as_half(static_cast<unsigned short>(pair))),
          __half2float(__ushort_as_half(static_cast<unsigned short>(pair >> 16)))};
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GPU_WORDS_H_
