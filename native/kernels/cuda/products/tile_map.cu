#include "kernels/cuda/products/tile_map.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace parley::cuda {
namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// The driver's cuTensorMapEncodeTiled, looked up at run time because the driver is not linked.
Encode TheEncoder() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  constexpr unsigned int kSince = 12000;
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, kSince, cudaEnableDefault, &found);
  if (result != cudaSuccess || found != cudaDriverEntryPointSuccess)
    throw std::invalid_argument("the NVIDIA driver cannot copy tiles");
  return reinterpret_cast<Encode>(entry);
}

}  // namespace

TileMap TileMapOf(const TileShape& shape) {
  static const Encode encode = TheEncoder();
  const cuuint64_t extents[4] = {shape.extents[0], shape.extents[1], shape.extents[2], shape.extents[3]};
  const cuuint64_t strides[3] = {shape.strides[0], shape.strides[1], shape.strides[2]};
  const cuuint32_t box[4] = {shape.box[0], shape.box[1], shape.box[2], shape.box[3]}, each[4] = {1, 1, 1, 1};
  CUtensorMap made;
  const CUresult result = encode(&made, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, const_cast<void*>(shape.values),
                                 extents, strides, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 shape.box[0] == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::invalid_argument("a shape of tiles cannot be (" + std::to_string(result) + ")");
  TileMap map;
  static_assert(sizeof made == sizeof map);
  std::memcpy(&map, &made, sizeof map);
  return map;
}

}  // namespace parley::cuda
