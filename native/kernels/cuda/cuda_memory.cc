// Memory of the CUDA backend. Small copies are recorded in the list, many as one grid; large copies call the
// device directly.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/device/copy_run.h"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/device/work_room.h"

namespace parley::cuda {

constexpr uint32_t kCopyThreads = 128;
constexpr size_t kBytesOfCopyBlock = kCopyThreads * 16;

struct CopyArgs {
  const CopyPiece* pieces;
  const uint32_t* count;
};

template <class Unit>
__device__ __forceinline__ void CopyUnits(const CopyPiece& piece) {
  const auto* const from = static_cast<const Unit*>(piece.from);
  auto* const to = static_cast<Unit*>(piece.to);
  const uint64_t units = piece.bytes / sizeof(Unit);
  const uint64_t step = gridDim.x * kCopyThreads;
  uint64_t i = blockIdx.x * kCopyThreads + threadIdx.x;
  for (; i + 3 * step < units; i += 4 * step) {
    const Unit a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    to[i] = a, to[i + step] = b, to[i + 2 * step] = c, to[i + 3 * step] = d;
  }
  for (; i < units; i += step) to[i] = from[i];
}

static __global__ void __launch_bounds__(kCopyThreads) CopyPieces(const CopyArgs args) {
  LaunchDependents();
  // Entries past the count are loaded too, since the array has room for them; so this load need not wait for
  // the count.
  const CopyPiece piece = args.pieces[blockIdx.y];
  const bool is_one = blockIdx.y < *args.count;
  GridDependencyWait();
  if (!is_one) return;
  const uint64_t places =
      reinterpret_cast<uintptr_t>(piece.to) | reinterpret_cast<uintptr_t>(piece.from) | piece.bytes;
  if (places % 16 == 0) CopyUnits<uint4>(piece);
  else if (places % 4 == 0) CopyUnits<uint32_t>(piece);
  else CopyUnits<unsigned char>(piece);
}

// Places for `count` copies, rounded up to 1, 4, 16, 64, ..., so that lists repeat: the number of joining
// streams differs from step to step. Unused places cost little.
constexpr uint32_t CopyPlaces(size_t count) {
  uint32_t places = 1;
  while (places < count) places *= 4;
  return places;
}
static_assert(CopyPlaces(kMostCopies) == kMostCopies);

// All copies of the run, which then has none.
inline void EnqueueCopies(Queue& queue, CopyRun* run) {
  if (run->IsEmpty()) return;
  const auto count = static_cast<uint32_t>(run->Pieces().size());
  Grid grid;
  grid.threads = kCopyThreads;
  // Few sizes: as many bytes as there are streams should not make another list for another number of them.
  grid.x = run->Longest() <= kBytesOfCopyBlock ? 1 : run->Longest() <= 16 * kBytesOfCopyBlock ? 8 : 64;
  grid.y = CopyPlaces(count);
  queue.Launch<&CopyPieces>(grid,
                            CopyArgs{queue.Data(run->Pieces().data(), count, grid.y), queue.Data(count)});
  run->Forget();
}

namespace {

// A copy of at least so many bytes is a call of the device. Copies within the device are part of the list up
// to the rows of a prompt. A copy from the host that is not recorded waits for all work.
constexpr size_t kLarge = 512 << 10, kLargeWithin = 4 << 20;
constexpr size_t kOverlapRoom = 1 << 20;
// Room for intermediate results is this part of the memory from the beginning: if it grew for one model, the
// lists of the others would have another address in them, and be new.
constexpr size_t kRoomShare = 512;

}  // namespace

CudaKernels::CudaKernels(std::unique_ptr<Device> device, const CudaOptions& options)
    : device_(std::move(device)),
      name_("cuda " + device_->Facts().name + ", " + std::to_string(device_->Facts().multiprocessors) +
            " multiprocessors"),
      room_(*device_, options.pool / kRoomShare),
      handed_(*device_, options.pool / kRoomShare),
      parts_(*device_),
      arrivals_(*device_),
      layer_run_(std::make_unique<LayerRunRoom>(*device_)),
      recorder_(*device_, options.recorder) {
  const DeviceFacts& facts = device_->Facts();
  room_.rules = {options.full_vectors, facts.major == 9 && facts.minor == 0,
                 static_cast<uint32_t>(facts.multiprocessors)};
  if (options.pool == 0) return;
  pooled_ = device_->Allocate(options.pool);
  pool_ = std::make_unique<MemoryPool>(pooled_, options.pool);
}

CudaKernels::~CudaKernels() { device_->Free(pooled_); }

// A part may have been another's, whose work is still to be done: it is cleared after that.
void* CudaKernels::Allocate(size_t bytes) {
  if (pool_ == nullptr) return device_->Allocate(bytes);
  void* const memory = pool_->Take(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  Submit();
  device_->Clear(memory, bytes);
  return memory;
}

void CudaKernels::Free(void* memory) {
  if (memory == nullptr || (pool_ != nullptr && pool_->Give(memory))) return;
  try {
    Submit();  // recorded work may still use it
  } catch (const DeviceLost&) {
    // The next call that may throw reports the loss.
  }
  device_->Free(memory);
}

BackendFigures CudaKernels::Figures() const {
  BackendFigures figures;
  figures.memory_total = device_->Facts().memory;
  figures.memory_free = pool_ != nullptr ? pool_->bytes() - pool_->InUse() : device_->FreeMemory();
  figures.memory_in_use = pool_ != nullptr ? pool_->InUse() : figures.memory_total - figures.memory_free;
  const RecorderCounters& counters = recorder_.Counters();
  figures.eager = counters.eager;
  figures.captures = counters.captures;
  figures.launches = counters.launches;
  figures.list_bytes = recorder_.ListBytes();
  return figures;
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
  if (bytes < kLarge) return AddCopy(to, recorder_.Carry(from_host, bytes), bytes);
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
  if (bytes >= (overlap ? kLarge : kLargeWithin))
    return overlap ? CopyOverlapping(begin, source, bytes) : CopyLarge(to, from, bytes);
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
  handed_.FreeOutgrown();
  parts_.FreeOutgrown();
  arrivals_.FreeOutgrown();
  layer_run_->tagged.FreeOutgrown();
  layer_run_->steps.FreeOutgrown();
  layer_run_->choices.FreeOutgrown();
  layer_run_->logits.FreeOutgrown();
}

}  // namespace parley::cuda
