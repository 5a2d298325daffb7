// The CUDA backend: calls are recorded as grids of a list. The list runs when the host waits for a result.
//
// Its values are as close to the CPU's as the tests of each part state. Ids outside their table, and a KV
// cache that is too small for the visible positions, lie in device memory and cannot be rejected here.
#ifndef PARLEY_KERNELS_CUDA_CUDA_KERNELS_H_
#define PARLEY_KERNELS_CUDA_CUDA_KERNELS_H_

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/device/copy_run.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/memory_pool.h"
#include "kernels/cuda/device/recorder.h"
#include "kernels/cuda/device/work_room.h"
#include "kernels/cuda/products/product_plan.h"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

struct LayerRunRoom;

struct CudaOptions {
  RecorderOptions recorder;
  // Bytes that are taken at once, and of which Allocate gives parts; 0: it asks the device each time.
  size_t pool = 0;
  bool full_vectors = false;  // see ProductRules
};

class CudaKernels : public SpeechKernels {
 public:
  CudaKernels(std::unique_ptr<Device> device, const CudaOptions& options);
  ~CudaKernels() override;

  const char* Name() const override { return name_.c_str(); }
  bool ReadsHostMemory() const override { return false; }
  bool AnswersAtOnce() const override { return false; }
  BackendFigures Figures() const override;
  bool Rehearse(bool on) override { return recorder_.CaptureAtOnce(on); }
  bool Rehearses() const override { return recorder_.CapturesAtOnce(); }

  void* Allocate(size_t bytes) override;
  void Free(void* memory) override;
  void Upload(void* to, const void* from_host, size_t bytes) override;
  void Download(void* to_host, const void* from, size_t bytes) override;
  void Copy(void* to, const void* from, size_t bytes) override;
  void Wait() override;

  void Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) override;
  void MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) override;
  void MultiplyNormed(const Matrix& w, const Norm& norm, float* x, size_t rows, size_t every,
                      const float* bias, float* y) override;
  void MultiplySnaked(const Matrix& w, float* x, const float* a, const float* b, size_t rows,
                      const Finish& finish, float* y) override;
  void Gather(const Matrix& table, const Ids& ids, size_t count, bool add, float* y) override;
  void GatherSum(const Matrix* tables, size_t table_count, const Ids& ids, size_t count, bool add,
                 float* y) override;
  void TakeNearest(const Matrix& table, float* x, size_t count, int32_t* ids) override;

  void RmsNorm(const float* x, const float* w, size_t rows, size_t width, float eps, float* y) override;
  void LayerNorm(const float* x, const float* w, const float* b, size_t rows, size_t width, float eps,
                 float* y) override;
  void Angles(const uint64_t* positions, size_t count, size_t head_dim, double theta, float* angles) override;
  void Rotate(float* x, size_t rows, size_t heads, size_t head_dim, const float* angles) override;
  void Store(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) override;
  void Attend(const AttentionBatch& batch, size_t layer, const AttentionRows& rows) override;
  void AttendRows(const HeadProjections& heads, const LayerRows& x, const float* angles,
                  const AttentionBatch& batch, size_t layer, const AttentionRows& rows) override;
  bool RunLayers(const LayerWeights* layers, size_t count, const float* angles, const AttentionBatch& batch,
                 float* x) override;
  bool RunPasses(const CodePasses& passes, const AttentionBatch& batch, float* x) override;
  void ExpandRows(const Norm& norm, const Matrix& gate, const Matrix& up, const LayerRows& x,
                  float* y) override;
  void AddAttention(const LayerWeights& layer, size_t n, const float* angles, const AttentionBatch& batch,
                    const LayerRoom& room, float* x) override;
  void AddMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, float* x) override;
  void GatherPlanes(const float* x, const Planes& planes, float* y) override;

  void ConvolveCausal(const Convolution& convolution, const Stretch* streams, size_t count,
                      float* y) override;
  void ConvolveSpread(const float* x, const float* a, const float* b, const Convolution& convolution,
                      const Stretch* streams, size_t count, float* y) override;
  void ConvolveClamped(const float* x, const float* a, const float* b, const Convolution& convolution,
                       const Stretch* streams, size_t count, float lowest, float highest, float* y) override;
  void ConvolveDepthwise(const float* weights, const float* bias, size_t channels, size_t taps,
                         const Stretch* streams, size_t count, float* y) override;
  void ConvolveSpreadDepthwise(const float* x, const float* weights, const float* bias, size_t channels,
                               size_t taps, const Stretch* streams, size_t count, float* y) override;
  void AddResidual(const ResidualUnit& unit, const Stretch* streams, size_t count, size_t rows, float* x,
                   float* y) override;
  void Spread(const float* x, const float* a, const float* b, size_t channels, const Stretch* streams,
              size_t count) override;
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

  void Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary, uint64_t sequence,
              int32_t* ids, size_t stride) override;

  Device& TheDevice() { return *device_; }
  Recorder& TheRecorder() { return recorder_; }

 private:
  // The queue for what comes after the copies that were asked for.
  Queue& Next();
  void AddActivatedMlp(const LayerWeights& layer, size_t rows, const LayerRoom& room, const Finish& finish,
                       float* x);
  void ProjectHeads(const HeadProjections& heads, const LayerRows& x, const AttentionRows& rows);
  // AttendRows, with its output handed over.
  void AttendTo(const TermsPlace& handed, const HeadProjections& heads, const LayerRows& x,
                const float* angles, const AttentionBatch& batch, size_t layer, const AttentionRows& rows);
  // The place at which rows of this product can be handed to MultiplyHanded. MultiplyHanded reads them there,
  // or else from x.
  TermsPlace PlaceFor(const Matrix& w, size_t rows, const Finish& finish, float* y);
  void MultiplyHanded(const Matrix& w, const TermsPlace& handed, const float* x, size_t rows,
                      const Finish& finish, float* y);
  void AddCopy(void* to, const void* from, size_t bytes);
  void CopyLarge(void* to, const void* from, size_t bytes);
  void CopyOverlapping(char* to, const char* from, size_t bytes);
  void Submit();

  std::unique_ptr<Device> device_;
  std::string name_;
  void* pooled_ = nullptr;
  std::unique_ptr<MemoryPool> pool_;
  WorkRoom room_;
  WorkRoom handed_;    // rows that a grid hands to the next product
  WorkRoom parts_;     // partial softmaxes of attention that several blocks share ..
  WorkRoom arrivals_;  // .. and counters of blocks that are done: zero between grids
  std::unique_ptr<LayerRunRoom> layer_run_;
  Recorder recorder_;
  CopyRun copies_;
};

inline void Require(bool condition, const char* otherwise) {
  if (!condition) throw std::invalid_argument(otherwise);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_CUDA_KERNELS_H_
