#!/usr/bin/env bash
# The CUDA backend beside the addon: native/build/Release/parley_cuda.so, which the engine loads where an NVIDIA
# driver answers. Skipped where there is no nvcc. PARLEY_CUDA_ARCHITECTURES=90a compiles for one kind of GPU alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if ! command -v nvcc >/dev/null && [ ! -x "${CUDA_PATH:-${CUDA_HOME:-/usr/local/cuda}}/bin/nvcc" ]; then
  echo "cuda: skipped, there is no nvcc"
  exit 0
fi
./drop-moved-build.sh build-cuda
cmake -S . -B build-cuda -DPARLEY_CUDA=ON -DPARLEY_TESTS=OFF \
  -DPARLEY_CUDA_ARCHITECTURES="${PARLEY_CUDA_ARCHITECTURES:-80;89;90a;120}"
cmake --build build-cuda --target parley_cuda --parallel "$(nproc)"
mkdir -p build/Release
cp build-cuda/parley_cuda.so build/Release/
echo "cuda: native/build/Release/parley_cuda.so"
