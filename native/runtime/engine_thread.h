// An engine over any model: a model with its scheduler, served by its device's thread.
#ifndef PARLEY_RUNTIME_ENGINE_THREAD_H_
#define PARLEY_RUNTIME_ENGINE_THREAD_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/device.h"
#include "runtime/engine.h"
#include "runtime/frame_model.h"

namespace parley::runtime {

// Makes the model, on the device's thread. May throw.
using ModelMaker = std::function<Result<std::unique_ptr<FrameModel>>(const Place& place)>;

// Opens an engine like Engine::Open, with any model. Only the options of scheduling and memory are read.
Result<std::unique_ptr<Engine>> OpenEngine(const EngineOptions& options, std::shared_ptr<Device> device,
                                           const ModelMaker& make);

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ENGINE_THREAD_H_
