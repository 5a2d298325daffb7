// HMAC-SHA1 of SRTP and STUN:
//
//   HMAC(k, m) = SHA1(k ^ opad | SHA1(k ^ ipad | m))    RFC 2104
//
// The state after the first block of each hash is kept and copied per message. OpenSSL 3's own HMAC and
// digest contexts allocate at every message. Its plain SHA-1 functions do not, and take half the time.
#ifndef PARLEY_MEDIA_HMAC_SHA1_H_
#define PARLEY_MEDIA_HMAC_SHA1_H_

#include <openssl/sha.h>

#include <cstddef>
#include <cstdint>

namespace parley {

class HmacSha1 {
 public:
  static constexpr size_t kBytes = 20;

  struct Part {
    const uint8_t* data;
    size_t len;
  };

  HmacSha1() = default;
  ~HmacSha1();
  HmacSha1(const HmacSha1&) = default;
  HmacSha1& operator=(const HmacSha1&) = default;

  // A key of any length. False where the crypto library refuses.
  bool Init(const uint8_t* key, size_t len);
  // The tag of all parts, one after the other: kBytes into `out`.
  bool Sum(const Part* parts, size_t count, uint8_t* out) const;

 private:
  SHA_CTX inner_{}, outer_{};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HMAC_SHA1_H_
