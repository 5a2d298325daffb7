// The queue of a device: collects a list, and runs it when somebody waits for it. A list that was run before runs as one graph.
//
// Nothing is allocated for a list that is no longer than one before it.
#ifndef PARLEY_KERNELS_CUDA_RECORDER_H_
#define PARLEY_KERNELS_CUDA_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cuda/device/capture_pause.h"
#include "kernels/cuda/device/known_lists.h"
#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/device/two_sided_arena.h"

namespace parley::cuda {

struct RecorderOptions {
  bool graphs = true;            // without them every list runs grid by grid
  bool capture_at_once = false;  // the first time, not the second: while a server warms up
  size_t most_graphs = 1024;     // lists that are remembered ..
  size_t most_list_bytes = size_t{256} << 20;  // .. and the host's memory that they may take
  size_t data_bytes = 1 << 20;   // to begin with
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

  // Where the device will find a copy of what lies on the host. Unlike Data() it may be of any size without making another
  // list, and its place is another each time: it may be told in data, never as an argument.
  const void* Carry(const void* from_host, size_t bytes);
  // Where the device is to write `bytes` that will lie at to_host after Wait(). `room` (>= bytes) as for Data().
  void* Result(void* to_host, size_t bytes, size_t room);

  // Begins to run what was recorded.
  void Submit();
  // Until all is done, and results are where they belong.
  void Wait();

  // False: it makes no graphs.
  bool CaptureAtOnce(bool at_once) {
    options_.capture_at_once = at_once;
    return options_.graphs;
  }
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
