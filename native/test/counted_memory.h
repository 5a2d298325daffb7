// How often memory was asked for so far, in programs with counted_memory.cc: it has their operator new and calloc.
#ifndef PARLEY_TEST_COUNTED_MEMORY_H_
#define PARLEY_TEST_COUNTED_MEMORY_H_

#include <cstddef>

namespace parley::test {

struct AllocationCounts {
  size_t own;  // of this thread
  size_t all;  // of all threads
};

AllocationCounts Allocations();

}  // namespace parley::test

#endif  // PARLEY_TEST_COUNTED_MEMORY_H_
