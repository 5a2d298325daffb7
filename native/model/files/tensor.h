// A tensor of a checkpoint as it lies in the file: little endian, row-major.
#ifndef PARLEY_MODEL_TENSOR_H_
#define PARLEY_MODEL_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parley::model {

enum class Dtype : uint8_t { kBool, kU8, kI8, kI16, kU16, kF16, kBf16, kI32, kU32, kF32, kF64, kI64, kU64 };

struct DtypeFacts {
  Dtype dtype;
  const char* name;  // as safetensors writes it
  size_t bytes;
};

// In the order of the enumeration.
inline constexpr DtypeFacts kDtypes[] = {
    {Dtype::kBool, "BOOL", 1}, {Dtype::kU8, "U8", 1},   {Dtype::kI8, "I8", 1},   {Dtype::kI16, "I16", 2}, {Dtype::kU16, "U16", 2},
    {Dtype::kF16, "F16", 2},   {Dtype::kBf16, "BF16", 2}, {Dtype::kI32, "I32", 4}, {Dtype::kU32, "U32", 4}, {Dtype::kF32, "F32", 4},
    {Dtype::kF64, "F64", 8},   {Dtype::kI64, "I64", 8}, {Dtype::kU64, "U64", 8},
};

inline const DtypeFacts& FactsOf(Dtype dtype) { return kDtypes[static_cast<size_t>(dtype)]; }

// The dtypes that any weight may have, each tensor its own.
inline constexpr const char* kWeightDtypes = "F32, F16 or BF16";
inline bool IsWeightDtype(Dtype dtype) { return dtype == Dtype::kF32 || dtype == Dtype::kF16 || dtype == Dtype::kBf16; }

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

  size_t count() const { return bytes / FactsOf(dtype).bytes; }  // of elements
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_TENSOR_H_
