// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011): random numbers that are a function of a key and a counter. A draw
// has a place (seed, stream, step), so a batch draws what each stream would have
// drawn alone, and a step can be repeated.
#ifndef PARLEY_KERNELS_PHILOX_H_
#define PARLEY_KERNELS_PHILOX_H_

#include <array>
#include <cstdint>

namespace parley {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

constexpr PhiloxCounter Philox(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; round++) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

// Position of a draw in the sequence of all draws.
struct Draw {
  uint64_t seed = 0;    // the request's
  uint64_t stream = 0;  // which sequence of the seed
  uint64_t step = 0;    // which draw of the sequence
};

// In [0, 1), a multiple of 2^-53.
constexpr double UnitOf(const Draw& draw) {
  const PhiloxCounter word =
      Philox({static_cast<uint32_t>(draw.step), static_cast<uint32_t>(draw.step >> 32),
              static_cast<uint32_t>(draw.stream), static_cast<uint32_t>(draw.stream >> 32)},
             {static_cast<uint32_t>(draw.seed), static_cast<uint32_t>(draw.seed >> 32)});
  const uint64_t bits = uint64_t{word[0]} << 32 | word[1];
  return static_cast<double>(bits >> 11) / 9007199254740992.0;
}

}  // namespace parley

#endif  // PARLEY_KERNELS_PHILOX_H_
