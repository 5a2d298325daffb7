// SRTP and SRTCP, the sending side (RFC 3711, RFC 6188, RFC 7714).
//
// An index is the whole secret of a counter cipher: the same one twice gives
// the plain text away. So a sender accepts only packets whose index is greater
// than the last one's, and there must be one sender per key, ever.
#ifndef PARLEY_MEDIA_SRTP_H_
#define PARLEY_MEDIA_SRTP_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "media/srtp_cipher.h"
#include "media/srtp_profile.h"

namespace parley {

// Not thread safe: one thread owns a sender at a time. Nothing is allocated
// after Create().
class SrtpSender {
 public:
  static constexpr size_t kMaxRtpTrailer = 16;   // bytes a packet may grow by: the GCM tag
  static constexpr size_t kMaxRtcpTrailer = 20;  // the GCM tag and the E|index word

  // Null when a length is wrong or the crypto library refuses.
  static std::unique_ptr<SrtpSender> Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                            const uint8_t* salt, size_t salt_len, uint32_t ssrc);

  // Encrypts in place and appends the tag. Returns the new length, or 0 and
  // leaves the packet as it was: malformed, foreign SSRC, no room for the tag,
  // or an index that is not greater than the last one. The roll-over counter
  // starts at 0 and grows when the sequence number wraps.
  size_t ProtectRtp(uint8_t* packet, size_t len, size_t capacity);

  // The same for a compound RTCP packet; its index is the sender's own, from 1.
  size_t ProtectRtcp(uint8_t* packet, size_t len, size_t capacity);

  const SrtpCipher& cipher() const { return *cipher_; }
  uint32_t rollover_counter() const { return static_cast<uint32_t>(last_index_ >> 16); }  // of the last packet
  uint32_t rtcp_index() const { return rtcp_index_; }  // of the last one used; 0 before the first

 private:
  SrtpSender(std::unique_ptr<SrtpCipher> cipher, uint32_t ssrc) : cipher_(std::move(cipher)), ssrc_(ssrc) {}

  const std::unique_ptr<SrtpCipher> cipher_;
  const uint32_t ssrc_;
  uint64_t last_index_ = 0;  // ROC << 16 | sequence; meaningless until started_
  bool started_ = false;
  uint32_t rtcp_index_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_SRTP_H_
