#include "test/emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace parley::cuda::emulator {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = 512 << 10;
#else
constexpr size_t kStackBytes = 128 << 10;
#endif

// The place that was left last, from which the arriving fiber learns the stack it came from.
Place* left = nullptr;

}  // namespace

#if defined(__x86_64__) && !defined(PARLEY_UCONTEXT)
// Keeps the registers that a function must keep on the stack that is left, and takes those of the other one.
// Unlike swapcontext it asks the system nothing: a grid changes places millions of times. Floating-point
// modes are the same on all stacks.
extern "C" void parley_emulator_change_stack(void** from, void* to);
asm(R"(
  .text
  .type parley_emulator_change_stack, @function
parley_emulator_change_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size parley_emulator_change_stack, .-parley_emulator_change_stack
)");
#endif

// Below each stack lies a page that cannot be touched.
Fiber::Fiber() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, kStackBytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  mprotect(memory_, page, PROT_NONE);
  place.bottom = memory_ + page;
  place.bytes = kStackBytes;
}

Fiber::~Fiber() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  munmap(memory_, kStackBytes + page);
}

void Fiber::Begin(void (*body)()) {
  char* bottom = static_cast<char*>(const_cast<void*>(place.bottom));
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(bottom, place.bytes);
  place.shadow = nullptr;
#endif
#if defined(__x86_64__) && !defined(PARLEY_UCONTEXT)
  // A function begins 8 bytes past a multiple of 16, where its return address (none) lies.
  void** top = reinterpret_cast<void**>(bottom + place.bytes);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(body);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  place.stack_pointer = top;
#else
  getcontext(&place.context);
  place.context.uc_stack.ss_sp = bottom;
  place.context.uc_stack.ss_size = place.bytes;
  place.context.uc_link = nullptr;
  makecontext(&place.context, body, 0);
#endif
}

void Arrive(Place& here) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(here.shadow, &left->bottom, &left->bytes);
#endif
  (void)here;
}

void Go(Place& from, Place& to) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.shadow, to.bottom, to.bytes);
#endif
  left = &from;
#if defined(__x86_64__) && !defined(PARLEY_UCONTEXT)
  parley_emulator_change_stack(&from.stack_pointer, to.stack_pointer);
#else
  swapcontext(&from.context, &to.context);
#endif
  Arrive(from);
}

}  // namespace parley::cuda::emulator
