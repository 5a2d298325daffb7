// The cryptography of one SRTP packet whose index is known (RFC 3711, RFC 6188,
// RFC 7714): profiles, the session keys of one direction, sealing and opening.
//
//   master key + salt ──▶ session keys (label 0..5) ──▶ per packet: index → IV → cipher, tag
//
// Indexes are the business of sender and receiver. Not thread safe; nothing is
// allocated after Create().
#ifndef PARLEY_MEDIA_SRTP_CIPHER_H_
#define PARLEY_MEDIA_SRTP_CIPHER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace parley {

// The protection profiles of SRTP that calls may agree on, by the names of SDES
// (RFC 4568, RFC 6188, RFC 7714), as data.
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

constexpr size_t kSrtcpHeaderBytes = 8;  // stays readable
constexpr size_t kSrtcpIndexBytes = 4;   // E flag and index

class SrtpCipher {
 public:
  // Null when a length is wrong or the crypto library refuses.
  static std::unique_ptr<SrtpCipher> Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                            const uint8_t* salt, size_t salt_len);
  ~SrtpCipher();
  SrtpCipher(const SrtpCipher&) = delete;
  SrtpCipher& operator=(const SrtpCipher&) = delete;

  // Made of the same profile and keys.
  bool HasKeys(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt,
               size_t salt_len) const;

  size_t rtp_trailer() const { return shape_.rtp_tag_bytes; }
  size_t rtcp_trailer() const { return shape_.rtcp_tag_bytes + kSrtcpIndexBytes; }

  // Bytes behind the master key index, if a packet has one. GCM has its tag before it (RFC 7714, 8 and 9).
  size_t rtp_tag_behind_mki() const { return shape_.gcm ? 0 : shape_.rtp_tag_bytes; }
  size_t rtcp_tag_behind_mki() const { return shape_.gcm ? 0 : shape_.rtcp_tag_bytes; }

  // In place; the packet grows by its trailer. `header` bytes stay readable.
  bool SealRtp(uint8_t* packet, size_t header, size_t len, uint32_t ssrc, uint64_t index);
  bool SealRtcp(uint8_t* packet, size_t len, uint32_t ssrc, uint32_t index);

  // From `packet`, which stays as it is, to `out`, which has `len` bytes of
  // room; what is in `out` counts only when the answer is true. `len` is the
  // whole packet's and reaches over header and trailer.
  bool OpenRtp(const uint8_t* packet, size_t header, size_t len, uint32_t ssrc, uint64_t index, uint8_t* out);
  // `word` is the E flag and index as they came.
  bool OpenRtcp(const uint8_t* packet, size_t len, uint32_t ssrc, uint32_t word, uint8_t* out);

  // Offset of the E|index word in a compound of `len` bytes, trailer included.
  size_t RtcpWordAt(size_t len) const {
    return len - kSrtcpIndexBytes - (shape_.gcm ? 0 : shape_.rtcp_tag_bytes);
  }

 private:
  struct Half;
  explicit SrtpCipher(const SrtpShape& shape);
  bool Init(const uint8_t* key, const uint8_t* salt);
  bool InitHalf(Half& half, void* master, const uint8_t* salt, uint8_t label);

  const SrtpShape shape_;
  std::unique_ptr<Half> rtp_, rtcp_;
  std::vector<uint8_t> keys_;  // key and salt
};

}  // namespace parley

#endif  // PARLEY_MEDIA_SRTP_CIPHER_H_
