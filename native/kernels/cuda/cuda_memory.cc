// Memory of the CUDA backend. Small copies go with the list, many as one grid; large ones are asked of the device.
#include <algorithm>

#include "kernels/cuda/copies.cuh"
#include "kernels/cuda/cuda_kernels.h"

namespace parley::cuda {
namespace {

constexpr size_t kLarge = 256 << 10;  // bytes
constexpr size_t kOverlapRoom = 1 << 20;

}  // namespace

CudaKernels::CudaKernels(std::unique_ptr<Device> device, const RecorderOptions& options)
    : device_(std::move(device)),
      name_("cuda " + device_->Facts().name + ", " + std::to_string(device_->Facts().multiprocessors) + " multiprocessors"),
      room_(*device_),
      parts_(*device_),
      arrivals_(*device_),
      recorder_(*device_, options) {}

CudaKernels::~CudaKernels() = default;

void* CudaKernels::Allocate(size_t bytes) { return device_->Allocate(bytes); }

// What was asked for may still use it.
void CudaKernels::Free(void* memory) {
  if (memory == nullptr) return;
  try {
    Submit();
  } catch (const DeviceLost&) {
    // As the next call that may throw will say.
  }
  device_->Free(memory);
}

Queue& CudaKernels::Next() {
  EnqueueCopies(recorder_, &copies_);
  return recorder_;
}

void CudaKernels::Submit() {
  Next();
  recorder_.Submit();
}

void CudaKernels::AddCopy(void* to, const void* from, size_t bytes) {
  const CopyPiece piece{to, from, bytes};
  if (copies_.IsFull() || copies_.Clashes(piece)) EnqueueCopies(recorder_, &copies_);
  copies_.Add(piece);
}

void CudaKernels::Upload(void* to, const void* from_host, size_t bytes) {
  if (bytes == 0) return;
  if (bytes < kLarge) return AddCopy(to, recorder_.Data(static_cast<const char*>(from_host), bytes, BucketOf(bytes)), bytes);
  Submit();
  device_->Upload(to, from_host, bytes);
}

void CudaKernels::Download(void* to_host, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (bytes < kLarge) return AddCopy(recorder_.Result(to_host, bytes, BucketOf(bytes)), from, bytes);
  Submit();
  device_->Download(to_host, from, bytes);
}

void CudaKernels::Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0 || to == from) return;
  auto* const begin = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  const bool overlap = begin < source + bytes && source < begin + bytes;
  if (bytes >= kLarge) return overlap ? CopyOverlapping(begin, source, bytes) : CopyLarge(to, from, bytes);
  if (!overlap) return AddCopy(to, from, bytes);
  Next();  // that may use the room
  void* const between = room_.AtLeast(bytes);
  AddCopy(between, from, bytes);
  AddCopy(to, between, bytes);
  Next();
}

void CudaKernels::CopyLarge(void* to, const void* from, size_t bytes) {
  Submit();
  device_->Copy(to, from, bytes);
}

// Piece by piece, so that none is written before it was read.
void CudaKernels::CopyOverlapping(char* to, const char* from, size_t bytes) {
  Submit();
  void* const between = room_.AtLeast(kOverlapRoom);
  for (size_t done = 0; done < bytes;) {
    const size_t some = std::min(kOverlapRoom, bytes - done);
    const size_t at = to < from ? done : bytes - done - some;
    device_->Copy(between, from + at, some);
    device_->Copy(to + at, between, some);
    done += some;
  }
}

void CudaKernels::Wait() {
  Next();
  recorder_.Wait();
  room_.FreeOutgrown();
  parts_.FreeOutgrown();
  arrivals_.FreeOutgrown();
}

}  // namespace parley::cuda
