// A copy of a tiny checkpoint whose tensors are of other dtypes, as tools write them that save
// whole models in f16 or f32, or some tensors so and some so.
#ifndef PARLEY_TEST_RETYPED_CHECKPOINT_H_
#define PARLEY_TEST_RETYPED_CHECKPOINT_H_

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "model/files/tensor_set.h"
#include "model/shared/weights.h"
#include "test/safetensors_parts.h"

namespace parley::test {

// The dtype of the n-th tensor of a file.
using DtypeRule = std::function<model::Dtype(const model::Tensor& tensor, size_t n)>;

inline DtypeRule Always(model::Dtype dtype) {
  return [dtype](const model::Tensor&, size_t) { return dtype; };
}
inline model::Dtype AsItIs(const model::Tensor& tensor, size_t) { return tensor.dtype; }
inline model::Dtype ByTurns(const model::Tensor&, size_t n) {
  constexpr model::Dtype kTurns[] = {model::Dtype::kBf16, model::Dtype::kF32, model::Dtype::kF16};
  return kTurns[n % 3];
}

class RetypedCheckpoint {
 public:
  // The weights of `name`, rounded to what the rules say. `widened`: the same values, all of them in f32. Of
  // a dtype that is none of weights, zeros.
  RetypedCheckpoint(const std::string& name, const DtypeRule& model, const DtypeRule& codec,
                    bool widened = false)
      : copy_(name), widened_(widened) {
    Rewrite(kGolden + "/" + name, "", model);
    Rewrite(kGolden + "/" + name, "speech_tokenizer/", codec);
  }

  const std::string& path() const { return copy_.path(); }

  // The first element of this tensor of the codec, which is f32, becomes infinite.
  void Spoil(const std::string& name) {
    const std::string file = "speech_tokenizer/model.safetensors";
    std::string problem, bytes = copy_.Read(file);
    const auto opened = model::SafetensorsFile::Open(path() + "/" + file, &problem);
    const auto* const tensor = opened->Find(name);
    CHECK(tensor != nullptr && tensor->dtype == model::Dtype::kF32);
    const size_t at = bytes.size() - static_cast<size_t>(End(*opened) - tensor->data);
    copy_.Write(file, bytes.replace(at, 4, std::string("\0\0\x80\x7f", 4)));
  }

 private:
  struct Stored {
    const model::Tensor* tensor;
    model::Dtype dtype;
    std::string bytes;
  };

  // Behind the last byte of the file.
  static const uint8_t* End(const model::SafetensorsFile& file) {
    const uint8_t* end = nullptr;
    for (const model::Tensor& tensor : file.tensors()) end = std::max(end, tensor.data + tensor.bytes);
    return end;
  }

  Stored Retyped(const model::Tensor& tensor, model::Dtype dtype) const {
    if (!IsWeightDtype(dtype))
      return {&tensor, dtype, std::string(tensor.count() * FactsOf(dtype).bytes, '\0')};
    std::vector<float> values = model::ToFloats(tensor);
    std::vector<uint8_t> bytes = model::Rounded(values.data(), values.size(), model::FormatOf(dtype));
    if (widened_) {
      values = model::ToFloats({tensor.name, dtype, tensor.shape, bytes.data(), bytes.size()});
      bytes = model::Rounded(values.data(), values.size(), Format::kF32);
      dtype = model::Dtype::kF32;
    }
    return {&tensor, dtype, std::string(bytes.begin(), bytes.end())};
  }

  void Rewrite(const std::string& from, const std::string& folder, const DtypeRule& rule) {
    std::string problem;
    const auto old = model::TensorSet::Open(from + "/" + folder, &problem);
    CHECK_EQ(problem, "");
    std::vector<Stored> all;
    for (const model::Tensor* tensor : old->tensors())
      all.push_back(Retyped(*tensor, rule(*tensor, all.size())));
    // Larger elements first, as the format's own writer does, so that all are aligned.
    std::stable_sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) {
      return FactsOf(a.dtype).bytes > FactsOf(b.dtype).bytes;
    });
    SafetensorsParts parts;
    for (const Stored& one : all) parts.Add(one.tensor->name, one.dtype, one.tensor->shape, one.bytes);
    copy_.Write(folder + "model.safetensors", parts.File());
  }

  CheckpointCopy copy_;
  const bool widened_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_RETYPED_CHECKPOINT_H_
