#include "kernels/cuda/plugin.h"

#include <dlfcn.h>

namespace parley::cuda {
namespace {

constexpr int kLeastVersion = 13000;  // the driver's CUDA version: the one that the plug-in is compiled with
constexpr size_t kProblemBytes = 512;

// The few functions of the driver that say whether there is one. Results of 0 are good.
struct Driver {
  void* library;

  template <class Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library, name));
  }

  std::string NameOf(int result) const {
    const auto name_of = Find<int (*)(int, const char**)>("cuGetErrorName");
    const char* name = nullptr;
    if (name_of == nullptr || name_of(result, &name) != 0 || name == nullptr) return std::to_string(result);
    return name;
  }
};

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string QueryDriver() {
  const Driver driver{dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
  if (driver.library == nullptr) return "there is no NVIDIA driver (libcuda.so.1)";
  const auto init = driver.Find<int (*)(unsigned)>("cuInit");
  const auto version_of = driver.Find<int (*)(int*)>("cuDriverGetVersion");
  const auto count_of = driver.Find<int (*)(int*)>("cuDeviceGetCount");
  if (init == nullptr || version_of == nullptr || count_of == nullptr)
    return "libcuda.so.1 is no NVIDIA driver";
  int version = 0;
  if (version_of(&version) == 0 && version < kLeastVersion) {
    return "the driver is for CUDA " + VersionText(version) + ", needed is " + VersionText(kLeastVersion) +
           " or newer";
  }
  if (const int result = init(0)) return "the driver does not start: " + driver.NameOf(result);
  int count = 0;
  if (const int result = count_of(&count)) return "the driver knows no GPU: " + driver.NameOf(result);
  return count > 0 ? "" : "no GPU is visible (CUDA_VISIBLE_DEVICES)";
}

}  // namespace

const std::string& WhyNoCuda() {
  static const std::string why = QueryDriver();
  return why;
}

std::unique_ptr<SpeechKernels> OpenPlugin(const std::string& file, const PluginOptions& options,
                                          std::string* problem) {
  if (!WhyNoCuda().empty()) return *problem = WhyNoCuda(), nullptr;
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return *problem = std::string("the CUDA backend cannot be loaded: ") + dlerror(), nullptr;
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, kPluginEntry));
  if (entry == nullptr) return *problem = file + " is no CUDA backend", nullptr;
  char why[kProblemBytes] = "";
  std::unique_ptr<SpeechKernels> kernels(entry(kPluginInterface, &options, why, sizeof why));
  if (kernels == nullptr) *problem = why;
  return kernels;
}

}  // namespace parley::cuda
