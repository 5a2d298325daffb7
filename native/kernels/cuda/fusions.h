// Grids that do at once what several others do one after the other, to the same bits. Each can be left out: a device that they were never measured
// on may be slower by them, or another than they were made for.
#ifndef PARLEY_KERNELS_CUDA_FUSIONS_H_
#define PARLEY_KERNELS_CUDA_FUSIONS_H_

#include <cstddef>
#include <cstdint>

namespace parley::cuda {

enum class Fused : uint8_t {
  kLayers,     // the layers of a talker or code predictor, of up to three rows
  kPasses,     // and all passes of a code predictor
  kUnits,      // the codec's residual units of 96 and 192 channels: snake, both convolutions and what is added
};

// In the order of Fused.
inline constexpr const char* kFusedNames[] = {"layers", "passes", "units"};
inline constexpr size_t kFusedCount = sizeof kFusedNames / sizeof *kFusedNames;

class FusionSet {
 public:
  bool Has(Fused what) const { return (bits_ >> static_cast<uint32_t>(what) & 1) != 0; }
  void Set(Fused what, bool on) {
    const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(what);
    bits_ = on ? bits_ | bit : bits_ & ~bit;
  }

 private:
  uint32_t bits_ = ~uint32_t{0};
};

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_FUSIONS_H_
