#include "model/files/safetensors.h"

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

namespace {

constexpr size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

std::string Quoted(std::string_view name) { return "tensor \"" + std::string(name.substr(0, 200)) + "\""; }

uint64_t LittleEndian64(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int n = 7; n >= 0; n--) value = value << 8 | bytes[n];
  return value;
}

bool ReadDtype(Json entry, Tensor* tensor, std::string* problem) {
  const Json dtype = entry.Find("dtype");
  for (const DtypeFacts& facts : kDtypes) {
    if (!dtype.is(JsonKind::kString) || dtype.text() != facts.name) continue;
    tensor->dtype = facts.dtype;
    return true;
  }
  *problem = dtype.is(JsonKind::kString)
                 ? "has the dtype \"" + std::string(dtype.text().substr(0, 40)) + "\", which is not known"
                 : "has no dtype";
  return false;
}

// Sets `bytes` to what a tensor of this shape takes.
bool ReadShape(Json entry, Tensor* tensor, std::string* problem) {
  const Json shape = entry.Find("shape");
  if (!shape.is(JsonKind::kArray) || shape.size() > SafetensorsFile::kMaxRank) {
    *problem = "has no shape of at most " + std::to_string(SafetensorsFile::kMaxRank) + " dimensions";
    return false;
  }
  uint64_t bytes = FactsOf(tensor->dtype).bytes;
  for (Json item = shape.first(); item.present(); item = item.next()) {
    const int64_t size = item.integer().value_or(-1);
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) {
      *problem = "has a shape that is not possible";
      return false;
    }
    tensor->shape.push_back(size);
  }
  tensor->bytes = bytes;
  return true;
}

bool ReadOffsets(Json entry, uint64_t payload, Tensor* tensor, uint64_t* begin, std::string* problem) {
  const Json offsets = entry.Find("data_offsets");
  const int64_t from = offsets.first().integer().value_or(-1);
  const int64_t to = offsets.first().next().integer().value_or(-1);
  if (!offsets.is(JsonKind::kArray) || offsets.size() != 2 || from < 0 || to < from) {
    *problem = "has no data_offsets [begin, end]";
    return false;
  }
  if (static_cast<uint64_t>(to) > payload) {
    *problem = "ends at byte " + std::to_string(to) + " of the data, but the file holds " +
               std::to_string(payload) + ": it is truncated or damaged";
    return false;
  }
  if (static_cast<uint64_t>(to - from) != tensor->bytes) {
    *problem = "has " + std::to_string(to - from) + " bytes; " + FactsOf(tensor->dtype).name + " " +
               ToString(tensor->shape) + " takes " + std::to_string(tensor->bytes);
    return false;
  }
  *begin = static_cast<uint64_t>(from);
  return true;
}

// The tensors fill the data from its first byte to its last, each once.
bool CheckCover(std::vector<const Tensor*> tensors, const uint8_t* data, uint64_t payload,
                std::string* problem) {
  std::sort(tensors.begin(), tensors.end(), [](const Tensor* a, const Tensor* b) {
    return a->data != b->data ? a->data < b->data : a->bytes < b->bytes;  // empty tensors first
  });
  const uint8_t* end = data;
  for (const Tensor* tensor : tensors) {
    if (tensor->data != end) {
      *problem = Quoted(tensor->name) + " begins at byte " + std::to_string(tensor->data - data) +
                 " of the data, expected " + std::to_string(end - data) +
                 (tensor->data < end ? ": it overlaps another" : ": bytes belong to no tensor");
      return false;
    }
    end += tensor->bytes;
  }
  if (end == data + payload) return true;
  *problem = "holds " + std::to_string(payload) + " bytes of data, but its tensors take " +
             std::to_string(end - data);
  return false;
}

}  // namespace

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (const int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

std::unique_ptr<const SafetensorsFile> SafetensorsFile::Open(const std::string& path, std::string* problem) {
  auto mapped = MappedFile::Open(path, problem);
  if (!mapped) return nullptr;
  std::unique_ptr<SafetensorsFile> file(new SafetensorsFile(path, std::move(mapped)));
  if (file->ReadHeader(problem)) return file;
  *problem = path + ": " + *problem;
  return nullptr;
}

bool SafetensorsFile::ReadHeader(std::string* problem) {
  const size_t size = file_->size();
  const uint64_t length = size < kLengthBytes ? 0 : LittleEndian64(file_->data());
  if (size < kLengthBytes || length > kMaxHeaderBytes || length > size - kLengthBytes) {
    *problem = "is no safetensors file, or truncated: its header would be " + std::to_string(length) +
               " bytes of a file of " + std::to_string(size);
    return false;
  }
  const std::string_view text(reinterpret_cast<const char*>(file_->data()) + kLengthBytes, length);
  const auto header = JsonDocument::Parse(text, problem);
  if (!header || !header->root().is(JsonKind::kObject)) {
    *problem = "the header is not a JSON object" + (header ? "" : ": " + *problem);
    return false;
  }
  const uint8_t* const data = file_->data() + kLengthBytes + length;
  const uint64_t payload = size - kLengthBytes - length;
  tensors_.reserve(header->root().size());
  for (Json entry = header->root().first(); entry.present(); entry = entry.next()) {
    if (entry.key() == kMetadata) continue;
    Tensor tensor;
    tensor.name = entry.key();
    uint64_t begin = 0;
    bool good = ReadDtype(entry, &tensor, problem) && ReadShape(entry, &tensor, problem) &&
                ReadOffsets(entry, payload, &tensor, &begin, problem);
    tensor.data = data + begin;
    if (good && reinterpret_cast<uintptr_t>(tensor.data) % FactsOf(tensor.dtype).bytes != 0) {
      *problem = "is not aligned to its " + std::to_string(FactsOf(tensor.dtype).bytes) + " byte elements";
      good = false;
    }
    if (!good) return *problem = Quoted(entry.key()) + " " + *problem, false;
    tensors_.push_back(std::move(tensor));
  }
  std::sort(tensors_.begin(), tensors_.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  std::vector<const Tensor*> all;
  for (const Tensor& tensor : tensors_) all.push_back(&tensor);
  return CheckCover(std::move(all), data, payload, problem);
}

bool SafetensorsFile::Changed(std::string* problem) const {
  if (!file_->Changed(problem)) return false;
  return *problem = path_ + ": " + *problem, true;
}

const Tensor* SafetensorsFile::Find(std::string_view name) const {
  const auto found =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const Tensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

}  // namespace parley::model
