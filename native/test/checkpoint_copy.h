// Copies tiny checkpoints for tests, which damage them, reshape their tensors or store them in other dtypes.
#ifndef PARLEY_TEST_CHECKPOINT_COPY_H_
#define PARLEY_TEST_CHECKPOINT_COPY_H_

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/number_formats.h"
#include "media/random.h"
#include "model/files/safetensors.h"
#include "model/shared/weights.h"
#include "model/speech/speech_checkpoint.h"
#include "test/check.h"

namespace parley::test {

inline const std::string kGolden = PARLEY_GOLDEN;

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  CHECK(file.good());
}

// A folder that is gone with it.
class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/parley-model-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A copy of a tiny checkpoint. The weights are links, so that a copy is cheap:
// Break() and Edit() write a new file in the link's place.
class CheckpointCopy {
 public:
  explicit CheckpointCopy(const std::string& name) {
    const std::string from = kGolden + "/" + name;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from)) {
      const std::string to = folder_ / std::filesystem::relative(entry.path(), from).string();
      if (entry.is_directory()) {
        std::filesystem::create_directory(to);
      } else {
        std::filesystem::create_symlink(entry.path(), to);
      }
    }
  }

  const std::string& path() const { return folder_.path(); }
  std::string Read(const std::string& file) const { return ReadAll(folder_ / file); }
  void Write(const std::string& file, const std::string& bytes) {
    Remove(file);
    WriteAll(folder_ / file, bytes);
  }
  void Remove(const std::string& file) { std::filesystem::remove(folder_ / file); }
  // The first `from` becomes `to`.
  void Edit(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = Read(file);
    const size_t at = text.find(from);
    CHECK(at != std::string::npos);
    if (at != std::string::npos) Write(file, text.replace(at, from.size(), to));
  }
  // The first bytes of a tensor of this safetensors file become these.
  void Overwrite(const std::string& file, const std::string& tensor, const std::string& bytes) {
    std::string problem, text = Read(file);
    const auto opened = model::SafetensorsFile::Open(folder_ / file, &problem);
    const model::Tensor* const found = opened == nullptr ? nullptr : opened->Find(tensor);
    CHECK(found != nullptr && bytes.size() <= found->bytes);
    if (found == nullptr) return;
    // Tensors fill the file to its end.
    const uint8_t* end = nullptr;
    for (const model::Tensor& one : opened->tensors()) end = std::max(end, one.data + one.bytes);
    const size_t at = text.size() - static_cast<size_t>(end - found->data);
    Write(file, text.replace(at, bytes.size(), bytes));
  }

 private:
  TempFolder folder_;
};

// A checkpoint that has to be right.
inline std::unique_ptr<const model::SpeechCheckpoint> Opened(const std::string& directory) {
  std::string problem;
  auto checkpoint = model::SpeechCheckpoint::Open(directory, model::PieceRule::kNative, &problem);
  CHECK_EQ(problem, "");
  CHECK(checkpoint != nullptr);
  return checkpoint;
}

// A safetensors file around this header and so many bytes of data.
inline std::string SafetensorsOf(const std::string& header, size_t data_bytes) {
  std::string file;
  for (int n = 0; n < 8; n++) file.push_back(static_cast<char>(header.size() >> (8 * n) & 0xFF));
  return file + header + std::string(data_bytes, '\1');
}

// A safetensors file made of tensors, one after the other.
class SafetensorsParts {
 public:
  void Add(const std::string& name, model::Dtype dtype, const model::Shape& shape, const std::string& bytes) {
    header_ += (header_.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"" + FactsOf(dtype).name +
               "\",\"shape\":" + model::ToString(shape) + ",\"data_offsets\":[" +
               std::to_string(data_.size()) + "," + std::to_string(data_.size() + bytes.size()) + "]}";
    data_ += bytes;
  }
  // Adds a tensor of another file.
  void Add(const model::Tensor& tensor) {
    Add(tensor.name, tensor.dtype, tensor.shape,
        std::string(reinterpret_cast<const char*>(tensor.data), tensor.bytes));
  }

  // The data begin at a multiple of eight.
  std::string File() const {
    std::string header = header_ + "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    return SafetensorsOf(header, 0) + data_;
  }

 private:
  std::string header_, data_;
};

// A copy of a tiny checkpoint with other sizes: objects of its configuration are
// replaced, and tensors that then have another shape are drawn anew.
class ReshapedCheckpoint {
 public:
  explicit ReshapedCheckpoint(const std::string& name, uint64_t seed = 1) : copy_(name), random_(seed) {
    std::string problem;
    original_ = model::SpeechCheckpoint::Open(copy_.path(), model::PieceRule::kNative, &problem);
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
  std::unique_ptr<const model::SpeechCheckpoint> Open() {
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

  // Draws values that keep signals near 1, with no scale 0.
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
  std::unique_ptr<const model::SpeechCheckpoint> original_;
};

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
  // The weights of `name`, rounded to what the rules say. `widened`: the same values, all of them in f32. A
  // dtype that no weights have gives zeros.
  RetypedCheckpoint(const std::string& name, const DtypeRule& model, const DtypeRule& codec,
                    bool widened = false)
      : copy_(name), widened_(widened) {
    Rewrite(kGolden + "/" + name, "", model);
    Rewrite(kGolden + "/" + name, "speech_tokenizer/", codec);
  }

  // A checkpoint without a codec: all its weights, of whatever shards, in one file.
  RetypedCheckpoint(const std::string& name, const DtypeRule& rule) : copy_(name), widened_(false) {
    Rewrite(kGolden + "/" + name, "", rule);
  }

  const std::string& path() const { return copy_.path(); }

  // The first element of this tensor of the codec, which is f32, becomes infinite.
  void Spoil(const std::string& name) {
    copy_.Overwrite("speech_tokenizer/model.safetensors", name, std::string("\0\0\x80\x7f", 4));
  }

 private:
  struct Stored {
    const model::Tensor* tensor;
    model::Dtype dtype;
    std::string bytes;
  };

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

#endif  // PARLEY_TEST_CHECKPOINT_COPY_H_
