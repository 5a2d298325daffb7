// Implements Engine::Open: opens a checkpoint on this machine's GPU or processor.
#include "runtime/engine.h"

#include <functional>
#include <new>
#include <utility>

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cuda/plugin.h"
#include "runtime/choices.h"
#include "runtime/engine_thread.h"
#include "runtime/machine_memory.h"
#include "runtime/processor.h"
#include "runtime/qwen_frame_model.h"

namespace parley::runtime {
namespace {

// `usual`: the format if no option names one.
bool ReadParts(const EngineOptions& options, Format usual, QwenFrameModel::Parts* parts,
               std::string* problem) {
  parts->pieces = options.case_split_pieces ? model::PieceRule::kCaseSplit : model::PieceRule::kNative;
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

// The compute backend, and the memory available to it.
struct Backend {
  std::unique_ptr<SpeechKernels> kernels;
  size_t memory = 0;
};

Backend OnProcessor(const EngineOptions& options, const cpu::ThreadPoolOptions& threads) {
  const size_t memory = AvailableMemory();
  return {OpenProcessor(options, threads), memory};
}

// Null with `problem` set.
Backend OnGpu(const EngineOptions& options, int number, const cpu::ThreadPoolOptions& threads,
              std::string* problem) {
  cuda::PluginOptions wanted;
  wanted.device = number;
  wanted.graphs = options.cuda_graphs;
  wanted.full_vectors = options.full_vectors;
  Backend backend{cuda::OpenPlugin(options.cuda_file, wanted, problem)};
  if (backend.kernels == nullptr) return backend;
  backend.memory = backend.kernels->Figures().memory_free;
  cpu::LowerPriority(threads.nice);
  return backend;
}

// Null with `problem` set.
std::unique_ptr<QwenFrameModel> LoadOn(Backend backend, const std::string& directory,
                                       const QwenFrameModel::Parts& parts, std::string* problem) {
  const std::string name = backend.kernels->Name();
  const BackendFigures figures = backend.kernels->Figures();
  try {
    return QwenFrameModel::Open(directory, parts, backend.memory, std::move(backend.kernels), problem);
  } catch (const std::bad_alloc&) {
    if (figures.memory_total == 0) throw;
    *problem = name + ": the model does not fit into the " + std::to_string(figures.memory_free >> 20) +
               " MiB that are free of " + std::to_string(figures.memory_total >> 20) +
               "; another process may hold the rest";
    return nullptr;
  }
}

// "cuda" or "cuda:3". False: it is neither.
bool ReadNumber(const std::string& device, int* number) {
  const std::string prefix = "cuda:";
  if (device == "cuda" || device == "auto") return true;
  if (device.compare(0, prefix.size(), prefix) != 0 || device.size() == prefix.size() ||
      device.size() > prefix.size() + 3)
    return false;
  for (size_t i = prefix.size(); i < device.size(); i++) {
    if (device[i] < '0' || device[i] > '9') return false;
    *number = 10 * *number + (device[i] - '0');
  }
  return true;
}

}  // namespace

std::unique_ptr<Engine> Engine::Open(const EngineOptions& options, std::string* problem) {
  QwenFrameModel::Parts parts;
  cpu::ThreadPoolOptions threads;
  int number = 0;
  if (!ReadParts(options, Format::kF32, &parts, problem) || !ReadThreads(options, &threads, problem))
    return nullptr;
  if (options.device != "cpu" && !ReadNumber(options.device, &number)) {
    return *problem = "device is \"" + options.device + "\"; it can be auto, cpu, cuda, cuda:<number>",
           nullptr;
  }
  const auto make = [&](std::function<void()> give_way, std::string* why) -> std::unique_ptr<QwenFrameModel> {
    threads.give_way = std::move(give_way);
    Backend backend;
    std::string no_cuda;
    if (options.device != "cpu") backend = OnGpu(options, number, threads, &no_cuda);
    if (backend.kernels == nullptr && options.device != "cpu" && options.device != "auto") {
      return *why = options.device + ": " + no_cuda, nullptr;
    }
    if (backend.kernels == nullptr) backend = OnProcessor(options, threads);
    else ReadParts(options, Format::kBf16, &parts, why);
    auto model = LoadOn(std::move(backend), options.directory, parts, why);
    if (model != nullptr) model->TellNoCuda(no_cuda);
    return model;
  };
  return OpenEngine(options, make, problem);
}

}  // namespace parley::runtime
