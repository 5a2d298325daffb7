// The threads of one block, and who of them runs.
//
// A fiber begins threads one after the other as long as they end without meeting another thread. A thread
// that has to wait keeps the fiber; another takes over the rest. Everything is of one host thread.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_BLOCK_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/products/tile_map.h"
#include "test/emulator/collectives.h"
#include "test/emulator/emulator.h"
#include "test/emulator/fiber.h"
#include "test/emulator/race_check.h"

namespace parley::cuda::emulator {

struct PendingTileCopy {
  void* to;
  TileMap map;  // a TileShape
  uint32_t from[4];
  const void* barrier;
};

struct PendingBulkCopy {
  void* to;
  const void* from;
  uint32_t bytes;
  const void* barrier;
};

class TileCopies {
 public:
  void Request(const PendingTileCopy& copy) { tiles_.push_back(copy); }
  void Request(const PendingBulkCopy& copy) { bytes_.push_back(copy); }
  // Executes the copies that arrive at this barrier; returns their bytes.
  size_t MakeFor(const void* barrier);
  void Clear() {
    tiles_.clear();
    bytes_.clear();
  }

 private:
  static size_t Make(const PendingTileCopy& copy);
  static size_t Make(const PendingBulkCopy& copy);
  template <class Pending>
  static size_t MakeFor(const void* barrier, std::vector<Pending>* pending);

  std::vector<PendingTileCopy> tiles_;
  std::vector<PendingBulkCopy> bytes_;
};

// Blocks that run together.
inline uint32_t TogetherOf(const KernelEntry& entry, const Grid& grid) {
  return entry.cluster == kAllBlocks ? grid.x : entry.cluster;
}

struct PendingCopy {
  void* to;
  const void* from;
  bool valid;
  uint32_t group;
};

struct Thread {
  Fiber* fiber;
  const char* waits_at;  // null: it does not
  void* laid_down;
  bool has_awaited;
  uint32_t group;  // index of the next group of asynchronous copies
  uint32_t tiles;  // committed groups of tile products
  std::vector<PendingCopy> copies;
};

// Lanes of a warp that have come to one function with one mask.
struct Collective {
  const char* word;
  uint32_t mask;
  uint32_t arrived;
  const char* order;  // address by which race checks identify the collective
};

// Addresses by which race checks identify successive collectives at one barrier. Adjacent collectives have
// different ones.
class Orders {
 public:
  const char* Now() const { return places_ + count_ % sizeof places_; }
  const char* Next() {
    count_++;
    return Now();
  }

 private:
  uint32_t count_ = 0;
  char places_[8] = {};
};

struct Warp {
  uint32_t ended;  // lanes, and those that there never were
  std::vector<Collective> collectives;
  Orders orders;
};

// A warpgroup, for race checks: its last commits of products of tiles.
struct Group {
  uint32_t arrived = 0;
  char commits[16] = {};
  const char* At(uint32_t commit) const { return commits + commit % sizeof commits; }
};

// A store of one value by several threads to one address, and the number of their block's barriers so far.
struct SameStore {
  uint32_t word, block, barriers;
};

class Block {
 public:
  // That whose thread runs.
  static Block& Current();

  // Sets up the state common to all blocks of a grid.
  void BeginGrid(const KernelEntry& entry, const Grid& grid, const void* args, const Rules& rules);
  // Its threads, to their end; and with them those of the other blocks of its cluster, whose first one it is.
  void Run(uint64_t seed);

  // Functions of the running thread:
  Thread& Self() { return threads_[running_]; }
  uint32_t Running() const { return running_; }
  void WarpCollective(const char* word, uint32_t mask, void* laid_down, Join join, Memory memory);
  uint32_t BlockBarrier(uint32_t vote);
  // Waits until another thread wakes all that wait there.
  void WaitAt(const char* word);
  void FreeAllAt(const char* word);
  unsigned char* Shared() { return SharedOf(running_ / block_threads_); }
  // Shared memory of a block in the running cluster.
  unsigned char* SharedOf(uint32_t rank) { return shared_.get() + rank * shared_stride_; }
  void NamedBarrier(uint32_t barrier, uint32_t threads);
  // Called only with race checks on. All threads of a warpgroup meet in AwaitTiles.
  void CommitTiles();
  void AwaitTiles(uint32_t left);
  void StoreSame(void* to, const void* value, size_t bytes);
  [[noreturn]] void RefuseAs(const std::string& what) const;

  TileCopies tile_copies;

 private:
  static constexpr uint32_t kBarriers = 16, kGroupThreads = 128;
  struct Unmap {
    void operator()(unsigned char* memory) const;
  };

  static void FiberBody();
  void BeginThreads(Fiber* fiber);
  void BeginThread(uint32_t thread, Fiber* fiber);
  void NameThreads();
  void EndThread();
  // Lets others run until this thread's waits_at is null again.
  void Wait();
  void LeaveFor(Place& from);
  void RunAs(uint32_t thread);
  void Free(uint32_t thread);
  void FinishCollective(Warp* warp, size_t collective, Join join);
  void OpenBarrier();
  void Arrange(uint64_t seed);
  void Clear();
  void ForgetFibers();
  Fiber& FreeFiber();
  std::string Standstill() const;

  const KernelEntry* entry_ = nullptr;
  const void* args_ = nullptr;
  Rules rules_;
  uint32_t count_ = 0;  // threads, of all blocks of a cluster
  uint32_t block_threads_ = 1, cluster_ = 1, first_block_ = 0;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<uint32_t> order_;        // thread indices
  std::vector<uint32_t> lanes_order_;  // the same, warp by warp
  std::vector<uint32_t> ready_;        // a ring: threads that wait no longer
  size_t ready_first_ = 0, ready_count_ = 0;
  uint32_t next_ = 0;  // in order_: the first that has not begun
  uint32_t running_ = 0;
  uint32_t living_ = 0, at_barrier_ = 0, votes_ = 0, last_votes_ = 0;
  std::vector<uint32_t> at_first_;  // number of arrivals among each block's first threads, at each barrier
  std::exception_ptr failure_;

  Place host_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
  // For race checks, which know the threads of a block by their stacks too: free when the block has ended.
  std::vector<Fiber*> spent_;
  void* host_name_ = nullptr;  // for race checks ..
  std::vector<void*> names_;   // .. and those of threads
  Orders barrier_order_;
  std::vector<Orders> first_orders_;
  std::vector<Group> groups_;
  std::vector<uint32_t> barriers_passed_;  // number of barriers passed, by block
  std::unordered_map<const void*, SameStore> same_stores_;
  char begun_ = 0, ended_ = 0;
  Fiber* arriving_ = nullptr;  // that which is gone to
  std::unique_ptr<unsigned char, Unmap> shared_;
  size_t shared_bytes_ = 0, shared_stride_ = 0;
};

// To race checks, of the thread that runs, which is Unseen.
void ShowCopy(void* to, const void* from, size_t bytes);

}  // namespace parley::cuda::emulator

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_BLOCK_H_
