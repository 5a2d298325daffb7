// Lists of grids: when they run, as what, and what goes along with them.
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <vector>

#include "check.h"
#include "kernels/cuda/device/intrinsics.h"
#include "kernels/cuda/device/recorder.h"
#include "test/emulator/emulated_device.h"

namespace parley::cuda {
namespace {

using emulator::EmulatedDevice;

struct AddArgs {
  const uint32_t* x;
  const uint32_t* count;
  uint64_t times;
  uint32_t* y;
};

// y[i] += times * x[i]
__global__ void AddSome(AddArgs args) {
  GridDependencyWait();
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *args.count) args.y[i] += static_cast<uint32_t>(args.times) * args.x[i];
}

struct Fixture {
  explicit Fixture(const RecorderOptions& options = {}) : recorder(device, options) {
    y = static_cast<uint32_t*>(device.Allocate(64 * 4));
  }
  ~Fixture() { device.Free(y); }

  // y += times * x, of so many; a grid for their bucket.
  void Add(const std::vector<uint32_t>& x, uint8_t times = 1) {
    const auto count = static_cast<uint32_t>(x.size());
    const size_t room = BucketOf(count);
    AddArgs args;
    args.x = recorder.Data(x.data(), x.size(), room);
    args.count = recorder.Data(count);
    args.times = times;
    args.y = y;
    recorder.Launch<AddSome>({static_cast<uint32_t>((room + 31) / 32), 1, 1, 32, 0}, args);
  }
  // A copy of y[i] to the host.
  void Read(uint32_t* to) {
    auto* place = static_cast<uint32_t*>(recorder.Result(to, 4, 4));
    const uint32_t one = 1;
    recorder.Launch<AddSome>({1, 1, 1, 32, 0}, AddArgs{y, recorder.Data(one), 1, place});
  }

  EmulatedDevice device;
  Recorder recorder;
  uint32_t* y;
};

void NothingRunsBeforeSomebodyWaits() {
  Fixture f;
  f.Add({1, 2, 3});
  CHECK_EQ(f.y[0], 0u);
  f.recorder.Wait();
  CHECK_EQ(f.y[0], 1u);
  CHECK_EQ(f.y[2], 3u);
  CHECK_EQ(f.recorder.Counters().eager, 1u);
  f.recorder.Wait();
  CHECK_EQ(f.recorder.Counters().eager, 1u);  // an empty list is none
}

void AListThatComesAgainIsOneGraph() {
  Fixture f;
  for (uint32_t i = 0; i < 5; i++) {
    f.Add({i, i, 7});  // other data, the same list
    f.Add({1, 1}, 3);
    f.recorder.Wait();
  }
  CHECK_EQ(f.y[0], 0u + 1 + 2 + 3 + 4 + 5 * 3);
  CHECK_EQ(f.y[2], 35u);
  const RecorderCounters& counters = f.recorder.Counters();
  CHECK_EQ(counters.eager, 1u);
  CHECK_EQ(counters.captures, 1u);
  CHECK_EQ(counters.launches, 4u);
  CHECK_EQ(counters.nodes, 10u);
}

void CountsOfOneBucketAreOneList() {
  Fixture f;
  for (uint32_t count = 9; count <= 12; count++) {
    f.Add(std::vector<uint32_t>(count, 1));
    f.recorder.Wait();
  }
  CHECK_EQ(f.recorder.Counters().eager, 1u);
  CHECK_EQ(f.recorder.Counters().launches, 3u);
  CHECK_EQ(f.y[8], 4u);
  CHECK_EQ(f.y[11], 1u);
}

void AnotherArgumentIsAnotherList() {
  Fixture f;
  for (int i = 0; i < 3; i++) {
    for (uint8_t times = 1; times <= 3; times++) {
      f.Add({1}, times);
      f.recorder.Wait();
    }
  }
  CHECK_EQ(f.y[0], 18u);
  CHECK_EQ(f.recorder.Counters().eager, 3u);
  CHECK_EQ(f.recorder.Counters().captures, 3u);
  CHECK_EQ(f.recorder.Counters().launches, 6u);
}

void WarmUpCapturesAtOnce() {
  RecorderOptions options;
  options.capture_at_once = true;
  Fixture f(options);
  f.Add({5});
  f.recorder.Wait();
  CHECK_EQ(f.y[0], 5u);
  CHECK_EQ(f.recorder.Counters().eager, 0u);
  CHECK_EQ(f.recorder.Counters().launches, 1u);
}

void WithoutGraphsEveryListIsEager() {
  RecorderOptions options;
  options.graphs = false;
  Fixture f(options);
  for (int i = 0; i < 3; i++) {
    f.Add({1});
    f.recorder.Wait();
  }
  CHECK_EQ(f.y[0], 3u);
  CHECK_EQ(f.recorder.Counters().eager, 3u);
  CHECK_EQ(f.recorder.Counters().captures, 0u);
}

void TheLeastRecentlyUsedGraphGoes() {
  RecorderOptions options;
  options.most_graphs = 2;
  Fixture f(options);
  const auto run = [&](uint8_t times) {
    f.Add({1}, times);
    f.recorder.Wait();
    return f.recorder.Counters().eager;
  };
  run(1), run(1), run(2), run(2), run(1);
  CHECK_EQ(run(3), 3u);
  CHECK_EQ(run(3), 3u);  // instead of 2
  CHECK_EQ(run(1), 3u);
  CHECK_EQ(run(2), 4u);
  CHECK_EQ(f.recorder.Graphs(), 2u);
  CHECK_EQ(f.y[0], 1u + 1 + 2 + 2 + 1 + 3 + 3 + 1 + 2);
}

// A warm-up rehearsed the lists 1 and 2, and 3 ran twice.
void ListsThatRanOnceEvictNone() {
  RecorderOptions options;
  options.most_graphs = 3;
  Fixture f(options);
  const auto run = [&](uint8_t times) {
    f.Add({1}, times);
    f.recorder.Wait();
    return f.recorder.Counters().eager;
  };
  f.recorder.CaptureAtOnce(true);
  run(1), run(2);
  f.recorder.CaptureAtOnce(false);
  run(3), run(3);
  const size_t bytes = f.recorder.ListBytes();
  for (uint8_t once = 4; once <= 200; once++) run(once);
  CHECK_EQ(f.recorder.Counters().eager, 1u + 197);
  CHECK_EQ(f.recorder.Graphs(), 3u);
  CHECK_EQ(f.recorder.ListBytes(), bytes);
  for (const uint8_t times : {1, 2, 3}) CHECK_EQ(run(times), 1u + 197);
  CHECK_EQ(f.recorder.Counters().captures, 3u);
}

// The second run counts if no more lists than the cache holds ran for the first time in between.
void AListThatRanLongAgoIsNew() {
  RecorderOptions options;
  options.most_graphs = 3;
  Fixture f(options);
  const auto run = [&](std::vector<uint8_t> lists) {
    for (const uint8_t times : lists) {
      f.Add({1}, times);
      f.recorder.Wait();
    }
    return f.recorder.Counters().captures;
  };
  CHECK_EQ(run({1, 2, 3, 1}), 1u);
  CHECK_EQ(run({4, 5, 6, 7, 4}), 1u);
  CHECK_EQ(run({4}), 2u);
}

constexpr size_t kListBytes = sizeof(Node) + sizeof(AddArgs);  // bytes of a list of one Add

void ListsHaveSoMuchOfTheHostsMemory() {
  RecorderOptions options;
  options.most_list_bytes = 3 * kListBytes;
  Fixture f(options);
  const auto run = [&](std::vector<uint8_t> each) {
    for (const uint8_t times : each) f.Add({1}, times);
    f.recorder.Wait();
    return f.recorder.Counters().eager;
  };
  for (const uint8_t times : {1, 2, 3}) run({times}), run({times});
  run({1});
  CHECK_EQ(f.recorder.ListBytes(), 3 * kListBytes);
  CHECK_EQ(run({4, 4}), 4u);
  CHECK_EQ(run({4, 4}), 4u);  // instead of 2 and 3
  CHECK_EQ(f.recorder.ListBytes(), 3 * kListBytes);
  CHECK_EQ(f.recorder.Graphs(), 2u);
  CHECK_EQ(run({1}), 4u);
  CHECK_EQ(run({2}), 5u);
  CHECK_EQ(run({5, 5, 5, 5}), 6u);  // larger than all may be: alone
  CHECK_EQ(run({5, 5, 5, 5}), 6u);
  CHECK_EQ(f.recorder.Graphs(), 1u);
  CHECK_EQ(f.recorder.ListBytes(), 4 * kListBytes);
  CHECK_EQ(run({1}), 7u);
  CHECK_EQ(f.recorder.ListBytes(), 4 * kListBytes);
  CHECK_EQ(run({1}), 7u);
  CHECK_EQ(f.recorder.ListBytes(), kListBytes);
}

// No speech ends for lack of memory: a list without a graph runs grid by grid, and graphs that are used
// seldom make room.
void WithoutMemoryForGraphsHalfOfThemGo() {
  RecorderOptions options;
  options.capture_at_once = true;
  Fixture f(options);
  f.device.LeaveGraphs(4);
  for (uint8_t times = 1; times <= 5; times++) {
    f.Add({1}, times);
    f.recorder.Wait();
  }
  CHECK_EQ(f.y[0], 1u + 2 + 3 + 4 + 5);
  CHECK_EQ(f.recorder.Counters().captures, 4u);
  CHECK_EQ(f.recorder.Counters().eager, 1u);
  CHECK_EQ(f.recorder.Graphs(), 2u);
  f.device.LeaveGraphs(4);
  for (const uint8_t times : {4, 5}) {  // that are remembered still
    f.Add({1}, times);
    f.recorder.Wait();
  }
  CHECK_EQ(f.y[0], 15u + 4 + 5);
  CHECK_EQ(f.recorder.Counters().captures, 5u);
  CHECK_EQ(f.recorder.Counters().launches, 6u);
  CHECK_EQ(f.recorder.Counters().eager, 1u);
  f.device.LeaveGraphs(8);
  for (uint8_t times = 6; times <= 9; times++) {  // and when there is memory again, there is room for others
    f.Add({1}, times);
    f.recorder.Wait();
  }
  CHECK_EQ(f.recorder.Graphs(), 6u);
  CHECK_EQ(f.recorder.Counters().eager, 1u);
}

// A try in vain takes as long as a step: they become rare, and when there is memory again, graphs are made
// again.
void WithoutMemoryGraphsAreTriedMoreAndMoreSeldom() {
  RecorderOptions options;
  options.capture_at_once = true;
  Fixture f(options);
  const auto run = [&](uint64_t count) {
    for (uint64_t n = 0; n < count; n++) {
      f.Add({1}, static_cast<uint8_t>(1 + n % 5));
      f.recorder.Wait();
    }
    return f.device.GraphsRefused();
  };
  f.device.LeaveGraphs(0);
  CHECK_EQ(run(2), 2u);  // lists evicted at the first failure may have left room
  CHECK_EQ(run(CapturePause::kFirst), 2u);
  CHECK_EQ(run(1), 3u);
  CHECK(run(100 * CapturePause::kFirst) <= 9);
  CHECK_EQ(f.recorder.Counters().captures, 0u);
  f.device.LeaveGraphs(SIZE_MAX);
  const uint64_t eager = f.recorder.Counters().eager;
  run(2 * CapturePause::kLongest);
  CHECK(f.recorder.Counters().captures >= 5);
  CHECK(f.recorder.Counters().eager < eager + CapturePause::kLongest);
  const uint64_t last = f.recorder.Counters().eager;
  run(10);
  CHECK_EQ(f.recorder.Counters().eager, last);
}

// Data of the list that is under way is not that of the next.
void ListsFollowEachOtherWithoutAWait() {
  Fixture f;
  uint32_t seen[4] = {};
  for (uint32_t i = 0; i < 4; i++) {
    f.Add({1 + i});
    f.Read(&seen[i]);
    f.recorder.Submit();
  }
  CHECK_EQ(f.y[0], 6u);  // the last is under way, the one before it had to make room
  f.recorder.Wait();
  CHECK_EQ(f.y[0], 10u);
}

void ResultsAreThereAfterTheWait() {
  Fixture f;
  uint32_t seen = 9;
  auto* place = static_cast<uint32_t*>(f.recorder.Result(&seen, 4, 16));
  const uint32_t one = 1, value = 1234;
  *place = 0;
  f.recorder.Launch<AddSome>({1, 1, 1, 32, 0},
                             AddArgs{f.recorder.Data(value), f.recorder.Data(one), 1, place});
  f.recorder.Submit();
  CHECK_EQ(seen, 9u);
  f.recorder.Wait();
  CHECK_EQ(seen, 1234u);
}

void ArenasGrowBetweenLists() {
  RecorderOptions options;
  options.data_bytes = 64;
  Fixture f(options);
  std::vector<uint32_t> x(48);
  std::iota(x.begin(), x.end(), 1);
  for (int i = 0; i < 5; i++) {
    f.Add({1, 1, 1, 1, 1, 1, 1, 1, 1});
    f.Add(x);
    f.Add(x, 2);
    f.recorder.Wait();
  }
  CHECK_EQ(f.y[0], 5u * (1 + 3));
  CHECK_EQ(f.y[47], 5u * 3 * 48);
  CHECK_EQ(f.recorder.Counters().eager, 2u);  // the second time its data lies elsewhere
  CHECK_EQ(f.recorder.Counters().captures, 1u);
  CHECK_EQ(f.recorder.Counters().launches, 3u);
}

void NothingIsLeftBehind() {
  EmulatedDevice device;
  {
    RecorderOptions options;
    options.data_bytes = 16;
    options.result_bytes = 16;
    Recorder recorder(device, options);
    uint32_t seen[64];
    const uint32_t count = 64;
    const std::vector<uint32_t> x(64, 3);
    auto* place = static_cast<uint32_t*>(recorder.Result(seen, sizeof seen, sizeof seen));
    recorder.Launch<AddSome>({2, 1, 1, 32, 0},
                             AddArgs{recorder.Data(x.data(), 64, 64), recorder.Data(count), 1, place});
    recorder.Submit();
    recorder.Result(seen, 4, 4);
  }
  CHECK_EQ(device.Pieces(), 0u);
}

void ALostDeviceIsSoForGood() {
  Fixture f;
  f.Add({1});
  f.device.Lose("Xid 79: the GPU has fallen off the bus");
  for (int i = 0; i < 3; i++) {
    std::string text;
    try {
      f.Add({1});
      f.recorder.Wait();
    } catch (const DeviceLost& lost) {
      text = lost.what();
    }
    CHECK_EQ(text, std::string("Xid 79: the GPU has fallen off the bus"));
  }
  f.device.Lose("");  // so that the fixture can free its memory
}

void TooMuchMemoryIsBadAlloc() {
  emulator::DeviceOptions options;
  options.memory = 4096;
  EmulatedDevice device(options);
  bool refused = false;
  try {
    Recorder recorder(device, {});
  } catch (const std::bad_alloc&) {
    refused = true;
  }
  CHECK(refused);
  CHECK_EQ(device.Pieces(), 0u);
}

}  // namespace
}  // namespace parley::cuda

TEST_GROUP(cuda_recorder) {
  using namespace parley::cuda;
  return parley::test::Run({
      {"nothing runs before somebody waits", NothingRunsBeforeSomebodyWaits},
      {"a list that comes again is one graph", AListThatComesAgainIsOneGraph},
      {"counts of one bucket are one list", CountsOfOneBucketAreOneList},
      {"another argument is another list", AnotherArgumentIsAnotherList},
      {"warm-up captures at once", WarmUpCapturesAtOnce},
      {"without graphs every list is eager", WithoutGraphsEveryListIsEager},
      {"the least recently used graph goes", TheLeastRecentlyUsedGraphGoes},
      {"lists that ran once evict none", ListsThatRanOnceEvictNone},
      {"a list that ran long ago is new", AListThatRanLongAgoIsNew},
      {"lists have so much of the host's memory", ListsHaveSoMuchOfTheHostsMemory},
      {"without memory for graphs half of them go", WithoutMemoryForGraphsHalfOfThemGo},
      {"without memory graphs are tried more and more seldom", WithoutMemoryGraphsAreTriedMoreAndMoreSeldom},
      {"lists follow each other without a wait", ListsFollowEachOtherWithoutAWait},
      {"results are there after the wait", ResultsAreThereAfterTheWait},
      {"arenas grow between lists", ArenasGrowBetweenLists},
      {"nothing is left behind", NothingIsLeftBehind},
      {"a lost device is so for good", ALostDeviceIsSoForGood},
      {"too much memory is bad_alloc", TooMuchMemoryIsBadAlloc},
  });
}
