// The protection profiles of SRTP that calls may agree on, by the names of SDES
// (RFC 4568, RFC 6188, RFC 7714), as data.
#ifndef PARLEY_MEDIA_SRTP_PROFILE_H_
#define PARLEY_MEDIA_SRTP_PROFILE_H_

#include <array>
#include <cstddef>

namespace parley {

enum class SrtpProfile {
  kAesCm128HmacSha1_80,
  kAesCm128HmacSha1_32,
  kAesCm256HmacSha1_80,
  kAesCm256HmacSha1_32,
  kAeadAes128Gcm,
  kAeadAes256Gcm,
};

struct SrtpShape {
  SrtpProfile profile;
  const char* name;
  size_t key_bytes;
  size_t salt_bytes;
  size_t rtp_tag_bytes;
  size_t rtcp_tag_bytes;  // 80 bits also where RTP has 32 (RFC 4568, 6.2.2)
  bool gcm;
};

constexpr std::array<SrtpShape, 6> kSrtpShapes = {{
    {SrtpProfile::kAesCm128HmacSha1_80, "AES_CM_128_HMAC_SHA1_80", 16, 14, 10, 10, false},
    {SrtpProfile::kAesCm128HmacSha1_32, "AES_CM_128_HMAC_SHA1_32", 16, 14, 4, 10, false},
    {SrtpProfile::kAesCm256HmacSha1_80, "AES_256_CM_HMAC_SHA1_80", 32, 14, 10, 10, false},
    {SrtpProfile::kAesCm256HmacSha1_32, "AES_256_CM_HMAC_SHA1_32", 32, 14, 4, 10, false},
    {SrtpProfile::kAeadAes128Gcm, "AEAD_AES_128_GCM", 16, 12, 16, 16, true},
    {SrtpProfile::kAeadAes256Gcm, "AEAD_AES_256_GCM", 32, 12, 16, 16, true},
}};

constexpr size_t kMaxSrtpKeyBytes = 32;
constexpr size_t kMaxSrtpSaltBytes = 14;

inline const SrtpShape& ShapeOf(SrtpProfile profile) { return kSrtpShapes[static_cast<size_t>(profile)]; }

}  // namespace parley

#endif  // PARLEY_MEDIA_SRTP_PROFILE_H_
