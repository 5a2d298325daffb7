// HMAC(k, m) = SHA1(k ^ opad | SHA1(k ^ ipad | m)), RFC 2104.
//
// The state after the first block of each hash is kept and copied per message.
// OpenSSL 3's own HMAC and digest contexts allocate at every message; its plain
// SHA-1 functions do not, and take half the time. They are deprecated: whoever
// includes this defines OPENSSL_SUPPRESS_DEPRECATED first.
#ifndef PARLEY_MEDIA_HMAC_SHA1_H_
#define PARLEY_MEDIA_HMAC_SHA1_H_

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley {

constexpr size_t kSha1Bytes = 20;

// Key material, wiped when it goes.
template <size_t N>
struct Secret : std::array<uint8_t, N> {
  Secret() { this->fill(0); }
  ~Secret() { OPENSSL_cleanse(this->data(), N); }
};

class HmacSha1 {
 public:
  ~HmacSha1() {
    OPENSSL_cleanse(&inner_, sizeof inner_);
    OPENSSL_cleanse(&outer_, sizeof outer_);
  }

  // len <= 64
  bool Init(const uint8_t* key, size_t len) {
    return Start(&inner_, key, len, 0x36) && Start(&outer_, key, len, 0x5c);
  }

  // out: [20] bytes, of data | suffix.
  bool Sum(const uint8_t* data, size_t len, const uint8_t* suffix, size_t suffix_len, uint8_t* out) const {
    SHA_CTX hash = inner_;
    if (!SHA1_Update(&hash, data, len) || !SHA1_Update(&hash, suffix, suffix_len)) return false;
    if (!SHA1_Final(out, &hash)) return false;
    hash = outer_;
    return SHA1_Update(&hash, out, kSha1Bytes) && SHA1_Final(out, &hash);
  }

 private:
  static constexpr size_t kBlock = 64;

  static bool Start(SHA_CTX* hash, const uint8_t* key, size_t len, uint8_t pad) {
    Secret<kBlock> block;
    block.fill(pad);
    for (size_t i = 0; i < len; i++) block[i] ^= key[i];
    return SHA1_Init(hash) && SHA1_Update(hash, block.data(), block.size());
  }

  SHA_CTX inner_{}, outer_{};
};

}  // namespace parley

#endif  // PARLEY_MEDIA_HMAC_SHA1_H_
