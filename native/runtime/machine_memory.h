// The machine's memory: how much this process can take, and on which NUMA node it lies.
#ifndef PARLEY_RUNTIME_MACHINE_MEMORY_H_
#define PARLEY_RUNTIME_MACHINE_MEMORY_H_

#include <cstddef>
#include <string>

namespace parley::runtime {

// Sets the preferred NUMA node of the calling thread, and of threads that it starts from now on. Memory that
// they touch first comes from `node` while there is some, else from another. Memory already in place stays
// there: pages of a mapped file are where they were first read. Throws std::invalid_argument when the node
// has no memory for this process.
//
// A system that does not let a process choose (containers often do not) leaves the thread with the memory of
// the node that it runs on. For a thread pinned to the node's cores that is the same.
void PreferMemoryOf(int node);

// Returns the bytes that this process can allocate now without swapping, within the machine's memory and the
// limits of its control group. Pages of mapped files count as free: they are given back when they are needed.
// `root` replaces the root of /proc and /sys in tests. Returns SIZE_MAX if neither can be read.
size_t AvailableMemory(const std::string& root = "");

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_MACHINE_MEMORY_H_
