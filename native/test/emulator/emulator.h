// Runs kernels on the host, for tests: blocks (or clusters, or all of a grid that wait for each other) one
// after the other, the threads of a block as fibers that change places where they meet. A thread that ends
// without meeting another costs a function call.
//
// The emulator refuses, with the kernel's name, code that would fail or hang on a GPU: a barrier that not all
// living threads of a block reach, a warp function whose mask names lanes that do not come, more threads or
// shared memory than a block may have, inputs that were not awaited.
//
// Under ThreadSanitizer races among threads that run together are reported too (race_check.h).
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_EMULATOR_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_EMULATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/device/queue.h"

namespace parley::cuda::emulator {

class Refused : public std::logic_error {
  using std::logic_error::logic_error;
};

// Order in which blocks run, and threads begin and continue after a barrier. A result that depends on it
// lacks a barrier.
enum class Order : uint8_t { kForward, kBackward, kShuffled };

struct Rules {
  Order order = Order::kForward;
  uint64_t seed = 1;                // for kShuffled
  size_t most_shared = 227 * 1024;  // bytes; what a block may have on 9.0
};

// One grid, to its end. Grids of several host threads wait for each other.
void Run(const KernelEntry& entry, const Grid& grid, const void* args, const Rules& rules);

// "Name<...>" of an entry.
std::string NameOf(const KernelEntry& entry);

// Every grid runs when it is launched. Data is poisoned where it is not written, exactly as large as its
// room, and there until Clear().
class Immediate : public Queue {
 public:
  explicit Immediate(const Rules& rules = {}) : rules_(rules) {}
  void Clear() { data_.clear(); }

 protected:
  void Add(const KernelEntry& entry, const Grid& grid, const void* args) override {
    Run(entry, grid, args, rules_);
  }
  DataPlace AddRoom(size_t bytes) override;

 private:
  struct Release {
    void operator()(void* memory) const;
  };

  Rules rules_;
  std::vector<std::unique_ptr<void, Release>> data_;
};

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_EMULATOR_H_
