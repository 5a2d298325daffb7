// Room for what a call of the GPU's backend computes on its way, of the exact size and poisoned, so that the
// tests notice what is read before it is written, or beyond.
#ifndef PARLEY_TEST_CUDA_ROOM_H_
#define PARLEY_TEST_CUDA_ROOM_H_

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "kernels/cuda/products/products.cuh"

namespace parley::test {

class TestRoom : public cuda::Room {
 public:
  TestRoom() { rules.wide = true; }
  void* AtLeast(size_t bytes) override {
    void* memory = nullptr;
    if (posix_memalign(&memory, 256, bytes) != 0) throw std::bad_alloc();
    pieces_.emplace_back(memory);
    std::memset(memory, 0xff, bytes);
    return memory;
  }

 private:
  struct Release {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Release>> pieces_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_CUDA_ROOM_H_
