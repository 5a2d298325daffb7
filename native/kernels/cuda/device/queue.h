// Records the next work as a list of grids (kernel launches). A list runs as it stands, or as one CUDA graph
// if the same list ran before.
//
// Lists are the same if their kernels, shapes and arguments are the same, byte for byte. Steps with any
// number of streams should make few lists. A number that changes from step to step (a count, a position, a
// host array) is therefore never a kernel argument. It lies in the list's data, whose place depends only on
// the numbers' buckets. A grid is as large as its bucket needs, and threads beyond the count return at once.
#ifndef PARLEY_KERNELS_CUDA_QUEUE_H_
#define PARLEY_KERNELS_CUDA_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace parley::cuda {

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
  uint32_t threads = 128;  // per block, in x
  uint32_t shared = 0;     // bytes that SharedBytes() has
};

// A kernel as a device starts it.
struct KernelEntry {
  const void* function;               // CUDA runtime's function
  void (*emulate)(const void* args);  // one thread of it, on the emulator; null where there is a GPU
  size_t args_bytes;
  const char* name;
  uint32_t cluster;  // blocks that run together, or kAllBlocks
};

constexpr uint32_t kAllBlocks = 0;  // all blocks of the grid: they wait for each other

// Blocks of a cluster: Args::kCluster, or one.
template <class Args, class = void>
struct ClusterOf : std::integral_constant<uint32_t, 1> {};
template <class Args>
struct ClusterOf<Args, std::void_t<decltype(Args::kCluster)>>
    : std::integral_constant<uint32_t, Args::kCluster> {};

template <class Args>
constexpr size_t ArgsBytesOf(void (*)(Args)) {
  return sizeof(Args);
}
template <class Args>
Args ArgsOf(void (*)(Args));

// Entry for a kernel `void Kernel(Args)`. Args is plain data without pointers to the host.
template <auto kKernel>
const KernelEntry& EntryOf() {
#ifdef __CUDACC__
  static const KernelEntry entry{reinterpret_cast<const void*>(kKernel), nullptr, ArgsBytesOf(kKernel),
                                 __PRETTY_FUNCTION__,
                                 ClusterOf<std::remove_const_t<decltype(ArgsOf(kKernel))>>::value};
#else
  static const KernelEntry entry{nullptr,
                                 [](const void* args) {
                                   using Args = std::remove_const_t<decltype(ArgsOf(kKernel))>;
                                   Args aligned;  // arguments in a list are not aligned
                                   std::memcpy(static_cast<void*>(&aligned), args, sizeof(Args));
                                   kKernel(aligned);
                                 },
                                 ArgsBytesOf(kKernel), __PRETTY_FUNCTION__,
                                 ClusterOf<std::remove_const_t<decltype(ArgsOf(kKernel))>>::value};
#endif
  return entry;
}

// The smallest of 1, 2, 3, 4, 6, 8, 12, 16, 24, ... (2^n and 3 * 2^n) that is not less: closed under
// doubling. Above 1024 of the powers of two alone. 0 stays 0.
constexpr size_t BucketOf(size_t count) {
  if (count <= 1) return count;
  size_t power = 1;
  while (power < count) power *= 2;
  const size_t between = power / 4 * 3;
  return count <= 1024 && power >= 4 && between >= count ? between : power;
}

class Queue {
 public:
  virtual ~Queue() = default;

  // A piece of a list's data: where the host writes it, and where kernels read it.
  struct DataPlace {
    void* host;
    const void* device;
  };

  // Records the next grid. Pointers in `args` refer to device memory. That memory outlives the list unless it
  // came from Data(). An array of structs must be the last member and have no padding: GCC 12's
  // __builtin_clear_padding loses its place behind one.
  template <auto kKernel, class Args>
  void Launch(const Grid& grid, const Args& args) {
    static_assert(std::is_trivially_copyable_v<Args>);
    static_assert(sizeof(Args) == ArgsBytesOf(kKernel));
    // Lists are compared byte for byte: what lies between the members must not differ.
    Args cleared = args;
    __builtin_clear_padding(&cleared);
    Add(EntryOf<kKernel>(), grid, &cleared);
  }

  // Data of this list: a copy of `count` values, with room for `room` (>= count), as the kernels of this list
  // see it. Aligned to 16 bytes.
  template <class Value>
  const Value* Data(const Value* values, size_t count, size_t room) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (count > room) throw std::logic_error("more data than there is room for");
    const DataPlace place = AddRoom(room * sizeof(Value));
    if (count > 0) std::memcpy(place.host, values, count * sizeof(Value));
    return static_cast<const Value*>(place.device);
  }
  // Room for such data, which the caller writes before it asks for anything else.
  template <class Value>
  struct Written {
    Value* host;
    const Value* device;
  };
  template <class Value>
  Written<Value> DataRoom(size_t room) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const DataPlace place = AddRoom(room * sizeof(Value));
    return {static_cast<Value*>(place.host), static_cast<const Value*>(place.device)};
  }
  template <class Value>
  const Value* Data(const Value& value) {
    return Data(&value, 1, 1);
  }

 protected:
  virtual void Add(const KernelEntry& entry, const Grid& grid, const void* args) = 0;
  virtual DataPlace AddRoom(size_t bytes) = 0;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_QUEUE_H_
