// One .safetensors file: eight bytes with the length of a JSON header, the
// header {name: {dtype, shape, data_offsets}}, then the tensors without gaps.
#ifndef PARLEY_MODEL_SAFETENSORS_H_
#define PARLEY_MODEL_SAFETENSORS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/file.h"
#include "model/files/tensor.h"

namespace parley::model {

// Mapped, never copied; everything in the header has been checked before a
// tensor is given out. Not changed after Open(), so any thread may read.
class SafetensorsFile {
 public:
  static constexpr size_t kMaxHeaderBytes = 100'000'000;  // as the format's own reader
  static constexpr size_t kMaxRank = 8;

  // Null with `problem` set: the path, the tensor, what was expected and found.
  static std::unique_ptr<const SafetensorsFile> Open(const std::string& path, std::string* problem);

  const std::string& path() const { return path_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }  // by name
  const Tensor* Find(std::string_view name) const;                 // null: none
  // As MappedFile::Changed; `problem` begins with the path.
  bool Changed(std::string* problem) const;

 private:
  SafetensorsFile(std::string path, std::unique_ptr<const MappedFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  bool ReadHeader(std::string* problem);

  const std::string path_;
  const std::unique_ptr<const MappedFile> file_;
  std::vector<Tensor> tensors_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_SAFETENSORS_H_
