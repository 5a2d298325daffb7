// Tensors of a checkpoint as a backend reads them: in place where the backend
// can read the mapped file, else converted, packed or quantized once, when the model is loaded.
#ifndef PARLEY_MODEL_WEIGHTS_H_
#define PARLEY_MODEL_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/tensor.h"

namespace parley::model {

// Which matrices of talker and code predictor are kept in 8 bits, heads too. Embeddings,
// the text projection, norms, biases, codec and encoders never are.
enum class Quantize : uint8_t {
  kNone,
  kTalker,  // the talker's; the predictor stays bf16
  kAll,
};

// Tensors lie in a mapped file: pages of it that were converted are given back.
// Owns what it made; views are good as long as it, the checkpoint and the backend.
// Throws std::bad_alloc when memory is out, std::invalid_argument with the tensor's
// name for weights that are not finite where they must be (quantization), or are no
// floating-point numbers.
class Weights {
 public:
  explicit Weights(Kernels& kernels) : kernels_(kernels) {}
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // A matrix [rows, columns] in the tensor's own dtype; trailing dimensions are columns.
  Matrix Of(const Tensor& tensor);
  // The same rounded to another format, or to 8 bits with one scale a row; without a format as it is.
  Matrix Of(const Tensor& tensor, std::optional<Format> format);
  // A vector, or anything small, as floats.
  const float* Floats(const Tensor& tensor);
  const float* Floats(const std::vector<float>& values);
  // Of values that were packed or computed, in any format.
  Matrix Packed(const std::vector<float>& values, size_t rows, size_t columns, Format format);

  // Bytes that this holds beside the checkpoint, and bytes of the checkpoint that it shows.
  size_t OwnBytes() const { return own_bytes_; }
  size_t MappedBytes() const { return mapped_bytes_; }

 private:
  void* Keep(const void* from_host, size_t bytes);
  Matrix Kept(const Matrix& host, Format format);

  Kernels& kernels_;
  std::vector<void*> memory_;
  size_t own_bytes_ = 0;
  size_t mapped_bytes_ = 0;
};

// Throws std::invalid_argument when it is none of F32, F16 and BF16.
Format FormatOf(const Tensor& tensor);

// The values of a tensor of F32, F16 or BF16.
std::vector<float> ToFloats(const Tensor& tensor);

}  // namespace parley::model

#endif  // PARLEY_MODEL_WEIGHTS_H_
