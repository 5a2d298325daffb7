// How much memory the machine has for this process.
#ifndef PARLEY_RUNTIME_AVAILABLE_MEMORY_H_
#define PARLEY_RUNTIME_AVAILABLE_MEMORY_H_

#include <cstddef>
#include <string>

namespace parley::runtime {

// Bytes that could be taken now without swapping: of the machine, and of the control group that this
// process is in. Pages of mapped files count as free: they are given back when they are needed.
// `root`: of /proc and /sys, for tests. SIZE_MAX where neither can be read.
size_t AvailableMemory(const std::string& root = "");

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_AVAILABLE_MEMORY_H_
