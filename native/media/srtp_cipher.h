// What SRTP does to one packet once its index is known (RFC 3711, RFC 6188,
// RFC 7714): the session keys of one direction, sealing and opening.
//
//   master key + salt ──▶ session keys (label 0..5) ──▶ per packet: index → IV → cipher, tag
//
// Indexes are the business of sender and receiver. Not thread safe; nothing is
// allocated after Create().
#ifndef PARLEY_MEDIA_SRTP_CIPHER_H_
#define PARLEY_MEDIA_SRTP_CIPHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/srtp_profile.h"

namespace parley {

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

  // Where the E|index word of a compound of `len` bytes, trailer included, begins.
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
