#include "model/pocket/pocket_voice.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "model/files/safetensors.h"
#include "model/pocket/pocket_layers.h"
#include "model/shared/weights.h"

namespace parley::model {
namespace {

// Reads one layer after the other; the first problem stays.
class VoiceReader {
 public:
  // Without `numbers` it checks the shapes of arrays, and leaves them empty.
  VoiceReader(const SafetensorsFile& file, const TransformerConfig& backbone, bool numbers)
      : file_(file), heads_(backbone.heads), head_dim_(backbone.head_dim), numbers_(numbers) {}

  // Positions that the layer holds; 0 with a problem.
  size_t PositionsOf(const std::string& layer) {
    const Tensor* const pad = file_.Find(layer + "pad");
    if (pad != nullptr && (!IsInteger(*pad) || IntegerOf(*pad) != 0))
      return Fail(layer + "pad", "one integer, 0"), 0;
    const Tensor* const offset = file_.Find(layer + "offset");
    const Tensor* const end = file_.Find(layer + "current_end");
    if (offset == nullptr && (end == nullptr || end->shape.size() != 1))
      return Fail(layer + "offset", "one integer"), 0;
    if (offset != nullptr && !IsInteger(*offset)) return Fail(layer + "offset", "one integer"), 0;
    const int64_t positions = offset != nullptr ? IntegerOf(*offset) : end->shape[0];
    if (positions < 1 || positions > static_cast<int64_t>(PocketVoice::kMaxPositions))
      return Fail(layer + "offset", "1 to " + std::to_string(PocketVoice::kMaxPositions) + " positions"), 0;
    return static_cast<size_t>(positions);
  }

  // Keys (0) or values (1) of the layer's first positions.
  std::vector<float> Array(const std::string& layer, size_t which, size_t positions) {
    const Tensor* const cache = file_.Find(layer + "cache");
    const bool good = cache != nullptr && cache->dtype == Dtype::kF32 && cache->shape.size() == 5 &&
                      cache->shape[2] >= static_cast<int64_t>(positions) &&
                      cache->shape == Shape{2, 1, cache->shape[2], heads_, head_dim_};
    if (!good) {
      Fail(layer + "cache", "F32 [2, 1, " + std::to_string(positions) + " or more, " +
                                std::to_string(heads_) + ", " + std::to_string(head_dim_) +
                                "]: this may be a voice of another model");
      return {};
    }
    if (!numbers_) return {};
    const auto width = static_cast<size_t>(heads_ * head_dim_);
    std::vector<float> values(positions * width);
    const size_t begin = which * static_cast<size_t>(cache->shape[2]) * width * sizeof(float);
    std::memcpy(values.data(), cache->data + begin, values.size() * sizeof(float));
    if (!AllUsable(values)) Fail(layer + "cache", "finite numbers");
    return values;
  }

  // The rows of a voice of the first release.
  std::vector<float> Rows(const Tensor& tensor, int64_t width) {
    const auto most = static_cast<int64_t>(PocketVoice::kMaxPositions);
    const bool good = tensor.dtype == Dtype::kF32 && tensor.shape.size() == 3 && tensor.shape[1] >= 1 &&
                      tensor.shape[1] <= most && tensor.shape == Shape{1, tensor.shape[1], width};
    if (!good) {
      Fail(tensor.name, "F32 [1, 1 to " + std::to_string(most) + ", " + std::to_string(width) +
                            "]: this may be a voice of another model");
      return {};
    }
    if (!numbers_) return {};
    std::vector<float> rows(tensor.bytes / sizeof(float));
    std::memcpy(rows.data(), tensor.data, tensor.bytes);
    if (!AllUsable(rows)) Fail(tensor.name, "finite numbers");
    return rows;
  }

  const std::string& problem() const { return problem_; }

 private:
  static bool AllUsable(const std::vector<float>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](float value) { return std::fabs(value) < kGreatestF16; });
  }
  static bool IsInteger(const Tensor& tensor) { return tensor.dtype == Dtype::kI64 && tensor.count() == 1; }
  static int64_t IntegerOf(const Tensor& tensor) {
    int64_t value = 0;
    std::memcpy(&value, tensor.data, sizeof(value));
    return value;
  }

  void Fail(const std::string& name, const std::string& expected) {
    if (problem_.empty()) problem_ = file_.path() + ": " + name + ": expected " + expected;
  }

  const SafetensorsFile& file_;
  const int64_t heads_, head_dim_;
  const bool numbers_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<const PocketVoice> PocketVoice::Open(const std::string& path,
                                                     const TransformerConfig& backbone,
                                                     std::string* problem) {
  return Read(path, backbone, true, problem);
}

bool PocketVoice::Fits(const std::string& path, const TransformerConfig& backbone, std::string* problem) {
  return Read(path, backbone, false, problem) != nullptr;
}

std::unique_ptr<const PocketVoice> PocketVoice::Read(const std::string& path,
                                                     const TransformerConfig& backbone, bool numbers,
                                                     std::string* problem) {
  const auto file = SafetensorsFile::Open(path, problem);
  if (!file) return nullptr;
  VoiceReader reader(*file, backbone, numbers);
  std::unique_ptr<PocketVoice> voice(new PocketVoice());
  if (const Tensor* const rows = file->Find("audio_prompt"); rows != nullptr) {
    voice->rows_ = reader.Rows(*rows, backbone.hidden);
    voice->positions_ = voice->rows_.size() / static_cast<size_t>(backbone.hidden);
    *problem = reader.problem();
    if (!problem->empty() || file->Changed(problem)) return nullptr;
    return voice;
  }
  const auto layers = static_cast<size_t>(backbone.layers);
  for (size_t n = 0; n < layers && reader.problem().empty(); n++) {
    const std::string layer = "transformer.layers." + std::to_string(n) + ".self_attn/";
    const size_t positions = reader.PositionsOf(layer);
    if (n == 0) voice->positions_ = positions;
    if (positions != voice->positions_ && reader.problem().empty()) {
      *problem = path + ": " + layer + "offset: expected that of the first layer";
      return nullptr;
    }
    for (const size_t which : {0, 1}) voice->arrays_.push_back(reader.Array(layer, which, positions));
    std::vector<float>& keys = voice->arrays_[2 * n];
    if (numbers) keys = EvenFirst(keys, static_cast<size_t>(backbone.head_dim), 1);
  }
  if (file->Find("transformer.layers." + std::to_string(layers) + ".self_attn/cache") != nullptr) {
    *problem = path + ": expected " + std::to_string(layers) +
               " layers, found more: this may be a voice of another model";
    return nullptr;
  }
  *problem = reader.problem();
  if (!problem->empty() || file->Changed(problem)) return nullptr;
  return voice;
}

void PocketVoice::CopyTo(Kernels& kernels, KvState* state) const {
  if (!rows_.empty()) throw std::logic_error("the backbone has not seen the rows of this voice");
  if (positions_ > state->capacity()) throw std::length_error("a state has no room for the voice");
  const KvLayout& layout = state->layout();
  for (size_t n = 0; n < arrays_.size(); n++) {
    const std::vector<uint8_t> bytes = Rounded(arrays_[n].data(), arrays_[n].size(), layout.format);
    kernels.Upload(static_cast<uint8_t*>(state->memory()) + n * layout.ArrayBytes(state->capacity()),
                   bytes.data(), bytes.size());
  }
  state->Advance(positions_);
}

}  // namespace parley::model
