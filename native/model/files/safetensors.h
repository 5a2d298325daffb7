// Opens and checks the weights of a model: one .safetensors file, or the shards that an index names.
#ifndef PARLEY_MODEL_FILES_SAFETENSORS_H_
#define PARLEY_MODEL_FILES_SAFETENSORS_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/file.h"
#include "model/files/tensor.h"

namespace parley::model {

// One .safetensors file: eight bytes with the length of a JSON header, the
// header {name: {dtype, shape, data_offsets}}, then the tensors without gaps.
//
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

// Owns the mappings; pointers to tensors are good as long as the set.
class TensorSet {
 public:
  static constexpr size_t kMaxShards = 1000;
  static constexpr size_t kMaxIndexBytes = 100'000'000;

  // Null with `problem` set. The single file is preferred where both exist.
  static std::unique_ptr<const TensorSet> Open(const std::string& directory, std::string* problem);

  const Tensor* Find(std::string_view name) const;                        // null: none
  const std::vector<const Tensor*>& tensors() const { return tensors_; }  // by name

  // True if one of the files was changed since it was opened; `problem` names it.
  bool Changed(std::string* problem) const;

  // True if every expected tensor is present, with its shape and one of kWeightDtypes. Otherwise `problem`
  // names the first that is not, the expectation and the finding. A layer beyond the expected ones is a
  // problem too: the configuration does not fit the file. Other unexpected tensors are ignored.
  bool Check(const std::vector<ExpectedTensor>& expected, std::string* problem) const;

 private:
  explicit TensorSet(std::string place) : place_(std::move(place)) {}
  bool AddShards(const std::string& directory, std::string* problem);
  bool Add(const std::string& path, std::string* problem);
  bool Sort(std::string* problem);
  bool CheckLayers(const std::vector<ExpectedTensor>& expected, std::string* problem) const;

  const std::string place_;  // for problems: the file or the index
  std::vector<std::unique_ptr<const SafetensorsFile>> files_;
  std::vector<const Tensor*> tensors_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_FILES_SAFETENSORS_H_
