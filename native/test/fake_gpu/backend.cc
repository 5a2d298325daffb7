// Replaces parley_cuda.so in tests: a backend that computes nothing, reports a GPU, and simulates its
// failures. Its sound is a square wave; no stream ends by itself.
//
// The file that PARLEY_FAKE_GPU names holds what is the matter with it, looked at whenever something is
// waited for or allocated:
//   well | lost | full (nothing can be allocated) | taken (another process has all but 12 MiB: it cannot be
//   opened) | dead (cannot be opened)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "kernels/cuda/plugin.h"
#include "kernels/speech_kernels.h"

namespace parley {
namespace {

constexpr size_t kTotal = size_t{8} << 30;
constexpr size_t kFree = size_t{7} << 30;
constexpr size_t kListBytes = size_t{3} << 20;  // bytes of a captured graph
constexpr size_t kHeader = 64;                  // before each allocation: its size
constexpr float kLevel = 0.25f;
constexpr size_t kHalfPeriod = 32;  // samples

std::string Matter() {
  const char* const path = std::getenv("PARLEY_FAKE_GPU");
  std::string matter;
  if (path != nullptr) std::ifstream(path) >> matter;
  return matter;
}

class FakeGpu final : public SpeechKernels {
 public:
  explicit FakeGpu(const cuda::PluginOptions& options) {
    if (!options.graphs) name_ += ", no graphs";
    if (options.full_vectors) name_ += ", full vectors";
  }

  const char* Name() const override { return name_.c_str(); }
  bool ReadsHostMemory() const override { return false; }
  bool AnswersAtOnce() const override { return false; }
  BackendFigures Figures() const override {
    BackendFigures figures;
    figures.memory_in_use = in_use_;
    figures.memory_total = kTotal;
    figures.memory_free = kFree - in_use_;
    figures.eager = eager_;
    figures.captures = captures_;
    figures.launches = launches_;
    figures.list_bytes = captures_ * kListBytes;
    return figures;
  }

  void* Allocate(size_t bytes) override {
    const std::string matter = Look();
    auto* const memory =
        matter == "full"
            ? nullptr
            : static_cast<char*>(std::aligned_alloc(kHeader, (bytes + 2 * kHeader - 1) / kHeader * kHeader));
    if (memory == nullptr) throw std::bad_alloc();
    std::memset(memory, 0, bytes + kHeader);
    std::memcpy(memory, &bytes, sizeof bytes);
    in_use_ += bytes;
    return memory + kHeader;
  }
  void Free(void* memory) override {
    if (memory == nullptr) return;
    auto* const whole = static_cast<char*>(memory) - kHeader;
    size_t bytes = 0;
    std::memcpy(&bytes, whole, sizeof bytes);
    in_use_ -= bytes;
    std::free(whole);
  }
  void Upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void Download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void Copy(void* to, const void* from, size_t bytes) override { std::memmove(to, from, bytes); }
  // The first list of each life is run piece by piece, the second made into a graph.
  void Wait() override {
    Look();
    if (eager_ == 0) eager_++;
    else if (captures_ == 0) captures_++;
    else launches_++;
  }

  void Multiply(const Matrix&, const Vectors&, const Finish&, float*) override {}
  void MultiplyGated(const Matrix&, const Matrix&, const Vectors&, float*) override {}
  void Gather(const Matrix&, const Ids&, size_t, bool, float*) override {}
  void TakeNearest(const Matrix&, float*, size_t count, int32_t* ids) override {
    std::memset(ids, 0, count * sizeof *ids);
  }
  void RmsNorm(const float*, const float*, size_t, size_t, float, float*) override {}
  void LayerNorm(const float*, const float*, const float*, size_t, size_t, float, float*) override {}
  void Angles(const uint64_t*, size_t, size_t, double, float*) override {}
  void Rotate(float*, size_t, size_t, size_t, const float*) override {}
  void Store(const AttentionBatch&, size_t, const AttentionRows&) override {}
  void Attend(const AttentionBatch&, size_t, const AttentionRows&) override {}
  void ConvolveCausal(const Convolution&, const Stretch*, size_t, float*) override {}
  void ConvolveDepthwise(const float*, const float*, size_t, size_t, const Stretch*, size_t,
                         float*) override {}
  void Pad(const float*, size_t, size_t, size_t, size_t, Padding, float*) override {}
  void Activate(Activation, float*, size_t) override {}
  void Snake(const float*, const float*, const float*, size_t, size_t, float*) override {}
  void Add(float*, const float*, size_t) override {}
  // The last thing that is done to sound.
  void Clamp(float* x, size_t count, float, float) override {
    for (size_t i = 0; i < count; i++) x[i] = i / kHalfPeriod % 2 == 0 ? kLevel : -kLevel;
  }
  void Statistics(const float*, const float*, size_t, size_t, size_t, float, float*, float*) override {}
  void SoftmaxOverTime(float*, size_t, size_t, size_t) override {}
  void AddScaled(float*, const float*, const float*, size_t, size_t) override {}
  void Modulate(const float*, const float*, size_t, size_t, size_t, float*) override {}
  void AddGated(const float*, const float*, size_t, size_t, size_t, float*) override {}
  void CopyColumns(const float*, size_t, size_t, float*, size_t, size_t, size_t, size_t) override {}
  void GatherPlanes(const float*, const Planes&, float*) override {}
  void Choose(const Choice*, size_t count, float*, size_t, uint64_t, int32_t* ids, size_t stride) override {
    for (size_t i = 0; i < count; i++) ids[i * stride] = 0;
  }

 private:
  std::string Look() {
    const std::string matter = Matter();
    if (matter == "lost") lost_ = true;
    if (lost_) throw BackendLost("cuda device 0: waiting: the GPU has fallen off the bus (Xid 79)");
    return matter;
  }

  std::string name_ = "cuda Fake GPU";  // and what it was asked for
  bool lost_ = false;
  size_t in_use_ = 0;
  uint64_t eager_ = 0, captures_ = 0, launches_ = 0;
};

void Say(const char* what, char* problem, size_t bytes) { std::snprintf(problem, bytes, "%s", what); }

}  // namespace
}  // namespace parley

extern "C" __attribute__((visibility("default"))) parley::Kernels* parley_cuda_open(
    const char* interface, const parley::cuda::PluginOptions* options, char* problem, size_t problem_bytes) {
  using namespace parley;
  if (std::strcmp(interface, cuda::kPluginInterface) != 0) {
    return Say("the CUDA backend was built from other sources than the engine", problem, problem_bytes),
           nullptr;
  }
  const std::string matter = Matter();
  if (matter == "taken")
    return Say("of the GPU's memory only 12 MiB are free", problem, problem_bytes), nullptr;
  if (matter == "dead" || matter == "lost") {
    return Say("cuda device 0: choosing the device: the GPU has fallen off the bus", problem, problem_bytes),
           nullptr;
  }
  return new FakeGpu(*options);
}
