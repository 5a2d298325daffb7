// What is to be computed next, as a list of grids: run as it stands, or where the same list was
// run before as one CUDA graph.
//
// A list is the same when its kernels, shapes and arguments are the same, byte for byte. So that steps of any number of
// streams make few lists, a number that changes from step to step (a count, a position, an array of the host) is no
// argument of a kernel: it lies in the list's data, whose place only depends on the numbers' buckets, and a grid is as large as
// its bucket needs. Threads beyond the count end at once.
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
  uint32_t threads = 128;  // of a block, in x
  uint32_t shared = 0;     // bytes that SharedBytes() has
};

// A kernel as a device starts it.
struct KernelEntry {
  const void* function;               // of the CUDA runtime
  void (*emulate)(const void* args);  // one thread of it, on the emulator; null where there is a GPU
  size_t args_bytes;
  const char* name;
  uint32_t cluster;  // blocks that run together, or kAllBlocks
};

constexpr uint32_t kAllBlocks = 0;  // of a grid: they wait for each other

// As Args::kCluster says, or one.
template <class Args, class = void>
struct ClusterOf : std::integral_constant<uint32_t, 1> {};
template <class Args>
struct ClusterOf<Args, std::void_t<decltype(Args::kCluster)>> : std::integral_constant<uint32_t, Args::kCluster> {};

template <class Args>
constexpr size_t ArgsBytesOf(void (*)(Args)) {
  return sizeof(Args);
}
template <class Args>
Args ArgsOf(void (*)(Args));

// Of a kernel `void Kernel(Args)`, Args plain data without pointers to the host.
template <auto kKernel>
const KernelEntry& EntryOf() {
#ifdef __CUDACC__
  static const KernelEntry entry{reinterpret_cast<const void*>(kKernel), nullptr, ArgsBytesOf(kKernel), __PRETTY_FUNCTION__,
                                 ClusterOf<std::remove_const_t<decltype(ArgsOf(kKernel))>>::value};
#else
  static const KernelEntry entry{nullptr,
                                 [](const void* args) {
                                   using Args = std::remove_const_t<decltype(ArgsOf(kKernel))>;
                                   Args aligned;  // those in a list are not
                                   std::memcpy(static_cast<void*>(&aligned), args, sizeof(Args));
                                   kKernel(aligned);
                                 },
                                 ArgsBytesOf(kKernel), __PRETTY_FUNCTION__, ClusterOf<std::remove_const_t<decltype(ArgsOf(kKernel))>>::value};
#endif
  return entry;
}

// The smallest of 1, 2, 3, 4, 6, 8, 12, 16, 24, ... (2^n and 3 * 2^n) that is not less: closed under doubling. Above 1024
// of the powers of two alone. 0 stays 0.
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

  // Of data: where it is written, and where kernels see it.
  struct DataPlace {
    void* host;
    const void* device;
  };

  // The next grid. What `args` points at is the device's memory, and outlives the list where it is not from Data(). An array
  // of structs can only be its last member, and be without gaps: GCC 12's __builtin_clear_padding loses its place behind one.
  template <auto kKernel, class Args>
  void Launch(const Grid& grid, const Args& args) {
    static_assert(std::is_trivially_copyable_v<Args>);
    static_assert(sizeof(Args) == ArgsBytesOf(kKernel));
    // Lists are compared byte for byte: what lies between the members must not differ.
    Args cleared = args;
    __builtin_clear_padding(&cleared);
    Add(EntryOf<kKernel>(), grid, &cleared);
  }

  // Data of this list: a copy of `count` values, with room for `room` (>= count), as the kernels of this list see
  // it. Aligned to 16 bytes.
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
