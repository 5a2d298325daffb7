// Implements Engine::Open: opens a checkpoint on a GPU or on processors.
#include "runtime/engine.h"

#include <filesystem>
#include <optional>
#include <utility>

#include "runtime/attempt.h"
#include "runtime/choices.h"
#include "runtime/engine_thread.h"
#include "runtime/pocket_frame_model.h"
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

// The checkpoints of Qwen3-TTS have this file, those of Pocket TTS the tokenizer's.
bool IsPocket(const std::string& directory) {
  return !std::filesystem::exists(directory + "/config.json") &&
         std::filesystem::exists(directory + "/tokenizer.model");
}

Result<std::unique_ptr<const model::PocketCheckpoint>> OpenPocket(const std::string& directory) {
  std::string problem;
  auto checkpoint = model::PocketCheckpoint::Open(directory, &problem);
  if (checkpoint == nullptr) return Problem{problem};
  return checkpoint;
}

// Without a format the matrices are as the file has them. The keys and values of 16 bits are as good as those
// of 32: 84 dB. On a GPU the kernels have bf16.
Result<PocketFrameModel::Parts> ReadPocketParts(const EngineOptions& options, Format usual_cache) {
  using Choice = std::optional<Format>;
  const auto whole =
      Pick<bool>({"quantize of Pocket TTS", {{"none", false}, {"int8", true}, {"int8-talker", false}}},
                 options.quantize);
  if (!whole) return whole.reason();
  const auto codec =
      Pick<Choice>({"codec_format",
                    {{"", Choice()}, {"f32", Format::kF32}, {"f16", Format::kF16}, {"bf16", Format::kBf16}}},
                   options.codec_format);
  if (!codec) return codec.reason();
  const auto cache = Pick<Format>(
      {"cache_format",
       {{"", usual_cache}, {"f32", Format::kF32}, {"f16", Format::kF16}, {"bf16", Format::kBf16}}},
      options.cache_format);
  if (!cache) return cache.reason();
  const Choice backbone = options.quantize == "none" ? Choice() : Format::kInt8;
  return PocketFrameModel::Parts{backbone, *whole ? Format::kInt8 : *codec, *cache, options.max_voices};
}

// The calling thread reads the files, so that the device's thread can serve other models meanwhile.
Result<std::unique_ptr<Engine>> OpenPocketEngine(const EngineOptions& options,
                                                 std::shared_ptr<Device> device) {
  auto parts = ReadPocketParts(options, Format::kF16);
  if (!parts) return parts.reason();
  auto checkpoint = Attempt([&] { return OpenPocket(options.directory); });
  if (!checkpoint) return checkpoint.reason();
  const auto make = [&](const Place& place) {
    if (place.is_gpu()) parts = ReadPocketParts(options, Format::kBf16);
    return PocketFrameModel::Make(std::move(*checkpoint), options.directory, *parts,
                                  MostMemory(options, place), place.kernels);
  };
  return OpenEngine(options, std::move(device), make);
}

Result<std::unique_ptr<Engine>> OpenQwenEngine(const EngineOptions& options, std::shared_ptr<Device> device) {
  auto parts = ReadParts(options, Format::kF32);
  if (!parts) return parts.reason();
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

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Open(const EngineOptions& options) {
  auto device = Device::Open(options);
  if (!device) return device.reason();
  return Open(options, std::move(*device));
}

Result<EngineFacts> Engine::Inspect(const std::string& directory) {
  return Attempt([&]() -> Result<EngineFacts> {
    if (IsPocket(directory)) {
      const auto checkpoint = OpenPocket(directory);
      if (!checkpoint) return checkpoint.reason();
      return FactsOf(**checkpoint, directory);
    }
    const auto checkpoint = OpenCheckpoint(directory, model::PieceRule::kNative);
    if (!checkpoint) return checkpoint.reason();
    return FactsOf(**checkpoint);
  });
}

Result<std::unique_ptr<Engine>> Engine::Open(const EngineOptions& options, std::shared_ptr<Device> device) {
  return IsPocket(options.directory) ? OpenPocketEngine(options, std::move(device))
                                     : OpenQwenEngine(options, std::move(device));
}

}  // namespace parley::runtime
