// Tensors of a checkpoint as a backend reads them: in place where the backend
// can read the mapped file, else converted, packed or quantized once, when the model is loaded.
//
// F32, F16 and BF16 are all read as they stand, each tensor in its own: a backend widens a weight
// as it loads it, which is exact and costs one instruction (F16C, or a shift for bf16), where a converted
// copy would double what is held and what every frame reads. So the answer is that of the same
// values in f32, bit for bit, and nothing is rounded unless an option asks for fewer bytes.
#ifndef PARLEY_MODEL_WEIGHTS_H_
#define PARLEY_MODEL_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "model/files/tensor.h"

namespace parley::model {

// Selects the matrices of talker and code predictor that are kept in 8 bits, heads too. Embeddings,
// the text projection, norms, biases, codec and encoders never are.
enum class Quantize : uint8_t {
  kNone,
  kTalker,  // the talker's; the predictor stays bf16
  kAll,
  kFp8,  // the talker's, in fp8: what the predictor would lose by it changes more codes than int8 does
};

// Tensors lie in a mapped file: pages of it that were converted are given back.
// Owns what it made; views are good as long as it, the checkpoint and the backend.
// Throws std::bad_alloc when memory is out, std::invalid_argument with the tensor's
// name for weights that are not finite, beyond kGreatestWeight or beyond what their
// format holds, or are no floating-point numbers.
class Weights {
 public:
  explicit Weights(Kernels& kernels) : kernels_(kernels) {}
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  // A matrix [rows, columns] in the tensor's own dtype; trailing dimensions are columns.
  Matrix Of(const Tensor& tensor);
  // As above, in FormatFor(tensor, format): to 8 bits with one scale a row.
  Matrix Of(const Tensor& tensor, std::optional<Format> format);
  // A vector, or anything small, as floats.
  const float* Floats(const Tensor& tensor);
  const float* Floats(const std::vector<float>& values);
  // Stores values that were packed or computed, in any format.
  Matrix Packed(const std::vector<float>& values, size_t rows, size_t columns, Format format);
  // Room for weights that the backend computes itself.
  float* Room(size_t count);

  // Bytes that this holds beside the checkpoint, and bytes of the checkpoint that it shows.
  size_t OwnBytes() const { return own_bytes_; }
  size_t MappedBytes() const { return mapped_bytes_; }

 private:
  void* Take(size_t bytes);
  void* Keep(const void* from_host, size_t bytes);
  Matrix Kept(const Matrix& host, Format format);

  Kernels& kernels_;
  std::vector<void*> memory_;
  size_t own_bytes_ = 0;
  size_t mapped_bytes_ = 0;
};

// Throws std::invalid_argument when it is none of kWeightDtypes.
Format FormatOf(const Tensor& tensor);
Format FormatOf(Dtype dtype);

// The format in which a tensor is kept: `format`, or its own if that has no more bytes. Widening would change
// nothing, and converting one 16-bit format to the other might lose precision.
Format FormatFor(const Tensor& tensor, std::optional<Format> format);

// Limit on a weight's magnitude: products of larger weights overflow. Trained models are far below it.
inline constexpr float kGreatestWeight = 1e9f;
inline constexpr float kGreatestF16 = 65504;

// The values of a tensor of kWeightDtypes. Throws std::invalid_argument as Weights.
std::vector<float> ToFloats(const Tensor& tensor);

// Values in a format of 32 or 16 bits, rounded to nearest: its bytes, as a file has them.
std::vector<uint8_t> Rounded(const float* values, size_t count, Format format);

}  // namespace parley::model

#endif  // PARLEY_MODEL_WEIGHTS_H_
