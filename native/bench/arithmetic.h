// Measures the machine's arithmetic, the bound of everything that multiplies matrices: multiply-adds that
// never leave the registers, the widest that there are.
#ifndef PARLEY_BENCH_ARITHMETIC_H_
#define PARLEY_BENCH_ARITHMETIC_H_

#include <cstddef>

#include "bench/reading.h"
#include "kernels/cpu/thread_pool.h"

namespace parley::bench {

#if defined(__x86_64__)
// Twelve sums, each in a register of its own: zmm has sixteen floats, ymm eight.
#define PARLEY_SUM(kind, n) "vfmadd231ps %%" kind "15, %%" kind "15, %%" kind #n "\n"
#define PARLEY_SUMS(kind)                                                                                    \
  asm volatile(PARLEY_SUM(kind, 0) PARLEY_SUM(kind, 1) PARLEY_SUM(kind, 2) PARLEY_SUM(kind, 3)               \
                   PARLEY_SUM(kind, 4) PARLEY_SUM(kind, 5) PARLEY_SUM(kind, 6) PARLEY_SUM(kind, 7)           \
                       PARLEY_SUM(kind, 8) PARLEY_SUM(kind, 9) PARLEY_SUM(kind, 10) PARLEY_SUM(kind, 11)::   \
                           : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", \
                             "xmm10", "xmm11")
__attribute__((target("avx512f"))) inline void WideMultiplyAdds(size_t times) {
  for (size_t i = 0; i < times; i++) PARLEY_SUMS("zmm");
}
__attribute__((target("avx2,fma"))) inline void MultiplyAdds(size_t times) {
  for (size_t i = 0; i < times; i++) PARLEY_SUMS("ymm");
}
#undef PARLEY_SUMS
#undef PARLEY_SUM
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
