#include "tools/pocket_speech.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/files/safetensors.h"
#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_model.h"
#include "runtime/processor.h"
#include "tools/wav_file.h"

namespace parley::tools {
namespace {

using namespace model;
using Steady = std::chrono::steady_clock;

constexpr const char* kOnlyPocket[] = {"noise", "max-tokens", "gelu", "rules"};
constexpr const char* kOnlyQwen[] = {"language",       "instruct", "reference",
                                     "reference-text", "frames",   "codec"};
constexpr const char* kDefaultVoice = "alba";
constexpr uint64_t kMostTokens = 100'000;

double MillisecondsFrom(Steady::time_point begin) {
  return std::chrono::duration<double, std::milli>(Steady::now() - begin).count();
}

// The place of the option's value in the list, whose first one is the default.
size_t ChoiceOf(const Options& options, const char* name, const std::vector<std::string>& values) {
  const std::string value = options.Text(name, values.front());
  const auto found = std::find(values.begin(), values.end(), value);
  if (found != values.end()) return static_cast<size_t>(found - values.begin());
  std::string list;
  for (const std::string& one : values)
    list += (list.empty() ? "" : &one == &values.back() ? " or " : ", ") + one;
  throw std::invalid_argument(std::string("--") + name + " is " + list + ", not \"" + value + "\"");
}

// Noise that a file holds, one tensor for each chunk: "c0_noise", "c1_noise", ...
class NoiseFile {
 public:
  NoiseFile(const std::string& path, size_t latent) : latent_(static_cast<int64_t>(latent)) {
    std::string problem;
    file_ = SafetensorsFile::Open(path, &problem);
    if (file_ == nullptr) throw std::invalid_argument(problem);
  }

  std::shared_ptr<const Noise> OfChunk(size_t chunk) const;

 private:
  const int64_t latent_;
  std::unique_ptr<const SafetensorsFile> file_;
};

class RecordedNoise final : public Noise {
 public:
  RecordedNoise(const Tensor& tensor, std::string place)
      : rows_(static_cast<size_t>(tensor.shape[0])),
        values_(rows_ * static_cast<size_t>(tensor.shape[1])),
        place_(std::move(place)) {
    std::memcpy(values_.data(), tensor.data, values_.size() * sizeof(float));
  }

  void Draw(size_t step, float* x, size_t count) const override {
    if (step >= rows_) {
      throw std::invalid_argument(place_ + ": has " + std::to_string(rows_) +
                                  " rows, and the speech has not ended after as many steps");
    }
    std::copy_n(values_.begin() + static_cast<ptrdiff_t>(step * count), count, x);
  }

 private:
  const size_t rows_;
  std::vector<float> values_;
  const std::string place_;
};

std::shared_ptr<const Noise> NoiseFile::OfChunk(size_t chunk) const {
  const std::string name = "c" + std::to_string(chunk) + "_noise", place = file_->path() + ": " + name;
  const Tensor* const tensor = file_->Find(name);
  const std::string expected = ": expected F32 [steps, " + std::to_string(latent_) + "], found ";
  if (tensor == nullptr) throw std::invalid_argument(place + expected + "no such tensor");
  if (tensor->dtype != Dtype::kF32 || tensor->shape.size() != 2 || tensor->shape[1] != latent_)
    throw std::invalid_argument(place + expected + "another dtype or shape");
  return std::make_shared<RecordedNoise>(*tensor, place);
}

std::string NamesOf(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".safetensors") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::unique_ptr<const PocketVoice> OpenVoice(const Options& options, const TransformerConfig& backbone) {
  const std::string name = options.Text("voice", kDefaultVoice),
                    folder = options.Required("model") + "/embeddings",
                    path = folder + "/" + name + ".safetensors";
  if (name.find('/') != std::string::npos || !std::filesystem::exists(path))
    throw std::invalid_argument("--voice: there is no voice \"" + name + "\" in " + folder +
                                ", which has: " + NamesOf(folder));
  std::string problem;
  auto voice = PocketVoice::Open(path, backbone, &problem);
  if (voice == nullptr) throw std::invalid_argument(problem);
  return voice;
}

struct Times {
  double load = 0, text = 0, backbone = 0, flow = 0, codec = 0, first = 0;  // milliseconds
  size_t frames = 0;
};

template <class... Values>
std::string Line(const char* format, Values... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

// The model with one voice; speaks chunk by chunk, and decodes each latent at once.
class PocketSpeaker {
 public:
  explicit PocketSpeaker(const Options& options) {
    const Steady::time_point begin = Steady::now();
    std::string problem;
    checkpoint_ = PocketCheckpoint::Open(options.Required("model"), &problem);
    if (checkpoint_ == nullptr) throw std::invalid_argument(problem);
    const auto voice = OpenVoice(options, checkpoint_->config().backbone);
    runtime::ProcessorOptions processor;
    processor.threads = static_cast<unsigned>(options.Whole("threads", 1, 256, 0));
    const auto threads = runtime::ReadThreads(processor);
    if (!threads) throw std::invalid_argument(threads.problem());
    kernels_ = runtime::OpenProcessor(processor, *threads);
    const size_t quantized = ChoiceOf(options, "quantize", {"none", "int8-backbone", "int8"});
    PocketModelOptions of;
    if (ChoiceOf(options, "gelu", {"tanh", "erf"}) > 0) of.activation = Activation::kGelu;
    if (ChoiceOf(options, "cache", {"f32", "f16"}) > 0) of.cache = Format::kF16;
    if (quantized > 0) of.backbone = Format::kInt8;
    model_ = std::make_unique<PocketModel>(*kernels_, *checkpoint_, of);
    decoder_ = std::make_unique<LatentDecoder>(
        *kernels_, *checkpoint_, of.activation,
        quantized > 1 ? std::optional<Format>(Format::kInt8) : std::nullopt, of.cache);
    voice_ = model_->LoadVoice(*voice);
    times_.load = MillisecondsFrom(begin);
  }

  // Speaks one chunk; `stream` has room for it.
  void Speak(const TextChunk& chunk, std::shared_ptr<const Noise> noise, PocketStream* stream) {
    Steady::time_point begin = Steady::now();
    stream->BeginChunk(chunk, std::move(noise));
    model_->Prefill(&stream, 1);
    times_.text += MillisecondsFrom(begin);
    const auto codec = decoder_->NewState();
    std::vector<float> latent(model_->latent());
    for (LatentResult result = LatentResult::kFrame;;) {
      model_->Step(&stream, 1, &result, latent.data());
      if (result == LatentResult::kBroken)
        throw std::runtime_error("the model computed what is not a number: its weights or noise are damaged");
      if (result != LatentResult::kFrame) return;
      times_.backbone += model_->last_step().backbone;
      times_.flow += model_->last_step().flow;
      begin = Steady::now();
      samples_.resize(samples_.size() + decoder_->frame_samples());
      const LatentDecoder::Job job{codec.get(), latent.data(), 1,
                                   samples_.data() + samples_.size() - decoder_->frame_samples()};
      decoder_->Decode(&job, 1);
      times_.codec += MillisecondsFrom(begin);
      if (times_.frames++ == 0) times_.first = times_.text + times_.backbone + times_.flow + times_.codec;
    }
  }

  void SpeakAll(const Options& options) {
    PocketTextConfig rules = checkpoint_->config().text;
    rules.rules = ChoiceOf(options, "rules", {"3.3", "2.1"}) > 0 ? PocketRules::k21 : PocketRules::k33;
    const auto chunks = ChunksOf(options.Required("text"), checkpoint_->pieces(), rules,
                                 options.Whole("max-tokens", 1, kMostTokens, kChunkIds));
    if (chunks.empty()) throw std::invalid_argument("--text has nothing to speak");
    const auto temperature = static_cast<float>(
        checkpoint_->config().default_temperature.value_or(DefaultTemperature(rules.rules)));
    const uint64_t seed = options.Whole("seed", 0, UINT64_MAX, 0);
    std::unique_ptr<const NoiseFile> recorded;
    if (options.Has("noise"))
      recorded = std::make_unique<NoiseFile>(options.Required("noise"), model_->latent());
    size_t positions = 0;
    for (const TextChunk& chunk : chunks) positions = std::max(positions, PocketStream::PositionsOf(chunk));
    const auto stream = model_->BeginStream(*voice_, positions);
    for (size_t n = 0; n < chunks.size(); n++) {
      Speak(chunks[n],
            recorded != nullptr ? recorded->OfChunk(n)
                                : std::make_shared<DrawnNoise>(temperature, seed, static_cast<uint32_t>(n)),
            stream.get());
    }
  }

  std::string Report() const {
    const double seconds = static_cast<double>(samples_.size()) / rate(),
                 frames = static_cast<double>(times_.frames);
    const double bytes = static_cast<double>(model_->WeightBytes() + decoder_->WeightBytes());
    std::string report = Line("Pocket TTS on %s: loaded in %.0f ms, %.0f MB of weights\n", kernels_->Name(),
                              times_.load, bytes / 1e6) +
                         Line("%.2f s of sound, the first after %.0f ms\n\n", seconds, times_.first) +
                         Line("%-10s %10s %10s %8s\n", "stage", "ms", "ms/frame", "RTF");
    for (const auto& [stage, ms] : {std::pair("text", times_.text), std::pair("backbone", times_.backbone),
                                    std::pair("flow net", times_.flow), std::pair("codec", times_.codec)}) {
      report += Line("%-10s %10.1f %10.2f %8.3f\n", stage, ms, frames > 0 ? ms / frames : 0,
                     seconds > 0 ? ms / 1e3 / seconds : 0);
    }
    return report;
  }

  uint32_t rate() const { return static_cast<uint32_t>(checkpoint_->config().codec.sample_rate); }
  std::vector<float>& samples() { return samples_; }

 private:
  std::unique_ptr<const PocketCheckpoint> checkpoint_;
  std::unique_ptr<cpu::CpuKernels> kernels_;
  std::unique_ptr<PocketModel> model_;
  std::unique_ptr<LatentDecoder> decoder_;
  std::shared_ptr<const KvState> voice_;
  std::vector<float> samples_;
  Times times_;
};

}  // namespace

bool HoldsPocket(const std::string& directory) {
  return std::filesystem::exists(directory + "/config.yaml") ||
         std::filesystem::exists(directory + "/tokenizer.model");
}

void RefuseOptionsOfOthers(const Options& options, bool pocket) {
  const auto refuse = [&](const char* name, const char* kind) {
    if (options.Has(name))
      throw std::invalid_argument(std::string("--") + name + " is for " + kind + " models, and " +
                                  options.Required("model") + " holds none");
  };
  if (pocket) {
    for (const char* const name : kOnlyQwen) refuse(name, "Qwen3-TTS");
  } else {
    for (const char* const name : kOnlyPocket) refuse(name, "Pocket TTS");
  }
}

std::string SpeakWithPocket(const Options& options) {
  RefuseOptionsOfOthers(options, true);
  PocketSpeaker speaker(options);
  speaker.SpeakAll(options);
  WriteWav(options.positional().front(), {speaker.samples(), speaker.rate()},
           Rounding::kTowardsZero);  // as the official package writes them
  return speaker.Report();
}

}  // namespace parley::tools
