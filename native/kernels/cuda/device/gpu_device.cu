#include "kernels/cuda/device/device.h"

#include <cuda_runtime.h>

#ifdef PARLEY_CUDA_TRACE
#include "kernels/cuda/device/gpu_trace.cuh"
#endif

#include <chrono>
#include <new>
#include <thread>
#include <unordered_map>

namespace parley::cuda {
namespace {

constexpr int kOldestCapability = 8;         // 8.0: bf16 on tensor cores, cp.async
constexpr size_t kSharedUnasked = 48 << 10;  // bytes that a block may have in all

// The device refuses a grid, and goes on with others.
bool IsOfOneGrid(cudaError_t result) {
  return result == cudaErrorLaunchOutOfResources || result == cudaErrorInvalidConfiguration ||
         result == cudaErrorNoKernelImageForDevice || result == cudaErrorInvalidDeviceFunction ||
         result == cudaErrorInvalidClusterSize;
}
constexpr auto kEagerWait = std::chrono::milliseconds(3);
constexpr auto kPause = std::chrono::microseconds(50);

std::string Version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// A CUDA graph of a device that outlives it. If the device is lost, the graph is not destroyed, because that
// might block for ever.
class GpuGraph final : public Graph {
 public:
  GpuGraph(cudaGraphExec_t graph, const std::string& lost) : graph(graph), lost_(lost) {}
  ~GpuGraph() override {
    if (lost_.empty()) cudaGraphExecDestroy(graph);
  }
  const cudaGraphExec_t graph;
#ifdef PARLEY_CUDA_TRACE
  List list;
#endif

 private:
  const std::string& lost_;
};

class GpuDevice final : public Device {
 public:
  explicit GpuDevice(const GpuOptions& options);
  ~GpuDevice() override;

  const DeviceFacts& Facts() const override { return facts_; }
  size_t FreeMemory() override;
  uint32_t BlocksTogether(const KernelEntry& entry, uint32_t threads, uint32_t shared) override;
  void* Allocate(size_t bytes) override;
  void Free(void* memory) override;
  void* AllocateHost(size_t bytes) override;
  void FreeHost(void* memory) override;
  void Upload(void* to, const void* from_host, size_t bytes) override;
  void Download(void* to_host, const void* from, size_t bytes) override;
  void Send(void* to, const void* from_host, size_t bytes) override;
  void Fetch(void* to_host, const void* from, size_t bytes) override;
  void Copy(void* to, const void* from, size_t bytes) override;
  void Clear(void* memory, size_t bytes) override;
  void Run(const List& list) override;
  void Launch(const Graph& graph) override;
  std::unique_ptr<Graph> Capture(const List& list) override;
  void Mark(int mark) override;
  void Wait(int mark) override;
  void Wait() override;

 private:
  void ReadFacts();
  void Begin();
  bool IsAtRest();
  void Check(cudaError_t result, const char* what);
  [[noreturn]] void Lose(const std::string& why);
  void CopyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* what);
  void LaunchAll(const List& list, cudaStream_t stream);
  void LaunchOne(const List& list, const Node& node, cudaStream_t stream);
  void Prepare(const KernelEntry& entry, uint32_t shared);
  void AwaitEvent(cudaEvent_t event);
  void Close();

  const GpuOptions options_;
  DeviceFacts facts_;
  std::string lost_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t captured_ = nullptr;  // on which nothing ever runs
  cudaEvent_t marks_[3] = {};        // the last one is for all
  std::unordered_map<const void*, uint32_t>
      prepared_;  // kernels: the bytes of shared memory that they may have
};

GpuDevice::GpuDevice(const GpuOptions& options) : options_(options) {
  const std::string why = WhyNoGpu(options.device);
  if (!why.empty()) throw std::runtime_error(why);
  try {
    Begin();
    ReadFacts();
#ifdef PARLEY_CUDA_TRACE
    Check(BeginTrace(options.device), "beginning a trace");
#endif
    int lowest = 0, highest = 0;
    Check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities");
    Check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest), "making a stream");
    Check(cudaStreamCreateWithFlags(&captured_, cudaStreamNonBlocking), "making a stream");
    for (cudaEvent_t& mark : marks_)
      Check(cudaEventCreateWithFlags(&mark, cudaEventDisableTiming), "making an event");
  } catch (...) {
    Close();
    throw;
  }
}

GpuDevice::~GpuDevice() { Close(); }

// A lost device is left as it is: to free what it holds may wait for ever.
void GpuDevice::Close() {
  if (!lost_.empty()) return;
#ifdef PARLEY_CUDA_TRACE
  WriteTrace();
#endif
  cudaSetDevice(options_.device);
  for (cudaEvent_t mark : marks_) {
    if (mark != nullptr) cudaEventDestroy(mark);
  }
  if (captured_ != nullptr) cudaStreamDestroy(captured_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

void GpuDevice::ReadFacts() {
  cudaDeviceProp properties;
  Check(cudaGetDeviceProperties(&properties, options_.device), "asking for properties");
  facts_.name = properties.name;
  facts_.number = options_.device;
  facts_.multiprocessors = properties.multiProcessorCount;
  facts_.major = properties.major;
  facts_.minor = properties.minor;
  facts_.memory = properties.totalGlobalMem;
  facts_.shared = properties.sharedMemPerBlockOptin;
}

// Every call begins with this: CUDA's current device is per thread, and the calling thread may have changed.
void GpuDevice::Begin() {
  if (!lost_.empty()) throw DeviceLost(lost_);
  thread_local int current = -1;
  if (current == options_.device) return;
  Check(cudaSetDevice(options_.device), "choosing the device");
  current = options_.device;
}

void GpuDevice::Lose(const std::string& why) {
  lost_ = "cuda device " + std::to_string(options_.device) + ": " + why;
  throw DeviceLost(lost_);
}

void GpuDevice::Check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // one that is not for good is taken back
  if (result == cudaErrorMemoryAllocation) throw std::bad_alloc();
  const std::string why =
      std::string(what) + ": " + cudaGetErrorString(result) + " (" + cudaGetErrorName(result) + ")";
  if (IsOfOneGrid(result))
    throw std::runtime_error("cuda device " + std::to_string(options_.device) + ": " + why);
  Lose(why);
}

size_t GpuDevice::FreeMemory() {
  Begin();
  size_t left = 0, all = 0;
  Check(cudaMemGetInfo(&left, &all), "asking for free memory");
  return left;
}

void* GpuDevice::Allocate(size_t bytes) {
  Begin();
  void* memory = nullptr;
  Check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "allocating");
  const cudaError_t cleared = cudaMemsetAsync(memory, 0, bytes, stream_);
  if (cleared != cudaSuccess) cudaFree(memory);
  Check(cleared, "clearing memory");
  return memory;
}

// cudaFree waits for the device without a timeout; Wait() has one. On a lost device nothing is freed.
bool GpuDevice::IsAtRest() {
  try {
    Wait();
    return true;
  } catch (const DeviceLost&) {
    return false;  // as the next call that may throw will say
  }
}

void GpuDevice::Free(void* memory) {
  if (memory != nullptr && IsAtRest()) cudaFree(memory);
}

void* GpuDevice::AllocateHost(size_t bytes) {
  Begin();
  void* memory = nullptr;
  Check(cudaHostAlloc(&memory, bytes > 0 ? bytes : 1, cudaHostAllocPortable), "allocating pinned memory");
  return memory;
}

void GpuDevice::FreeHost(void* memory) {
  if (memory != nullptr && IsAtRest()) cudaFreeHost(memory);
}

void GpuDevice::CopyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* what) {
  Begin();
  if (bytes > 0) Check(cudaMemcpyAsync(to, from, bytes, kind, stream_), what);
}

void GpuDevice::Upload(void* to, const void* from_host, size_t bytes) {
  CopyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, "copying to the device");
  Wait();
}

void GpuDevice::Download(void* to_host, const void* from, size_t bytes) {
  Wait();  // with a bound: a copy to memory that is not pinned waits for what is before it
  CopyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, "copying from the device");
  Wait();
}

void GpuDevice::Send(void* to, const void* from_host, size_t bytes) {
  CopyAsync(to, from_host, bytes, cudaMemcpyHostToDevice, "sending");
}
void GpuDevice::Fetch(void* to_host, const void* from, size_t bytes) {
  CopyAsync(to_host, from, bytes, cudaMemcpyDeviceToHost, "fetching");
}
void GpuDevice::Copy(void* to, const void* from, size_t bytes) {
  CopyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, "copying");
}

void GpuDevice::Clear(void* memory, size_t bytes) {
  Begin();
  if (bytes > 0) Check(cudaMemsetAsync(memory, 0, bytes, stream_), "clearing memory");
}

// Loads the kernel's code, which may not happen while a graph is captured, and asks for its shared memory.
void GpuDevice::Prepare(const KernelEntry& entry, uint32_t shared) {
  const auto known = prepared_.find(entry.function);
  if (known != prepared_.end() && shared <= known->second) return;
  if (shared > facts_.shared) {
    throw std::invalid_argument(std::string("a block of ") + entry.name + " wants " + std::to_string(shared) +
                                " bytes of shared memory; " + facts_.name + " has " +
                                std::to_string(facts_.shared));
  }
  cudaFuncAttributes attributes;
  Check(cudaFuncGetAttributes(&attributes, entry.function), entry.name);
  if (shared + attributes.sharedSizeBytes > kSharedUnasked) {
    Check(cudaFuncSetAttribute(entry.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)),
          entry.name);
  }
  prepared_[entry.function] = shared;
}

// Blocks of the kernel that can be resident at once; 0 if it cannot run. Blocks of other grids on the stream
// end without these, or wait for these to end.
uint32_t GpuDevice::BlocksTogether(const KernelEntry& entry, uint32_t threads, uint32_t shared) {
  if (facts_.major != 9 || facts_.minor != 0 || shared > facts_.shared) return 0;
  Begin();
  Prepare(entry, shared);
  int blocks = 0;
  Check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, entry.function, static_cast<int>(threads),
                                                      shared),
        entry.name);
  return static_cast<uint32_t>(blocks * facts_.multiprocessors);
}

// The next grid may begin before this one has ended: every kernel waits in GridDependencyWait(), in code
// that was compiled for such a GPU. 10 and 11 run what was compiled for 8.0, which does not wait.
void GpuDevice::LaunchOne(const List& list, const Node& node, cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(node.grid.x, node.grid.y, node.grid.z);
  config.blockDim = dim3(node.grid.threads);
  config.dynamicSmemBytes = node.grid.shared;
  config.stream = stream;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = facts_.major == 9 || facts_.major == 12 ? 1 : 0;
  void* args[] = {const_cast<void*>(list.ArgsOf(node))};
  Check(cudaLaunchKernelExC(&config, node.entry->function, args), node.entry->name);
}

void GpuDevice::LaunchAll(const List& list, cudaStream_t stream) {
  for (const Node& node : list.nodes) LaunchOne(list, node, stream);
}

void GpuDevice::Run(const List& list) {
  Begin();
#ifdef PARLEY_CUDA_TRACE
  NoteTrace(list);
#endif
  for (const Node& node : list.nodes) Prepare(*node.entry, node.grid.shared);
  LaunchAll(list, stream_);
}

std::unique_ptr<Graph> GpuDevice::Capture(const List& list) {
  Begin();
  for (const Node& node : list.nodes) Prepare(*node.entry, node.grid.shared);
  cudaGraph_t graph = nullptr;
  Check(cudaStreamBeginCapture(captured_, cudaStreamCaptureModeThreadLocal), "beginning a graph");
  try {
    LaunchAll(list, captured_);
  } catch (...) {
    cudaStreamEndCapture(captured_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  Check(cudaStreamEndCapture(captured_, &graph), "ending a graph");
  cudaGraphExec_t exec = nullptr;
  const cudaError_t made = cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphDestroy(graph);
  Check(made, "making a graph");
  try {
    // Now, not when it is launched first.
    Check(cudaGraphUpload(exec, stream_), "uploading a graph");
    auto made = std::make_unique<GpuGraph>(exec, lost_);
#ifdef PARLEY_CUDA_TRACE
    made->list = list;
#endif
    return made;
  } catch (...) {
    cudaGraphExecDestroy(exec);
    throw;
  }
}

void GpuDevice::Launch(const Graph& graph) {
  Begin();
  const auto& its = static_cast<const GpuGraph&>(graph);
#ifdef PARLEY_CUDA_TRACE
  NoteTrace(its.list);
#endif
  Check(cudaGraphLaunch(its.graph, stream_), "launching a graph");
}

void GpuDevice::Mark(int mark) {
  Begin();
  Check(cudaEventRecord(marks_[mark], stream_), "setting a mark");
}

// Most waits end within a few milliseconds, and what follows should begin at once.
void GpuDevice::AwaitEvent(cudaEvent_t event) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (;;) {
    const cudaError_t result = cudaEventQuery(event);
    if (result == cudaSuccess) return;
    if (result != cudaErrorNotReady) Check(result, "waiting");
    const auto waited = Clock::now() - begin;
    if (std::chrono::duration<double>(waited).count() > options_.longest_wait) {
      Lose("did not answer within " + std::to_string(static_cast<int>(options_.longest_wait)) + " seconds");
    }
    if (waited < kEagerWait) std::this_thread::yield();
    else std::this_thread::sleep_for(kPause);
  }
}

void GpuDevice::Wait(int mark) {
  Begin();
  AwaitEvent(marks_[mark]);
}

void GpuDevice::Wait() {
  Mark(2);
  AwaitEvent(marks_[2]);
}

}  // namespace

std::string WhyNoGpu(int device) {
  int driver = 0, runtime = 0, count = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "no NVIDIA driver answers";
  const cudaError_t result = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (result == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver is too old: it knows CUDA " + Version(driver) + ", CUDA " + Version(runtime) +
           " is needed";
  }
  if (result == cudaErrorNoDevice || (result == cudaSuccess && count == 0)) return "there is no NVIDIA GPU";
  if (result != cudaSuccess) return std::string("the NVIDIA driver fails: ") + cudaGetErrorString(result);
  if (device < 0 || device >= count) {
    return "there is no GPU " + std::to_string(device) + ", only 0 to " + std::to_string(count - 1);
  }
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (major >= kOldestCapability) return "";
  return "GPU " + std::to_string(device) + " has compute capability " + std::to_string(major) + "." +
         std::to_string(minor) + ", 8.0 is needed";
}

std::unique_ptr<Device> OpenGpu(const GpuOptions& options) { return std::make_unique<GpuDevice>(options); }

}  // namespace parley::cuda
