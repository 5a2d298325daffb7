// A copy of a tiny checkpoint with other sizes: objects of its configuration are
// replaced, and tensors that then have another shape are drawn anew.
#ifndef PARLEY_TEST_RESHAPED_CHECKPOINT_H_
#define PARLEY_TEST_RESHAPED_CHECKPOINT_H_

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/number_formats.h"
#include "media/random.h"
#include "model/files/checkpoint.h"
#include "model/speech/model_tensors.h"
#include "test/safetensors_parts.h"

namespace parley::test {

class ReshapedCheckpoint {
 public:
  explicit ReshapedCheckpoint(const std::string& name, uint64_t seed = 1) : copy_(name), random_(seed) {
    std::string problem;
    original_ = model::Checkpoint::Open(copy_.path(), model::PieceRule::kNative, &problem);
    CHECK_EQ(problem, "");
  }

  // `object`: as JSON, without nested objects in what it replaces.
  void Replace(const std::string& file, const std::string& key, const std::string& object) {
    std::string text = copy_.Read(file);
    const size_t at = text.find("\"" + key + "\": {"), open = text.find('{', at),
                 close = text.find('}', open);
    CHECK(at != std::string::npos && close != std::string::npos);
    copy_.Write(file, text.replace(open, close - open + 1, object));
  }

  // The checkpoint as it is now.
  std::unique_ptr<const model::Checkpoint> Open() {
    Rewrite("config.json", "model.safetensors", original_->model(),
            [](const model::ConfigReader& reader) { return TensorsOf(model::ReadModelConfig(reader)); });
    Rewrite(
        "speech_tokenizer/config.json", "speech_tokenizer/model.safetensors", original_->codec(),
        [](const model::ConfigReader& reader) { return TensorsOf(model::ReadCodecConfig(reader, true)); });
    return Opened(copy_.path());
  }

 private:
  using List = std::function<std::vector<model::ExpectedTensor>(const model::ConfigReader&)>;

  void Rewrite(const std::string& config, const std::string& file, const model::TensorSet& old,
               const List& list) {
    std::string problem;
    const auto document = model::JsonDocument::Parse(copy_.Read(config), &problem);
    const auto wanted = list(model::ConfigReader(config, document->root(), &problem));
    CHECK_EQ(problem, "");
    SafetensorsParts parts;
    for (const model::ExpectedTensor& one : wanted) {
      const model::Tensor* const tensor = old.Find(one.name);
      const bool same = tensor != nullptr && tensor->shape == one.shape;
      same ? parts.Add(*tensor) : parts.Add(one.name, one.dtype, one.shape, Drawn(one));
    }
    copy_.Write(file, parts.File());
  }

  // So that signals stay near 1, and no scale is 0.
  std::string Drawn(const model::ExpectedTensor& tensor) {
    std::string data;
    size_t count = 1, inputs = 1;
    for (size_t n = 0; n < tensor.shape.size(); n++) {
      count *= static_cast<size_t>(tensor.shape[n]);
      if (n > 0) inputs *= static_cast<size_t>(tensor.shape[n]);
    }
    const bool bias = tensor.name.find(".bias") != std::string::npos;
    const bool table = tensor.name.find("embed") != std::string::npos;
    const double spread = bias ? 0.2 : table ? 1 : std::sqrt(3.0 / static_cast<double>(inputs));
    for (size_t n = 0; n < count; n++) {
      const double unit = random_.Unit();
      const bool scale = tensor.shape.size() == 1 && !bias;
      const auto value = static_cast<float>(scale ? 0.5 + unit : spread * (2 * unit - 1));
      const uint16_t half = ToBf16(value).bits;
      if (tensor.dtype == model::Dtype::kBf16) data.append(reinterpret_cast<const char*>(&half), 2);
      else data.append(reinterpret_cast<const char*>(&value), 4);
    }
    return data;
  }

  CheckpointCopy copy_;
  Random random_;
  std::unique_ptr<const model::Checkpoint> original_;
};

}  // namespace parley::test

#endif  // PARLEY_TEST_RESHAPED_CHECKPOINT_H_
