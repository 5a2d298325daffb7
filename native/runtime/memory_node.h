// On which NUMA node a thread's memory lies, where a machine has several.
#ifndef PARLEY_RUNTIME_MEMORY_NODE_H_
#define PARLEY_RUNTIME_MEMORY_NODE_H_

namespace parley::runtime {

// Memory that the calling thread, and threads that it starts from now on, are the first to touch comes
// from `node` while there is some, else from another. What lies somewhere already stays there: pages of a mapped
// file are where they were first read. Throws std::invalid_argument when the node has no
// memory for this process.
//
// A system that does not let a process choose (containers often do not) leaves the thread with the
// memory of the node that it runs on: for a thread that is pinned to the node's cores, the same.
void PreferMemoryOf(int node);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_MEMORY_NODE_H_
