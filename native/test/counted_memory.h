// Counts allocations so far, and lets one fail, in programs linked with counted_memory.cc, which replaces
// operator new and calloc.
#ifndef PARLEY_TEST_COUNTED_MEMORY_H_
#define PARLEY_TEST_COUNTED_MEMORY_H_

#include <cstddef>

namespace parley::test {

struct AllocationCounts {
  size_t own;  // by this thread
  size_t all;  // by all threads
};

AllocationCounts Allocations();

// While it lives, operator new of this thread throws std::bad_alloc once: after so many allocations.
class FailingMemory {
 public:
  explicit FailingMemory(size_t after);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  bool has_failed() const;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_COUNTED_MEMORY_H_
