// The CUDA backend as a file of its own, which is loaded where a driver answers: nothing here needs
// CUDA, when it is built or when it runs.
#ifndef PARLEY_KERNELS_CUDA_PLUGIN_H_
#define PARLEY_KERNELS_CUDA_PLUGIN_H_

#include <cstddef>
#include <memory>
#include <string>

#include "kernels/speech_kernels.h"

namespace parley::cuda {

struct PluginOptions {
  int device = 0;      // index among those that CUDA_VISIBLE_DEVICES leaves
  bool graphs = true;  // else every grid is started for itself
  size_t memory = 0;   // bytes to take; 0: nearly all that is free
  // Products keep 16 bits of the vectors that meet bf16 or 8-bit weights, as on the CPU, instead of rounding
  // them to bf16. They take up to twice the time.
  bool full_vectors = false;
};

// Empty if there is a usable GPU, otherwise the reason for people to read: "no NVIDIA driver ..". The driver
// is asked once. CUDA may not be used in a process that forks afterwards.
const std::string& WhyNoCuda();

// Null with `problem` set: there is no GPU, `file` is not there, was built from other sources than this, or
// the device refuses. The file stays loaded.
std::unique_ptr<SpeechKernels> OpenPlugin(const std::string& file, const PluginOptions& options,
                                          std::string* problem);

// The function that a plug-in exports as kPluginEntry. On failure it returns null and sets `problem`
// [problem_bytes]. `interface`: the caller's kPluginInterface.
using PluginEntry = SpeechKernels* (*)(const char* interface, const PluginOptions* options, char* problem,
                                       size_t problem_bytes);
inline constexpr const char* kPluginEntry = "parley_cuda_open";

// Both sides are compiled from the same headers; a file from another build must not be used.
inline constexpr const char* kPluginInterface = PARLEY_PLUGIN_INTERFACE;

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PLUGIN_H_
