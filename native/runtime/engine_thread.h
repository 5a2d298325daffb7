// Runs the thread that owns a model: it loads the model, runs the scheduler, and frees everything at the end.
#ifndef PARLEY_RUNTIME_ENGINE_THREAD_H_
#define PARLEY_RUNTIME_ENGINE_THREAD_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/engine.h"
#include "runtime/frame_model.h"

namespace parley::runtime {

// Makes the model, on the engine's thread; null with `problem` set. May throw. `give_way` is for its kernels,
// as cpu::ThreadPoolOptions has it.
using ModelMaker =
    std::function<std::unique_ptr<FrameModel>(std::function<void()> give_way, std::string* problem)>;

// Opens an engine like Engine::Open, with any model. Only the scheduling options are read.
std::unique_ptr<Engine> OpenEngine(const EngineOptions& options, const ModelMaker& make,
                                   std::string* problem);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ENGINE_THREAD_H_
