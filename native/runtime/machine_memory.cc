#include "runtime/machine_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

namespace parley::runtime {
namespace {

// Reads the number in a file; nullopt for "max" or if there is no such file.
std::optional<size_t> NumberIn(const std::string& path) {
  std::ifstream file(path);
  size_t number = 0;
  return file >> number ? std::optional<size_t>(number) : std::nullopt;
}

// Number of the line "key number" or "key: number kB".
std::optional<size_t> NumberIn(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    size_t number = 0;
    if (words >> name >> number && (name == key || name == key + ":")) return number;
  }
  return std::nullopt;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* mapped[2];  // keys in memory.stat: memory that is reclaimed when it is needed
};
constexpr GroupFiles kVersion1 = {
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", {"inactive_file", "active_file"}};

size_t LeftIn(const std::string& group, const GroupFiles& files) {
  const auto limit = NumberIn(group + "/" + files.limit), usage = NumberIn(group + "/" + files.usage);
  if (!limit || !usage) return SIZE_MAX;
  size_t mapped = 0;
  for (const char* const key : files.mapped) mapped += NumberIn(group + "/memory.stat", key).value_or(0);
  const size_t used = *usage - std::min(*usage, mapped);
  return *limit - std::min(*limit, used);
}

// A group's limit also holds for the groups below it. In a container the path may be that of the host: then
// only the top exists, which is the container's own.
size_t LeftAbove(const std::string& top, std::string path, const GroupFiles& files) {
  size_t left = SIZE_MAX;
  while (true) {
    left = std::min(left, LeftIn(top + path, files));
    if (path.empty()) return left;
    path.resize(path.find_last_of('/'));
  }
}

size_t LeftInGroups(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  size_t left = SIZE_MAX;
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path == "/" || path.empty() || path[0] != '/') path.clear();
    if (controllers == ",,") left = std::min(left, LeftAbove(root + "/sys/fs/cgroup", path, kVersion2));
    if (controllers.find(",memory,") == std::string::npos) continue;
    left = std::min(left, LeftAbove(root + "/sys/fs/cgroup/memory", path, kVersion1));
  }
  return left;
}

}  // namespace

size_t AvailableMemory(const std::string& root) {
  const auto kilobytes = NumberIn(root + "/proc/meminfo", "MemAvailable");
  return std::min(kilobytes ? *kilobytes * 1024 : SIZE_MAX, LeftInGroups(root));
}

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
    // The kernel reads one bit less than the number passed.
    none = syscall(SYS_set_mempolicy, kPreferred, nodes, kNodes + 1) != 0 && errno == EINVAL;
  }
#endif
  if (none)
    throw std::invalid_argument("NUMA node " + std::to_string(node) + " has no memory for this process");
}

}  // namespace parley::runtime
