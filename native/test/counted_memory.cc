// See counted_memory.h.
#include "test/counted_memory.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace parley::test {
namespace {

thread_local size_t own = 0;
std::atomic<size_t> all{0};
thread_local size_t until_failure = 0;  // 0: none fails

bool Fails() { return until_failure > 0 && --until_failure == 0; }

void Count() {
  own++;
  all.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

AllocationCounts Allocations() { return {own, all}; }

FailingMemory::FailingMemory(size_t after) { until_failure = after + 1; }
FailingMemory::~FailingMemory() { until_failure = 0; }
bool FailingMemory::has_failed() const { return until_failure == 0; }

}  // namespace parley::test

// Not inlined: the compiler would take them for a mismatch.
#define PARLEY_COUNTED __attribute__((noinline))

PARLEY_COUNTED void* operator new(size_t bytes) {
  parley::test::Count();
  if (parley::test::Fails()) throw std::bad_alloc();
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
PARLEY_COUNTED void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  parley::test::Count();
  return std::malloc(bytes);
}
PARLEY_COUNTED void operator delete(void* memory) noexcept { std::free(memory); }
PARLEY_COUNTED void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// The backend's memory comes this way. A sanitizer has its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_calloc(size_t count, size_t bytes);
extern "C" void* calloc(size_t count, size_t bytes) {
  parley::test::Count();
  return __libc_calloc(count, bytes);
}
#endif
