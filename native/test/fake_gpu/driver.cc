// Replaces libcuda.so.1 in tests: the driver functions that report whether there is a GPU.
//   PARLEY_FAKE_CUDA=12080   the CUDA that it is for (13000)
//   PARLEY_FAKE_GPUS=0       how many there are (1)
#include <cstdlib>

namespace {

int SettingOf(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

}  // namespace

extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDriverGetVersion(int* version) { return *version = SettingOf("PARLEY_FAKE_CUDA", 13000), 0; }
extern "C" int cuDeviceGetCount(int* count) { return *count = SettingOf("PARLEY_FAKE_GPUS", 1), 0; }
