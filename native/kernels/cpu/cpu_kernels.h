// The CPU backend: every operation works on host memory and is done when the call returns.
//
// Work is divided by rows of a matrix, by heads or by positions. One thread computes each result completely,
// so results do not depend on the number of threads.
#ifndef PARLEY_KERNELS_CPU_CPU_KERNELS_H_
#define PARLEY_KERNELS_CPU_CPU_KERNELS_H_

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/variant.h"
#include "kernels/speech_kernels.h"

namespace parley::cpu {

class CpuKernels : public SpeechKernels {
 public:
  explicit CpuKernels(const ThreadPoolOptions& threads, const Variant& variant = ChooseVariant());

  const char* Name() const override { return name_.c_str(); }
  bool ReadsHostMemory() const override { return true; }
  bool AnswersAtOnce() const override { return true; }

  void* Allocate(size_t bytes) override;
  void Free(void* memory) override;
  void Upload(void* to, const void* from_host, size_t bytes) override { Copy(to, from_host, bytes); }
  void Download(void* to_host, const void* from, size_t bytes) override { Copy(to_host, from, bytes); }
  void Copy(void* to, const void* from, size_t bytes) override;
  void Wait() override {}

  void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) override;
  void MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) override;

  void Gather(const Matrix& table, const Ids& ids, size_t count, bool add, float* y) override;
  void TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) override;

  void RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) override;
  void LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width, float eps,
                 float* y) override;

  void Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta, float* angles) override;
  void Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) override;

  void Store(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) override;
  void Attend(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) override;

  void ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count,
                      float* y) override;
  void ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                         const Stretch* streams, size_t count, float* y) override;
  void Pad(const float* x, size_t rows, size_t channels, size_t left, size_t right, Padding padding,
           float* y) override;

  void Activate(Activation activation, float* x, size_t count) override;
  void Snake(const float* x, const float* a, const float* b, size_t rows, size_t channels, float* y) override;
  void Add(float* y, const float* x, size_t count) override;
  void Clamp(float* x, size_t count, float lowest, float highest) override;

  void Statistics(const float* x, const float* weights, size_t rows, size_t channels, size_t stride,
                  float floor, float* mean, float* deviation) override;
  void SoftmaxOverTime(float* x, size_t rows, size_t channels, size_t stride) override;
  void AddScaled(float* y, const float* x, const float* gain, size_t rows, size_t channels) override;
  void Modulate(const float* shift, const float* scale, size_t rows, size_t width, size_t stride,
                float* x) override;
  void AddGated(const float* x, const float* gate, size_t rows, size_t width, size_t stride,
                float* y) override;
  void CopyColumns(const float* x, size_t from_width, size_t from, float* y, size_t to_width, size_t to,
                   size_t width, size_t rows) override;

  void GatherPlanes(const float* x, const Planes& planes, float* y) override;

  void Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary, uint64_t sequence,
              int32_t* ids, size_t stride) override;

 private:
  // work(first, last) for shares of `count` things; all of them here when `operations`,
  // about the number of instructions, are too few to call others, or to give way before.
  template <class Work>
  void Split(size_t count, size_t granule, size_t operations, const Work& work) {
    SplitParts(count, granule, operations, [&](unsigned, size_t first, size_t last) { work(first, last); });
  }

  // As above; work(part, first, last) also gets the number of its thread in the pool.
  template <class Work>
  void SplitParts(size_t count, size_t granule, size_t operations, const Work& work) {
    constexpr size_t kWorthCalling = 1 << 14;  // some microseconds
    if (operations < kWorthCalling) return work(0u, size_t{0}, count);
    pool_.Run([&](unsigned part) {
      const auto share = ShareOf(count, granule, part, pool_.Threads());
      if (share.first < share.second) work(part, share.first, share.second);
    });
  }

  void MakeRooms(const Product& whole);
  RoundedVectors Round(const Vectors& x);

  const float* GatherWindows(const Convolution& convolution, const Stretch* streams, size_t count);

  const Variant& variant_;
  ThreadPool pool_;
  std::string name_;
  std::vector<std::vector<float>> scores_;  // per thread: as long as the longest context so far
  std::vector<std::vector<float>> rooms_;   // per thread: scratch memory for the variant's products
  std::vector<int16_t> wholes_;             // 8-bit weights: a product's vectors, rounded ..
  std::vector<float> scales_;               // .. and the scales of their groups
  std::vector<float> lifted_;   // gated product of many vectors: the values that the gate multiplies
  std::vector<float> windows_;  // short stretches of several streams, side by side
  SamplingScratch sampling_;
};

inline void Require(bool condition, const char* otherwise) {
  if (!condition) throw std::invalid_argument(otherwise);
}

}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_CPU_KERNELS_H_
