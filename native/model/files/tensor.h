// Tensors of a checkpoint: as they lie in the file, and as a configuration promises them.
#ifndef PARLEY_MODEL_TENSOR_H_
#define PARLEY_MODEL_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parley::model {

// A tensor lies in the file little endian and row-major.
enum class Dtype : uint8_t { kBool, kU8, kI8, kI16, kU16, kF16, kBf16, kI32, kU32, kF32, kF64, kI64, kU64 };

struct DtypeFacts {
  Dtype dtype;
  const char* name;  // as safetensors writes it
  size_t bytes;
};

// In the order of the enumeration.
inline constexpr DtypeFacts kDtypes[] = {
    {Dtype::kBool, "BOOL", 1}, {Dtype::kU8, "U8", 1},   {Dtype::kI8, "I8", 1},     {Dtype::kI16, "I16", 2},
    {Dtype::kU16, "U16", 2},   {Dtype::kF16, "F16", 2}, {Dtype::kBf16, "BF16", 2}, {Dtype::kI32, "I32", 4},
    {Dtype::kU32, "U32", 4},   {Dtype::kF32, "F32", 4}, {Dtype::kF64, "F64", 8},   {Dtype::kI64, "I64", 8},
    {Dtype::kU64, "U64", 8},
};

inline const DtypeFacts& FactsOf(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }

// The dtypes that any weight may have, each tensor its own.
inline constexpr const char* kWeightDtypes = "F32, F16 or BF16";
inline bool IsWeightDtype(Dtype dtype) {
  return dtype == Dtype::kF32 || dtype == Dtype::kF16 || dtype == Dtype::kBf16;
}

using Shape = std::vector<int64_t>;

// "[3072, 1024]"
std::string ToString(const Shape& shape);

// A view: `data` belongs to the mapped file, which outlives it.
struct Tensor {
  std::string name;
  Dtype dtype = Dtype::kBf16;
  Shape shape;
  const uint8_t* data = nullptr;  // aligned to the dtype
  size_t bytes = 0;

  size_t count() const { return bytes / FactsOf(dtype).bytes; }  // number of elements
};

struct ExpectedTensor {
  std::string name;
  Dtype dtype;
  Shape shape;
};

// Collects a list: names under one prefix, of one dtype.
class ExpectedTensors {
 public:
  ExpectedTensors(Dtype dtype, std::vector<ExpectedTensor>* list) : dtype_(dtype), list_(list) {}

  // This list, with names under `prefix` and a dot.
  ExpectedTensors Under(const std::string& prefix) const { return {dtype_, list_, prefix_ + prefix + "."}; }
  ExpectedTensors Under(const std::string& prefix, int64_t n) const {
    return Under(prefix + "." + std::to_string(n));
  }

  void Add(const std::string& name, Shape shape) const {
    list_->push_back({prefix_ + name, dtype_, std::move(shape)});
  }
  // A weight of this shape and a bias of its outputs: the first dimension,
  // or for a transposed convolution the second.
  void AddWithBias(const std::string& name, const Shape& shape, size_t outputs = 0) const {
    Add(name + ".weight", shape);
    Add(name + ".bias", {shape[outputs]});
  }

 private:
  ExpectedTensors(Dtype dtype, std::vector<ExpectedTensor>* list, std::string prefix)
      : dtype_(dtype), list_(list), prefix_(std::move(prefix)) {}

  const Dtype dtype_;
  std::vector<ExpectedTensor>* const list_;
  const std::string prefix_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_TENSOR_H_
