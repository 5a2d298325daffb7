#include "runtime/memory_node.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace parley::runtime {
namespace {

constexpr int kPreferred = 1;    // MPOL_PREFERRED of <linux/mempolicy.h>
constexpr size_t kNodes = 1024;  // the most that Linux is built for
constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;

}  // namespace

void PreferMemoryOf(int node) {
  const auto bit = static_cast<size_t>(node);
  bool none = node < 0 || bit >= kNodes;
#ifdef SYS_set_mempolicy
  unsigned long nodes[kNodes / kWordBits] = {};
  if (!none) {
    nodes[bit / kWordBits] |= 1UL << bit % kWordBits;
    // The kernel reads one bit less than it is told.
    none = syscall(SYS_set_mempolicy, kPreferred, nodes, kNodes + 1) != 0 && errno == EINVAL;
  }
#endif
  if (none) throw std::invalid_argument("NUMA node " + std::to_string(node) + " has no memory for this process");
}

}  // namespace parley::runtime
