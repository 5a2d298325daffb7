// Checks that a wait inside a grid for an event that never comes ends: the device must be lost within
// seconds.
//
//   lost_wait
//
// Every wait of a kernel hangs by one that has a bound (kernels/cuda/products/tile_intrinsics.h): here one
// warp waits so, as who asks for tiles does, and the others without one, as who multiplies does. GPUs other
// than 9.0 have no such waits.
#include <chrono>
#include <cstdio>
#include <exception>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/recorder.h"
#include "kernels/cuda/products/tile_intrinsics.h"

namespace parley::cuda {
namespace {

constexpr double kSoonest = 4, kLatest = 10;  // seconds: the bound is one of 4.3 to 8.6

struct LostArgs {
  uint32_t arrivals;  // one more than there are
};

__global__ void WaitForNobody(const LostArgs args) {
  GridDependencyWait();
  if constexpr (kHasTiles) {
    __shared__ Barrier barrier;
    if (threadIdx.x == 0) {
      InitBarrier(&barrier, args.arrivals);
      FenceBarriers();
      Arrive(&barrier);
    }
    __syncthreads();
    if (threadIdx.x < 32) AwaitPhaseOrTrap(&barrier, 0);
    else AwaitPhase(&barrier, 0);
  }
}

// Seconds until the device was lost; 0: it was not.
double SecondsToLoss(Device& device) {
  RecorderOptions options;
  options.graphs = false;
  Recorder recorder(device, options);
  const auto began = std::chrono::steady_clock::now();
  try {
    recorder.Launch<&WaitForNobody>({2, 1, 1, 128, 0}, LostArgs{2});
    recorder.Wait();
    return 0;
  } catch (const DeviceLost& lost) {
    std::printf("%s\n", lost.what());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace
}  // namespace parley::cuda

int main() {
  using namespace parley::cuda;
  try {
    const auto device = OpenGpu({0});
    if (device->Facts().major != 9 || device->Facts().minor != 0)
      return std::printf("skipped: the GPU is not one of 9.0\n"), 0;
    const double seconds = SecondsToLoss(*device);
    const bool is_right = seconds > kSoonest && seconds < kLatest;
    std::printf("%s after %.1f s, %.0f to %.0f are right\n", seconds > 0 ? "lost" : "NOT LOST", seconds,
                kSoonest, kLatest);
    return is_right ? 0 : 1;
  } catch (const std::exception& problem) {
    return std::fprintf(stderr, "lost_wait: %s\n", problem.what()), 1;
  }
}
