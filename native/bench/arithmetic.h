// Measures the machine's arithmetic, the bound of everything that multiplies matrices: multiply-adds that
// never leave the registers, the widest that there are.
#ifndef PARLEY_BENCH_ARITHMETIC_H_
#define PARLEY_BENCH_ARITHMETIC_H_

#include <cstddef>

#include "bench/reading.h"
#include "kernels/cpu/thread_pool.h"

namespace parley::bench {

#if defined(__x86_64__)
// Adds to twelve sums, each in a register of sixteen floats.
__attribute__((target("avx512f"))) inline void WideMultiplyAdds(size_t times) {
  for (size_t i = 0; i < times; i++) {
    asm volatile(
        "vfmadd231ps %%zmm15, %%zmm15, %%zmm0\n vfmadd231ps %%zmm15, %%zmm15, %%zmm1\n"
        "vfmadd231ps %%zmm15, %%zmm15, %%zmm2\n vfmadd231ps %%zmm15, %%zmm15, %%zmm3\n"
        "vfmadd231ps %%zmm15, %%zmm15, %%zmm4\n vfmadd231ps %%zmm15, %%zmm15, %%zmm5\n"
        "vfmadd231ps %%zmm15, %%zmm15, %%zmm6\n vfmadd231ps %%zmm15, %%zmm15, %%zmm7\n"
        "vfmadd231ps %%zmm15, %%zmm15, %%zmm8\n vfmadd231ps %%zmm15, %%zmm15, %%zmm9\n"
        "vfmadd231ps %%zmm15, %%zmm15, %%zmm10\n vfmadd231ps %%zmm15, %%zmm15, %%zmm11\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
              "xmm11");
  }
}
// Adds to twelve sums, each in a register of eight floats.
__attribute__((target("avx2,fma"))) inline void MultiplyAdds(size_t times) {
  for (size_t i = 0; i < times; i++) {
    asm volatile(
        "vfmadd231ps %%ymm15, %%ymm15, %%ymm0\n vfmadd231ps %%ymm15, %%ymm15, %%ymm1\n"
        "vfmadd231ps %%ymm15, %%ymm15, %%ymm2\n vfmadd231ps %%ymm15, %%ymm15, %%ymm3\n"
        "vfmadd231ps %%ymm15, %%ymm15, %%ymm4\n vfmadd231ps %%ymm15, %%ymm15, %%ymm5\n"
        "vfmadd231ps %%ymm15, %%ymm15, %%ymm6\n vfmadd231ps %%ymm15, %%ymm15, %%ymm7\n"
        "vfmadd231ps %%ymm15, %%ymm15, %%ymm8\n vfmadd231ps %%ymm15, %%ymm15, %%ymm9\n"
        "vfmadd231ps %%ymm15, %%ymm15, %%ymm10\n vfmadd231ps %%ymm15, %%ymm15, %%ymm11\n" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
              "xmm11");
  }
}
inline bool HasWideRegisters() { return __builtin_cpu_supports("avx512f") != 0; }
#else
inline void WideMultiplyAdds(size_t) {}
inline void MultiplyAdds(size_t) {}
inline bool HasWideRegisters() { return false; }
#endif

// Seconds for 10^9 operations on each of the threads.
inline double SecondsPerGiga(cpu::ThreadPool* pool) {
  constexpr size_t kTimes = 100'000;
  const bool is_wide = HasWideRegisters();
  const double operations = 2.0 * 12 * (is_wide ? 16 : 8);
  const double start = Now();
  pool->Run([is_wide](unsigned) { is_wide ? WideMultiplyAdds(kTimes) : MultiplyAdds(kTimes); });
  return (Now() - start) / (kTimes * operations / 1e9);
}

}  // namespace parley::bench

#endif  // PARLEY_BENCH_ARITHMETIC_H_
