// Implements Engine::Open: opens a checkpoint on a GPU or on processors.
#include "runtime/engine.h"

#include <utility>

#include "runtime/attempt.h"
#include "runtime/choices.h"
#include "runtime/engine_thread.h"
#include "runtime/qwen_frame_model.h"

namespace parley::runtime {
namespace {

// `usual`: the format if no option names one.
bool ReadParts(const EngineOptions& options, Format usual, QwenFrameModel::Parts* parts,
               std::string* problem) {
  parts->max_voices = options.max_voices;
  return Pick<model::Quantize>({"quantize",
                                {{"none", model::Quantize::kNone},
                                 {"int8-talker", model::Quantize::kTalker},
                                 {"int8", model::Quantize::kAll},
                                 {"fp8", model::Quantize::kFp8}}},
                               options.quantize, &parts->quantize, problem) &&
         Pick<Format>({"codec_format",
                       {{"", usual}, {"f32", Format::kF32}, {"f16", Format::kF16}, {"bf16", Format::kBf16}}},
                      options.codec_format, &parts->codec, problem) &&
         Pick<Format>({"cache_format", {{"", usual}, {"f32", Format::kF32}, {"bf16", Format::kBf16}}},
                      options.cache_format, &parts->cache, problem);
}

}  // namespace

std::unique_ptr<Engine> Engine::Open(const EngineOptions& options, std::string* problem) {
  std::shared_ptr<Device> device = Device::Open(options, problem);
  if (device == nullptr) return nullptr;
  return Open(options, std::move(device), problem);
}

std::unique_ptr<Engine> Engine::Open(const EngineOptions& options, std::shared_ptr<Device> device,
                                     std::string* problem) {
  QwenFrameModel::Parts parts;
  if (!ReadParts(options, Format::kF32, &parts, problem)) return nullptr;
  // The calling thread reads the files, so that the device's thread can serve other models meanwhile.
  std::unique_ptr<const model::SpeechCheckpoint> checkpoint;
  const auto open = [&] {
    const auto pieces = options.case_split_pieces ? model::PieceRule::kCaseSplit : model::PieceRule::kNative;
    checkpoint = model::SpeechCheckpoint::Open(options.directory, pieces, problem);
    return checkpoint != nullptr;
  };
  if (!Attempt(open, problem)) return nullptr;
  const auto make = [&](const Place& place, std::string* why) -> std::unique_ptr<QwenFrameModel> {
    if (place.is_gpu()) ReadParts(options, Format::kBf16, &parts, why);
    return QwenFrameModel::Make(std::move(checkpoint), options.directory, parts, MostMemory(options, place),
                                place.kernels, why);
  };
  return OpenEngine(options, std::move(device), make, problem);
}

}  // namespace parley::runtime
