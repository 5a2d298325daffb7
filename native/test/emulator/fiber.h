// A stack of its own and what runs on it.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_FIBER_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_FIBER_H_

#include <cstddef>
#if !defined(__x86_64__) || defined(PARLEY_UCONTEXT)
#include <ucontext.h>
#endif

namespace parley::cuda::emulator {

// A point of execution that can be resumed, in a Fiber or in the thread that began the fibers.
struct Place {
#if defined(__x86_64__) && !defined(PARLEY_UCONTEXT)
  void* stack_pointer = nullptr;
#else
  ucontext_t context;
#endif
  const void* bottom = nullptr;  // stack bottom; for a thread's own stack it is read at the first switch
  size_t bytes = 0;
  void* shadow = nullptr;  // AddressSanitizer's fake stack
};

class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // The next switch to the fiber begins `body`, which never returns. The contents of the stack are lost.
  void Begin(void (*body)());

  Place place;

 private:
  char* memory_;
};

// Leaves `from`, which is where this runs, for `to`.
void Go(Place& from, Place& to);
// The first that a body does.
void Arrive(Place& here);

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_FIBER_H_
