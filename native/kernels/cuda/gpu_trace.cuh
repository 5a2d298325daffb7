// Where the time of grids goes, inside of graphs too: a build with PARLEY_CUDA_TRACE writes it to the file that the environment names so.
//
// A line for each grid, in the order in which they ran: its kernel, its blocks, ns from the inputs of the one before to its own, and
// how long before its inputs its first block was there.
#ifndef PARLEY_KERNELS_CUDA_GPU_TRACE_CUH_
#define PARLEY_KERNELS_CUDA_GPU_TRACE_CUH_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/gpu_words.h"

namespace parley::cuda {

__device__ ulonglong2 cuda_trace[kTraceLength];
__device__ uint32_t cuda_trace_count;

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

inline void WriteTrace() {
  const char* const path = std::getenv("PARLEY_CUDA_TRACE");
  if (path == nullptr) return;
  cudaDeviceSynchronize();
  uint32_t count = 0;
  cudaMemcpyFromSymbol(&count, cuda_trace_count, sizeof count);
  count = std::min(count, kTraceLength);
  std::vector<ulonglong2> times(count);
  cudaMemcpyFromSymbol(times.data(), cuda_trace, count * sizeof(ulonglong2));
  std::sort(times.begin(), times.end(), [](const ulonglong2& a, const ulonglong2& b) { return a.y < b.y; });
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return;
  const std::vector<TracedGrid>& grids = TracedGrids();
  for (size_t i = 0; i < std::min<size_t>(count, grids.size()); i++) {
    const unsigned long long next = i + 1 < count ? times[i + 1].y : times[i].y;
    std::fprintf(file, "%llu %llu %u,%u,%u %s\n", next - times[i].y, times[i].y - times[i].x, grids[i].grid.x, grids[i].grid.y,
                 grids[i].grid.z, grids[i].name);
  }
  std::fclose(file);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GPU_TRACE_CUH_
