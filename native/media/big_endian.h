// Numbers as the network writes them.
#ifndef PARLEY_MEDIA_BIG_ENDIAN_H_
#define PARLEY_MEDIA_BIG_ENDIAN_H_

#include <cstdint>

namespace parley {

inline void PutBig16(uint8_t* out, uint16_t value) {
  out[0] = static_cast<uint8_t>(value >> 8);
  out[1] = static_cast<uint8_t>(value);
}

inline void PutBig32(uint8_t* out, uint32_t value) {
  PutBig16(out, static_cast<uint16_t>(value >> 16));
  PutBig16(out + 2, static_cast<uint16_t>(value));
}

inline uint16_t GetBig16(const uint8_t* in) { return static_cast<uint16_t>(in[0] << 8 | in[1]); }

inline uint32_t GetBig32(const uint8_t* in) { return uint32_t{GetBig16(in)} << 16 | GetBig16(in + 2); }

}  // namespace parley

#endif  // PARLEY_MEDIA_BIG_ENDIAN_H_
