#include "kernels/cpu/variant.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace parley::cpu {

#ifdef PARLEY_X86_VARIANTS
extern const Variant kAvx2;
extern const Variant kAvx512;

const Variant* Avx2Variant() {
  const bool here =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  return here ? &kAvx2 : nullptr;
}

const Variant* Avx512Variant() {
  const bool here = Avx2Variant() && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return here ? &kAvx512 : nullptr;
}
#else
const Variant* Avx2Variant() { return nullptr; }
const Variant* Avx512Variant() { return nullptr; }
#endif

const Variant* VariantNamed(const char* name) {
  if (std::strcmp(name, "portable") == 0) return &kPortable;
  if (std::strcmp(name, "avx2") == 0) return Avx2Variant();
  if (std::strcmp(name, "avx512") == 0) return Avx512Variant();
  return nullptr;
}

const Variant& ChooseVariant() {
  const char* wanted = std::getenv("KERNELS");
  if (wanted != nullptr && *wanted != '\0') {
    const Variant* named = VariantNamed(wanted);
    if (named) return *named;
    throw std::invalid_argument(std::string("KERNELS=") + wanted +
                                " is not portable, avx2 or avx512, or this processor cannot run it");
  }
  if (const Variant* best = Avx512Variant()) return *best;
  if (const Variant* good = Avx2Variant()) return *good;
  return kPortable;
}

}  // namespace parley::cpu
