// Profiler for grids, including those within CUDA graphs. A build with PARLEY_CUDA_TRACE writes the file that
// the environment variable PARLEY_CUDA_TRACE names.
//
// The file has a line for each grid, in the order in which they ran: ns from its inputs to those of the next
// grid, how long before its inputs its first block began, its number of blocks, its kernel. If a block's
// first thread requests weights, it does so before its inputs; in the tiled GEMM that thread requests all of
// the block's weights.
#ifndef PARLEY_KERNELS_CUDA_GPU_TRACE_CUH_
#define PARLEY_KERNELS_CUDA_GPU_TRACE_CUH_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/gpu_intrinsics.h"

namespace parley::cuda {

struct TracedGrid {
  const char* name;
  Grid grid;
};

inline std::vector<TracedGrid>& TracedGrids() {
  static std::vector<TracedGrid> grids;
  return grids;
}

inline void NoteTrace(const List& list) {
  for (const Node& node : list.nodes) TracedGrids().push_back({node.entry->name, node.grid});
}

inline Trace& TheTrace() {
  static Trace trace{};
  return trace;
}

// Before the first grid. Its 4 MB are the process's, which can trace one device.
inline cudaError_t BeginTrace(int device) {
  static const int traced = device;
  Trace& trace = TheTrace();
  if (trace.times != nullptr) return device == traced ? cudaSuccess : cudaErrorNotSupported;
  constexpr size_t kBytes = kTraceLength * sizeof(ulonglong2);
  void* memory = nullptr;
  if (const cudaError_t made = cudaMalloc(&memory, kBytes + sizeof(uint32_t)); made != cudaSuccess)
    return made;
  if (const cudaError_t cleared = cudaMemset(memory, 0, kBytes + sizeof(uint32_t)); cleared != cudaSuccess)
    return cleared;
  trace = {static_cast<ulonglong2*>(memory),
           reinterpret_cast<uint32_t*>(static_cast<char*>(memory) + kBytes)};
  for (const void* const symbol : TracesOfFiles()) {
    if (const cudaError_t copied = cudaMemcpyToSymbol(symbol, &trace, sizeof trace); copied != cudaSuccess)
      return copied;
  }
  return cudaDeviceSynchronize();
}

inline void WriteTrace() {
  const char* const path = std::getenv("PARLEY_CUDA_TRACE");
  if (path == nullptr || TheTrace().times == nullptr) return;
  cudaDeviceSynchronize();
  uint32_t count = 0;
  cudaMemcpy(&count, TheTrace().count, sizeof count, cudaMemcpyDeviceToHost);
  count = std::min(count, kTraceLength);
  std::vector<ulonglong2> times(count);
  cudaMemcpy(times.data(), TheTrace().times, count * sizeof(ulonglong2), cudaMemcpyDeviceToHost);
  std::sort(times.begin(), times.end(), [](const ulonglong2& a, const ulonglong2& b) { return a.y < b.y; });
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return;
  const std::vector<TracedGrid>& grids = TracedGrids();
  for (size_t i = 0; i < std::min<size_t>(count, grids.size()); i++) {
    const unsigned long long next = i + 1 < count ? times[i + 1].y : times[i].y;
    std::fprintf(file, "%llu %llu %u,%u,%u %s\n", next - times[i].y, times[i].y - times[i].x, grids[i].grid.x,
                 grids[i].grid.y, grids[i].grid.z, grids[i].name);
  }
  std::fclose(file);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GPU_TRACE_CUH_
