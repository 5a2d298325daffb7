// How much memory streams and voices may take, so that a request is refused or
// waits before it takes any.
#ifndef PARLEY_RUNTIME_MEMORY_BUDGET_H_
#define PARLEY_RUNTIME_MEMORY_BUDGET_H_

#include <cstddef>
#include <string>

namespace parley::runtime {

// Of the machine, in bytes, for one more use: what is available of it and of the
// control groups that this process is in. `root`: where /proc and /sys are, for tests.
size_t AvailableMemory(const std::string& root = "");

// The limit for streams and voices: what was configured, or else three quarters of what
// is available once `resident_later` bytes of mapped weights have come in.
size_t MemoryLimit(size_t configured, size_t available, size_t resident_later);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_MEMORY_BUDGET_H_
