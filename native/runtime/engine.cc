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
Result<QwenFrameModel::Parts> ReadParts(const EngineOptions& options, Format usual) {
  const auto quantize = Pick<model::Quantize>({"quantize",
                                               {{"none", model::Quantize::kNone},
                                                {"int8-talker", model::Quantize::kTalker},
                                                {"int8", model::Quantize::kAll},
                                                {"fp8", model::Quantize::kFp8}}},
                                              options.quantize);
  if (!quantize) return quantize.reason();
  const auto codec = Pick<Format>(
      {"codec_format", {{"", usual}, {"f32", Format::kF32}, {"f16", Format::kF16}, {"bf16", Format::kBf16}}},
      options.codec_format);
  if (!codec) return codec.reason();
  const auto cache = Pick<Format>(
      {"cache_format", {{"", usual}, {"f32", Format::kF32}, {"bf16", Format::kBf16}}}, options.cache_format);
  if (!cache) return cache.reason();
  return QwenFrameModel::Parts{*quantize, *codec, *cache, options.max_voices};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Open(const EngineOptions& options) {
  auto device = Device::Open(options);
  if (!device) return device.reason();
  return Open(options, std::move(*device));
}

Result<std::unique_ptr<Engine>> Engine::Open(const EngineOptions& options, std::shared_ptr<Device> device) {
  auto parts = ReadParts(options, Format::kF32);
  if (!parts) return parts.reason();
  // The calling thread reads the files, so that the device's thread can serve other models meanwhile.
  const auto pieces = options.case_split_pieces ? model::PieceRule::kCaseSplit : model::PieceRule::kNative;
  auto checkpoint = Attempt([&] { return OpenCheckpoint(options.directory, pieces); });
  if (!checkpoint) return checkpoint.reason();
  const auto make = [&](const Place& place) {
    if (place.is_gpu()) parts = ReadParts(options, Format::kBf16);
    return QwenFrameModel::Make(std::move(*checkpoint), options.directory, *parts, MostMemory(options, place),
                                place.kernels);
  };
  return OpenEngine(options, std::move(device), make);
}

}  // namespace parley::runtime
