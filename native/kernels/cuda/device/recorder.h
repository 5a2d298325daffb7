// Records a device's work as a list, and runs the list when the host waits for it. A list that ran before
// runs as one CUDA graph. The cache of these lists follows 2Q.
//
// A list that is no longer than an earlier one allocates nothing.
#ifndef PARLEY_KERNELS_CUDA_RECORDER_H_
#define PARLEY_KERNELS_CUDA_RECORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/queue.h"

namespace parley::cuda {

// Device memory and its staging image on the host, at the same offsets: data for a list, or its results.
//
// The image is double-buffered, so that one list can be written while another runs. Device memory exists
// once, because lists run one after the other. A list that needs more gets further pieces for itself; the
// arena grows before the next list begins.
class TwoSidedArena {
 public:
  struct Place {
    void* host;
    void* device;
  };

  TwoSidedArena(Device& device, size_t bytes);
  ~TwoSidedArena();
  TwoSidedArena(const TwoSidedArena&) = delete;
  TwoSidedArena& operator=(const TwoSidedArena&) = delete;

  // Begins the next list, with host image `turn` (0 or 1). The list that used this image last must be done.
  // If the arena grows, both images are replaced.
  void Begin(int turn);
  // Aligned to 16 bytes; until its turn begins again.
  Place Take(size_t bytes);
  // All that was taken, to the device or back.
  void Send();
  void Fetch();

  // True if Begin() will give up the images of both turns for larger ones.
  bool WillGrow() const { return wanted_ > main_.bytes; }
  size_t Bytes() const { return main_.bytes; }
  bool IsEmpty() const { return main_.used == 0 && more_[turn_].empty(); }

 private:
  struct Piece {
    char* device = nullptr;
    char* host[2] = {};  // an additional piece has only its turn's
    size_t bytes = 0, used = 0;
  };

  Piece Allocate(size_t bytes, bool both);
  void Free(Piece* piece);
  static bool Fits(const Piece& piece, size_t bytes);

  Device& device_;
  int turn_ = 0;
  Piece main_;
  std::vector<Piece> more_[2];
  size_t wanted_ = 0;  // size of the largest list so far, in bytes
};

// A list that ran again or that a warm-up rehearsed.
//
// It is kept verbatim in host memory, because it is compared byte for byte. A step of a large model takes
// about 0.5 MB. The driver's memory for a graph comes on top.
struct KnownList {
  List list;
  uint64_t hash = 0;
  std::unique_ptr<Graph> graph;  // null: there was no memory for it
};

// Cache of lists. A list that ran once is not in the cache and evicts none: only its hash is kept, in a ring.
// The second run admits it. This is 2Q (Johnson and Shasha, 1994) without the queue A1in: the ring is A1out,
// and the cache is Am.
//
// The cache evicts the least recently used lists when it has too many, or when they are too large together.
class KnownLists {
 public:
  KnownLists(size_t most, size_t most_bytes)
      : most_(most), most_bytes_(most_bytes), kept_(most), once_(std::max<size_t>(most, 1)) {}

  // Returns the cached list of the same bytes, or null.
  KnownList* Find(const List& list);
  // Call for the list that Find() last missed. Returns true, and drops its hash, if the ring has it.
  // Otherwise puts its hash into the ring, in the place of the oldest of `most`.
  bool RanOnce();
  // Adds the list that Find() last missed, however large it is. Lists that it evicts must not be running.
  KnownList* Remember(const List& list);
  // Reports that there was no memory for a graph. Keeps the half used last, and lowers the limit to about as
  // many. Evicted lists must not be running.
  void Halve();
  // Reports that there was memory: raises the limit by one, up to the original limit.
  void Grow() { kept_ += kept_ < most_ ? 1 : 0; }
  // True if adding this list evicts others.
  bool IsFullFor(const List& list) const {
    return !lists_.empty() && (lists_.size() >= kept_ || bytes_ + BytesOf(list) > most_bytes_);
  }
  size_t Count() const { return lists_.size(); }
  // Host memory, in bytes.
  size_t Bytes() const { return bytes_; }

 private:
  using Places = std::list<KnownList>;

  static size_t BytesOf(const List& list) { return list.nodes.size() * sizeof(Node) + list.args.size(); }
  void ForgetLast();

  size_t most_, most_bytes_, kept_;
  size_t bytes_ = 0;
  Places lists_;  // the last one used first
  std::unordered_multimap<uint64_t, Places::iterator> by_hash_;
  uint64_t missed_ = 0;         // hash of the list that Find() last missed
  std::vector<uint64_t> once_;  // ring of the hashes of lists that ran once; 0: free
  size_t oldest_ = 0;           // in the ring
};

// Decides when a graph is made again after there was no memory for one. A failed try takes as long as a step
// and waits for the GPU. After the first failure half of the graphs are freed, so the next try comes at once.
// If that fails too, another program has the memory.
class CapturePause {
 public:
  // Number of lists that run uncaptured until the next attempt to capture; doubles with each failure. With
  // 1000 listeners and no graph left, all 130 lists a second count, so a pause is a quarter of a second to a
  // minute. If most lists have a graph, it lasts longer and costs as little.
  static constexpr uint64_t kFirst = 32, kLongest = 8192;

  // Call for each list that runs uncaptured although a graph is wanted. True: try to capture.
  bool IsOver() {
    if (left_ == 0) return true;
    left_--;
    return false;
  }
  void Failed() {
    failures_++;
    if (failures_ > 1) left_ = std::min(kFirst << std::min<uint64_t>(failures_ - 2, 32), kLongest);
  }
  void Succeeded() { failures_ = 0; }

 private:
  uint64_t failures_ = 0;  // since the last one that was made
  uint64_t left_ = 0;
};

struct RecorderOptions {
  bool graphs = true;                          // without them every list runs grid by grid
  bool capture_at_once = false;                // the first time, not the second: while a server warms up
  size_t most_graphs = 1024;                   // lists in the cache, and hashes of lists that ran once
  size_t most_list_bytes = size_t{256} << 20;  // host memory for the lists in the cache
  size_t data_bytes = 1 << 20;                 // to begin with
  size_t result_bytes = 1 << 20;
};

// Since the beginning.
struct RecorderCounters {
  uint64_t eager = 0;     // lists that ran grid by grid
  uint64_t captures = 0;  // graphs that were made
  uint64_t launches = 0;  // lists that ran as graphs
  uint64_t nodes = 0;     // grids of all of them
};

class Recorder final : public Queue {
 public:
  Recorder(Device& device, const RecorderOptions& options);
  ~Recorder() override;

  // Returns the device address of a copy of host data. Unlike Data(), it may have any size without making
  // another list. Its address differs each time: pass it in data, never as an argument.
  const void* Carry(const void* from_host, size_t bytes);
  // Returns the device address to which kernels write `bytes`; these are at to_host after Wait(). `room` (>=
  // bytes) as for Data().
  void* Result(void* to_host, size_t bytes, size_t room);

  // Begins to run what was recorded.
  void Submit();
  // Waits until all is done and the results have been copied to the host.
  void Wait();

  // False: it makes no graphs.
  bool CaptureAtOnce(bool at_once) {
    options_.capture_at_once = at_once;
    return options_.graphs;
  }
  bool CapturesAtOnce() const { return options_.capture_at_once; }
  const RecorderCounters& Counters() const { return counters_; }
  size_t Graphs() const { return known_.Count(); }
  size_t ListBytes() const { return known_.Bytes(); }

 protected:
  void Add(const KernelEntry& entry, const Grid& grid, const void* args) override;
  DataPlace AddRoom(size_t bytes) override;

 private:
  struct Delivery {
    void* to;
    const void* from;
    size_t bytes;
  };

  void Start();
  KnownList* Known();
  void RunList();
  std::unique_ptr<Graph> Captured();
  void Clear();
  void Deliver(int turn);

  Device& device_;
  RecorderOptions options_;
  List list_;
  KnownLists known_;
  CapturePause pause_;
  TwoSidedArena data_, carried_, results_;
  std::vector<Delivery> deliveries_[2];
  bool is_under_way_[2] = {};
  int turn_ = 0;
  RecorderCounters counters_;
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RECORDER_H_
