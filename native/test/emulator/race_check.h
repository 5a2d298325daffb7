// Under ThreadSanitizer the threads of an emulated block are threads for it too: two of them that touch the
// same memory without a barrier between them are reported, whichever ran first. They are ordered by what
// orders them on a GPU: barriers of a block, a warp or some of its threads, and mbarriers; atomics too, taken
// to order as their fences would; of products of tiles AwaitTiles, for the whole warpgroup, as the hardware
// has it. A shuffle or a vote does not order, nor do words that blocks tell each other. cp.async is the
// thread's own until it meets others.
//
// Not looked for: races of blocks that run one after the other, and of grids; fences between proxies
// (FenceAsyncProxy, FenceBarriers); registers that wgmma still writes; whether an atomic's fence is there.
// A kernel says where it does on purpose what would be reported: StoreSame, LoadsAhead, LanesHaveLoaded
// (intrinsics.h). Stores of the same are compared, and refused if they are not.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_RACE_CHECK_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_RACE_CHECK_H_

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(char* file, int line);
void AnnotateIgnoreReadsEnd(char* file, int line);
void AnnotateIgnoreWritesBegin(char* file, int line);
void AnnotateIgnoreWritesEnd(char* file, int line);
void __tsan_acquire(void* at);
void __tsan_release(void* at);
void __tsan_read_range(void* from, unsigned long bytes);
void __tsan_write_range(void* to, unsigned long bytes);
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif

namespace parley::cuda::emulator::races {

#if defined(__SANITIZE_THREAD__)

constexpr bool kAreChecked = true;

inline void Ignore() {
  AnnotateIgnoreReadsBegin(nullptr, 0);
  AnnotateIgnoreWritesBegin(nullptr, 0);
}
inline void See() {
  AnnotateIgnoreWritesEnd(nullptr, 0);
  AnnotateIgnoreReadsEnd(nullptr, 0);
}

// While one is there, this thread's accesses are the emulator's own, and not looked at. May be nested.
class Unseen {
 public:
  Unseen() { Ignore(); }
  ~Unseen() { See(); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

// Within an Unseen: what this thread itself does after all.
class Seen {
 public:
  Seen() { See(); }
  ~Seen() { Ignore(); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;
};

inline void Release(const void* at) { __tsan_release(const_cast<void*>(at)); }
inline void Acquire(const void* at) { __tsan_acquire(const_cast<void*>(at)); }

// To where others may store the same at this time.
inline void StoreWithOthers(uint32_t* to, uint32_t value) { __atomic_store_n(to, value, __ATOMIC_RELAXED); }

// Accesses that a copy engine or a tensor core makes for the running thread. It must not be Unseen.
inline void Reads(const void* from, size_t bytes) { __tsan_read_range(const_cast<void*>(from), bytes); }
inline void Writes(void* to, size_t bytes) { __tsan_write_range(to, bytes); }

// While one is there, what this thread loads is for nothing if others write it already.
class UnseenLoads {
 public:
  UnseenLoads() { AnnotateIgnoreReadsBegin(nullptr, 0); }
  ~UnseenLoads() { AnnotateIgnoreReadsEnd(nullptr, 0); }
  UnseenLoads(const UnseenLoads&) = delete;
  UnseenLoads& operator=(const UnseenLoads&) = delete;
};

// The sanitizer's fiber for the running thread. A new one is Unseen until it begins.
inline void* Current() { return __tsan_get_current_fiber(); }
inline void Become(void* who) { __tsan_switch_to_fiber(who, 1); }  // 1: without any order
inline void* NewThread() {
  void* const before = Current();
  void* const made = __tsan_create_fiber(0);
  Become(made);
  Ignore();
  Become(before);
  return made;
}

#else

constexpr bool kAreChecked = false;
struct Unseen {
  Unseen() {}
};
struct Seen {
  Seen() {}
};
struct UnseenLoads {
  UnseenLoads() {}
};
inline void Release(const void*) {}
inline void Acquire(const void*) {}
inline void StoreWithOthers(uint32_t* to, uint32_t value) { *to = value; }
inline void Reads(const void*, size_t) {}
inline void Writes(void*, size_t) {}
inline void* Current() { return nullptr; }
inline void Become(void*) {}
inline void* NewThread() { return nullptr; }

#endif

}  // namespace parley::cuda::emulator::races

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_RACE_CHECK_H_
