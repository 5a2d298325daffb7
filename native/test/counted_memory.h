// Counts allocations so far, in programs linked with counted_memory.cc, which replaces operator new and
// calloc.
#ifndef PARLEY_TEST_COUNTED_MEMORY_H_
#define PARLEY_TEST_COUNTED_MEMORY_H_

#include <cstddef>

namespace parley::test {

struct AllocationCounts {
  size_t own;  // by this thread
  size_t all;  // by all threads
};

AllocationCounts Allocations();

}  // namespace parley::test

#endif  // PARLEY_TEST_COUNTED_MEMORY_H_
