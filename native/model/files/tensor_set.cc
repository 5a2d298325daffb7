#include "model/files/tensor_set.h"

#include <algorithm>
#include <set>

#include "model/files/json.h"

namespace parley::model {
namespace {

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
// Published codecs have more of these than the model uses.
constexpr char kEncoderTables[] = "encoder.quantizer.";
constexpr size_t kMostNamed = 8;

// A file beside the index, and nothing that leads elsewhere.
bool IsShardName(std::string_view name) {
  constexpr std::string_view kEnding = ".safetensors";
  return name.size() > kEnding.size() && name.size() < 256 &&
         name.substr(name.size() - kEnding.size()) == kEnding && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::string Described(const char* dtype, const Shape& shape) {
  return std::string(dtype) + " " + ToString(shape);
}

// The name with each of its numbers replaced in turn, and where each replaced number ends.
std::vector<std::pair<std::string, size_t>> NumbersReplaced(std::string_view name) {
  std::vector<std::pair<std::string, size_t>> replaced;
  size_t from = 0;
  while (from <= name.size()) {
    const size_t end = std::min(name.find('.', from), name.size());
    const std::string_view part = name.substr(from, end - from);
    if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos) {
      replaced.emplace_back(std::string(name.substr(0, from)) + "#" + std::string(name.substr(end)), end);
    }
    from = end + 1;
  }
  return replaced;
}

}  // namespace

std::unique_ptr<const TensorSet> TensorSet::Open(const std::string& directory, std::string* problem) {
  const std::string single = directory + "/" + kSingle, index = directory + "/" + kIndex;
  const bool sharded = !FileExists(single) && FileExists(index);
  std::unique_ptr<TensorSet> set(new TensorSet(sharded ? index : single));
  const bool good = sharded ? set->AddShards(directory, problem) : set->Add(single, problem);
  return good && set->Sort(problem) ? std::move(set) : nullptr;
}

bool TensorSet::AddShards(const std::string& directory, std::string* problem) {
  std::string text;
  if (!ReadFile(place_, kMaxIndexBytes, &text, problem)) return false;
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = place_ + ": " + *problem, false;
  const Json map = document->root().Find("weight_map");
  std::set<std::string> shards;
  for (Json entry = map.first(); entry.present(); entry = entry.next()) {
    if (IsShardName(entry.text())) shards.emplace(entry.text());
    if (IsShardName(entry.text()) && shards.size() <= kMaxShards) continue;
    *problem = place_ + ": weight_map: \"" + std::string(entry.key().substr(0, 200)) +
               "\" must name one of at most " + std::to_string(kMaxShards) +
               " .safetensors files in the same folder";
    return false;
  }
  if (!map.is(JsonKind::kObject) || shards.empty()) return *problem = place_ + ": has no weight_map", false;
  for (const std::string& shard : shards) {
    if (!Add(directory + "/" + shard, problem)) return false;
  }
  for (Json entry = map.first(); entry.present(); entry = entry.next()) {
    const std::string path = directory + "/" + std::string(entry.text());
    const auto file =
        std::find_if(files_.begin(), files_.end(), [&](const auto& one) { return one->path() == path; });
    if ((*file)->Find(entry.key()) != nullptr) continue;
    *problem = path + ": lacks the tensor \"" + std::string(entry.key().substr(0, 200)) + "\" that " +
               kIndex + " promises";
    return false;
  }
  return true;
}

bool TensorSet::Add(const std::string& path, std::string* problem) {
  auto file = SafetensorsFile::Open(path, problem);
  if (!file) return false;
  for (const Tensor& tensor : file->tensors()) tensors_.push_back(&tensor);
  files_.push_back(std::move(file));
  return true;
}

bool TensorSet::Sort(std::string* problem) {
  std::sort(tensors_.begin(), tensors_.end(),
            [](const Tensor* a, const Tensor* b) { return a->name < b->name; });
  const auto twice = std::adjacent_find(tensors_.begin(), tensors_.end(),
                                        [](const Tensor* a, const Tensor* b) { return a->name == b->name; });
  if (twice == tensors_.end()) return true;
  *problem = place_ + ": the tensor \"" + (*twice)->name.substr(0, 200) + "\" is in two of the files";
  return false;
}

const Tensor* TensorSet::Find(std::string_view name) const {
  const auto found =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const Tensor* tensor, std::string_view wanted) { return tensor->name < wanted; });
  return found != tensors_.end() && (*found)->name == name ? *found : nullptr;
}

bool TensorSet::Changed(std::string* problem) const {
  return std::any_of(files_.begin(), files_.end(),
                     [problem](const auto& file) { return file->Changed(problem); });
}

bool TensorSet::Check(const std::vector<ExpectedTensor>& expected, std::string* problem) const {
  for (const ExpectedTensor& wanted : expected) {
    const Tensor* const tensor = Find(wanted.name);
    if (tensor != nullptr && IsWeightDtype(tensor->dtype) && tensor->shape == wanted.shape) continue;
    *problem = place_ + ": tensor \"" + wanted.name + "\": expected " +
               Described(kWeightDtypes, wanted.shape) + ", found " +
               (tensor == nullptr ? "no such tensor" : Described(FactsOf(tensor->dtype).name, tensor->shape));
    return false;
  }
  return CheckLayers(expected, problem);
}

bool TensorSet::CheckLayers(const std::vector<ExpectedTensor>& expected, std::string* problem) const {
  std::set<std::string, std::less<>> names, layers;
  for (const ExpectedTensor& wanted : expected) {
    names.insert(wanted.name);
    for (auto& [layer, end] : NumbersReplaced(wanted.name)) layers.insert(std::move(layer));
  }
  std::set<std::string> extra;
  for (const Tensor* const tensor : tensors_) {
    if (names.count(tensor->name) > 0 ||
        tensor->name.compare(0, sizeof kEncoderTables - 1, kEncoderTables) == 0)
      continue;
    for (const auto& [layer, end] : NumbersReplaced(tensor->name)) {
      if (layers.count(layer) > 0) extra.insert(tensor->name.substr(0, end));
    }
  }
  if (extra.empty()) return true;
  std::string list;
  size_t named = 0;
  for (const std::string& layer : extra) {
    if (named++ == kMostNamed) break;
    list += (list.empty() ? "" : ", ") + layer.substr(0, 200);
  }
  if (extra.size() > kMostNamed) list += " and " + std::to_string(extra.size() - kMostNamed) + " more";
  *problem = place_ + ": holds layers that the configuration does not have: " + list;
  return false;
}

}  // namespace parley::model
