// See intrinsics.h.
#ifndef PARLEY_KERNELS_CUDA_GPU_WORDS_H_
#define PARLEY_KERNELS_CUDA_GPU_WORDS_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#ifdef PARLEY_CUDA_TRACE
#include <vector>
#endif

#include "kernels/number_formats.h"

// Marks a function that must not be inlined.
#define __apart__ __noinline__

namespace parley::cuda {

__device__ __forceinline__ unsigned char* SharedBytes() {
  extern __shared__ __align__(128) unsigned char bytes[];
  return bytes;
}

// a: rows g and g + 8 of 16 by 16, b: column g of 16 by 8; g = lane / 4, t = lane % 4. a[0], a[1]: columns
// 2t, 2t + 1 of rows g and g + 8; a[2], a[3]: columns 2t + 8, 2t + 9 of the same; b[0], b[1]: the rows of the
// same numbers. d: row g, columns 2t and 2t + 1; then row g + 8. Each word two bf16, the lower one in its
// lower half.
__device__ __forceinline__ void Mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class Value>
__device__ __forceinline__ void StoreSame(Value* to, const Value& value) {
  *to = value;
}
__device__ __forceinline__ void LanesHaveLoaded() {}
struct LoadsAhead {
  __device__ __forceinline__ LoadsAhead() {}
};

template <uint32_t kThreads, uint32_t kBarrier = 1>
__device__ __forceinline__ void NamedBarrier() {
  asm volatile("bar.sync %0, %1;" ::"n"(kBarrier), "n"(kThreads) : "memory");
}

// Read again wherever they are asked for: what follows from them is not kept in registers from one turn of a
// long loop to the next.
__device__ __forceinline__ uint32_t ThisThread() {
  uint32_t thread;
  asm volatile("mov.u32 %0, %tid.x;" : "=r"(thread));
  return thread;
}
__device__ __forceinline__ uint32_t ThisBlock() {
  uint32_t block;
  asm volatile("mov.u32 %0, %ctaid.x;" : "=r"(block));
  return block;
}

__device__ __forceinline__ void GriddepcontrolWait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#ifdef PARLEY_CUDA_TRACE
// For profiling builds. Records for each grid when its first block began, and when the inputs of that block's
// first thread were ready, in ns of the GPU's clock. Grids are in the order of the second time.
constexpr uint32_t kTraceLength = 1 << 18;
struct Trace {
  ulonglong2* times;  // [kTraceLength]; none: the device is not opened yet
  uint32_t* count;
};
// One for each file, passed to all when the device is opened (gpu_trace.cuh). One for all would have to be
// linked on the device (-rdc=true), which compiles functions apart from their kernels: these then have other
// registers and a stack, whose memory is asked for when the code is loaded.
static __device__ Trace file_trace;
inline std::vector<const void*>& TracesOfFiles() {
  static std::vector<const void*> symbols;
  return symbols;
}
[[maybe_unused]] static const bool file_is_traced = (TracesOfFiles().push_back(&file_trace), true);

__device__ __forceinline__ unsigned long long TraceNow() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}

__device__ __forceinline__ void GridDependencyWait() {
  const bool is_first = (threadIdx.x | blockIdx.x | blockIdx.y | blockIdx.z) == 0;
  const unsigned long long began = is_first ? TraceNow() : 0;
  GriddepcontrolWait();
  if (!is_first) return;
  const Trace trace = file_trace;
  const uint32_t place = atomicAdd(trace.count, 1u);
  if (place < kTraceLength) trace.times[place] = make_ulonglong2(began, TraceNow());
}
#else
__device__ __forceinline__ void GridDependencyWait() { GriddepcontrolWait(); }
#endif

__device__ __forceinline__ void LaunchDependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void CopyAsync16(void* to, const void* from, bool valid) {
  const auto at = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void FetchLine(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

__device__ __forceinline__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kLeft>
__device__ __forceinline__ void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// --- formats of numbers
__device__ __forceinline__ float FloatOf(float value) { return value; }
__device__ __forceinline__ float FloatOf(int8_t value) { return static_cast<float>(value); }
__device__ __forceinline__ float FloatOf(Fp8 value) {
  return __uint_as_float((value.bits & 0x80u) << 24 | (value.bits & 0x7fu) << 20) * 0x1p120f;
}
__device__ __forceinline__ float FloatOf(Bf16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
}
__device__ __forceinline__ float FloatOf(F16 value) { return __half2float(__ushort_as_half(value.bits)); }
__device__ __forceinline__ Bf16 Bf16Of(float value) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
}
__device__ __forceinline__ F16 F16Of(float value) { return {__half_as_ushort(__float2half_rn(value))}; }
__device__ __forceinline__ uint32_t PackBf16(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return static_cast<uint32_t>(__bfloat16_as_ushort(pair.x)) |
         static_cast<uint32_t>(__bfloat16_as_ushort(pair.y)) << 16;
}
__device__ __forceinline__ uint32_t PackF16(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return static_cast<uint32_t>(__half_as_ushort(pair.x)) | static_cast<uint32_t>(__half_as_ushort(pair.y))
                                                               << 16;
}
__device__ __forceinline__ float2 UnpackBf16(uint32_t pair) {
  return {__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000)};
}
__device__ __forceinline__ float2 UnpackF16(uint32_t pair) {
  return {__half2float(__ushort_as_half(static_cast<unsigned short>(pair))),
          __half2float(__ushort_as_half(static_cast<unsigned short>(pair >> 16)))};
}
__device__ __forceinline__ uint32_t FmaBf16(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
__device__ __forceinline__ uint32_t MaskedOr(uint32_t a, uint32_t mask, uint32_t bits) {
  uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(d) : "r"(a), "r"(mask), "r"(bits));
  return d;
}
__device__ __forceinline__ uint32_t TakeBytes(uint32_t word, uint32_t places) {
  return __byte_perm(word, 0, places);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GPU_WORDS_H_
