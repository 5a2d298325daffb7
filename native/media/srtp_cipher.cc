#include "media/srtp_cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "media/hmac_sha1.h"
#include "media/rtp.h"

namespace parley {

// Key material, wiped when it goes.
template <size_t N>
struct Secret : std::array<uint8_t, N> {
  Secret() { this->fill(0); }
  ~Secret() { OPENSSL_cleanse(this->data(), N); }
};

// With linkage, as SrtpCipher::Half has, which holds some.
struct CipherContextDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, CipherContextDeleter>;

namespace {

constexpr size_t kCmSaltBytes = 14;
constexpr size_t kGcmSaltBytes = 12;
constexpr size_t kGcmTagBytes = 16;
constexpr uint32_t kEncryptedFlag = 0x80000000;  // the E bit before the SRTCP index

void XorBig(uint8_t* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) out[i] ^= static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

CipherContext NewCipher(const EVP_CIPHER* cipher, const uint8_t* key) {
  CipherContext context(EVP_CIPHER_CTX_new());
  if (!context || EVP_EncryptInit_ex(context.get(), cipher, nullptr, key, nullptr) != 1) return nullptr;
  return context;
}

const EVP_CIPHER* CounterMode(size_t key_bytes) {
  return key_bytes == 32 ? EVP_aes_256_ctr() : EVP_aes_128_ctr();
}

const EVP_CIPHER* GaloisMode(size_t key_bytes) {
  return key_bytes == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
}

// Counter mode is its own inverse.
bool Crypt(EVP_CIPHER_CTX* context, const uint8_t* iv, const uint8_t* in, size_t len, uint8_t* out) {
  int done = 0;
  return EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, iv) == 1 &&
         EVP_EncryptUpdate(context, out, &done, in, static_cast<int>(len)) == 1;
}

// Session key (RFC 3711, 4.3; the derivation rate is 0, so r = 0):
//   out = AES-CM(master key, IV = (salt ^ label << 48) << 16)
// `salt` has 14 bytes; a 12-byte salt is padded on the right (RFC 7714, 11).
bool Derive(EVP_CIPHER_CTX* master, const uint8_t* salt, uint8_t label, uint8_t* out, size_t len) {
  uint8_t iv[16] = {};
  std::memcpy(iv, salt, kCmSaltBytes);
  iv[7] ^= label;
  std::memset(out, 0, len);
  return Crypt(master, iv, out, len, out);
}

// GCM's additional authenticated data: a header, and for RTCP the E|index word.
struct Associated {
  const uint8_t* head;
  size_t head_len;
  const uint8_t* word;
  size_t word_len;
};

}  // namespace

struct SrtpCipher::Half {  // RTP or RTCP
  CipherContext cipher;
  CipherContext opener;  // GCM only: a context has one direction
  HmacSha1 hmac;         // AES-CM only
  Secret<kCmSaltBytes> salt;

  // IV = salt << 16 ^ SSRC << 64 ^ index << 16, 128 bits (RFC 3711, 4.1.1)
  bool CryptCm(uint32_t ssrc, uint64_t index, const uint8_t* in, size_t len, uint8_t* out) {
    uint8_t iv[16] = {};
    std::memcpy(iv, salt.data(), kCmSaltBytes);
    XorBig(iv + 4, ssrc, 4);
    XorBig(iv + 8, index, 6);
    return Crypt(cipher.get(), iv, in, len, out);
  }

  bool Sum(const uint8_t* data, size_t len, const uint8_t* suffix, size_t suffix_len, uint8_t* out) const {
    const HmacSha1::Part parts[] = {{data, len}, {suffix, suffix_len}};
    return hmac.Sum(parts, 2, out);
  }

  bool AppendTag(uint8_t* data, size_t len, const uint8_t* suffix, size_t suffix_len, size_t tag_len) {
    uint8_t sum[HmacSha1::kBytes];
    if (!Sum(data, len, suffix, suffix_len, sum)) return false;
    std::memcpy(data + len, sum, tag_len);
    return true;
  }

  bool TagFits(const uint8_t* data, size_t len, const uint8_t* suffix, size_t suffix_len, size_t tag_len) {
    uint8_t sum[HmacSha1::kBytes];
    return Sum(data, len, suffix, suffix_len, sum) && CRYPTO_memcmp(sum, data + len, tag_len) == 0;
  }

  // IV = (00 00 | SSRC | index, 48 bits) ^ salt (RFC 7714, 8.1 and 9.1: an RTP
  // index is ROC | SEQ, an RTCP one has 31 bits).
  void GcmIv(uint32_t ssrc, uint64_t index, uint8_t* iv) const {
    std::memcpy(iv, salt.data(), kGcmSaltBytes);
    XorBig(iv + 2, ssrc, 4);
    XorBig(iv + 6, index, 6);
  }

  // The tag follows the body.
  bool SealGcm(uint32_t ssrc, uint64_t index, const Associated& seen, uint8_t* body, size_t len) {
    EVP_CIPHER_CTX* const context = cipher.get();
    uint8_t iv[kGcmSaltBytes];
    GcmIv(ssrc, index, iv);
    int done = 0;
    return EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, iv) == 1 &&
           EVP_EncryptUpdate(context, nullptr, &done, seen.head, static_cast<int>(seen.head_len)) == 1 &&
           (seen.word_len == 0 ||
            EVP_EncryptUpdate(context, nullptr, &done, seen.word, static_cast<int>(seen.word_len)) == 1) &&
           EVP_EncryptUpdate(context, body, &done, body, static_cast<int>(len)) == 1 &&
           EVP_EncryptFinal_ex(context, body + len, &done) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kGcmTagBytes, body + len) == 1;
  }

  // `body` has `len` bytes of cipher text and the tag behind them.
  bool OpenGcm(uint32_t ssrc, uint64_t index, const Associated& seen, const uint8_t* body, size_t len,
               uint8_t* out) {
    EVP_CIPHER_CTX* const context = opener.get();
    uint8_t iv[kGcmSaltBytes];
    GcmIv(ssrc, index, iv);
    int done = 0;
    uint8_t rest[16];
    return EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, iv) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kGcmTagBytes,
                               const_cast<uint8_t*>(body + len)) == 1 &&
           EVP_DecryptUpdate(context, nullptr, &done, seen.head, static_cast<int>(seen.head_len)) == 1 &&
           (seen.word_len == 0 ||
            EVP_DecryptUpdate(context, nullptr, &done, seen.word, static_cast<int>(seen.word_len)) == 1) &&
           EVP_DecryptUpdate(context, out, &done, body, static_cast<int>(len)) == 1 &&
           EVP_DecryptFinal_ex(context, rest, &done) == 1;
  }
};

SrtpCipher::SrtpCipher(const SrtpShape& shape)
    : shape_(shape), rtp_(std::make_unique<Half>()), rtcp_(std::make_unique<Half>()) {}
SrtpCipher::~SrtpCipher() { OPENSSL_cleanse(keys_.data(), keys_.size()); }

std::unique_ptr<SrtpCipher> SrtpCipher::Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                               const uint8_t* salt, size_t salt_len) {
  const SrtpShape& shape = ShapeOf(profile);
  if (key_len != shape.key_bytes || salt_len != shape.salt_bytes) return nullptr;
  std::unique_ptr<SrtpCipher> cipher(new SrtpCipher(shape));
  cipher->keys_.assign(key, key + key_len);
  cipher->keys_.insert(cipher->keys_.end(), salt, salt + salt_len);
  return cipher->Init(key, salt) ? std::move(cipher) : nullptr;
}

bool SrtpCipher::HasKeys(SrtpProfile profile, const uint8_t* key, size_t key_len, const uint8_t* salt,
                         size_t salt_len) const {
  return profile == shape_.profile && key_len + salt_len == keys_.size() &&
         std::equal(key, key + key_len, keys_.begin()) &&
         std::equal(salt, salt + salt_len, keys_.begin() + static_cast<std::ptrdiff_t>(key_len));
}

bool SrtpCipher::Init(const uint8_t* key, const uint8_t* salt) {
  const CipherContext master = NewCipher(CounterMode(shape_.key_bytes), key);
  Secret<kCmSaltBytes> padded;
  std::memcpy(padded.data(), salt, shape_.salt_bytes);
  return master && InitHalf(*rtp_, master.get(), padded.data(), 0) &&
         InitHalf(*rtcp_, master.get(), padded.data(), 3);
}

bool SrtpCipher::InitHalf(Half& half, void* master_context, const uint8_t* salt, uint8_t label) {
  auto* const master = static_cast<EVP_CIPHER_CTX*>(master_context);
  Secret<kMaxSrtpKeyBytes> key;
  Secret<HmacSha1::kBytes> auth;
  if (!Derive(master, salt, label, key.data(), shape_.key_bytes)) return false;
  if (!Derive(master, salt, label + 1, auth.data(), auth.size())) return false;
  if (!Derive(master, salt, label + 2, half.salt.data(), shape_.salt_bytes)) return false;
  if (!shape_.gcm) {
    half.cipher = NewCipher(CounterMode(shape_.key_bytes), key.data());
    return half.cipher && half.hmac.Init(auth.data(), auth.size());
  }
  half.cipher = NewCipher(GaloisMode(shape_.key_bytes), key.data());
  half.opener.reset(EVP_CIPHER_CTX_new());
  return half.cipher && half.opener &&
         EVP_DecryptInit_ex(half.opener.get(), GaloisMode(shape_.key_bytes), nullptr, key.data(), nullptr) ==
             1;
}

bool SrtpCipher::SealRtp(uint8_t* packet, size_t header, size_t len, uint32_t ssrc, uint64_t index) {
  uint8_t* const body = packet + header;
  const size_t body_len = len - header;
  if (shape_.gcm) return rtp_->SealGcm(ssrc, index, {packet, header, nullptr, 0}, body, body_len);
  uint8_t roc[4];
  PutBig32(roc, static_cast<uint32_t>(index >> 16));
  return rtp_->CryptCm(ssrc, index, body, body_len, body) &&
         rtp_->AppendTag(packet, len, roc, sizeof roc, shape_.rtp_tag_bytes);
}

bool SrtpCipher::SealRtcp(uint8_t* packet, size_t len, uint32_t ssrc, uint32_t index) {
  uint8_t* const body = packet + kSrtcpHeaderBytes;
  const size_t body_len = len - kSrtcpHeaderBytes;
  uint8_t word[kSrtcpIndexBytes];
  PutBig32(word, kEncryptedFlag | index);
  if (shape_.gcm) {  // header | cipher text | tag | E|index (RFC 7714, 9)
    std::memcpy(packet + len + kGcmTagBytes, word, sizeof word);
    return rtcp_->SealGcm(ssrc, index, {packet, kSrtcpHeaderBytes, word, sizeof word}, body, body_len);
  }
  std::memcpy(packet + len, word, sizeof word);  // header | cipher text | E|index | tag
  return rtcp_->CryptCm(ssrc, index, body, body_len, body) &&
         rtcp_->AppendTag(packet, len + sizeof word, nullptr, 0, shape_.rtcp_tag_bytes);
}

bool SrtpCipher::OpenRtp(const uint8_t* packet, size_t header, size_t len, uint32_t ssrc, uint64_t index,
                         uint8_t* out) {
  const size_t covered = len - shape_.rtp_tag_bytes;
  const uint8_t* const body = packet + header;
  const size_t body_len = covered - header;
  std::memcpy(out, packet, header);
  if (shape_.gcm) {
    return rtp_->OpenGcm(ssrc, index, {packet, header, nullptr, 0}, body, body_len, out + header);
  }
  uint8_t roc[4];
  PutBig32(roc, static_cast<uint32_t>(index >> 16));
  return rtp_->TagFits(packet, covered, roc, sizeof roc, shape_.rtp_tag_bytes) &&
         rtp_->CryptCm(ssrc, index, body, body_len, out + header);
}

bool SrtpCipher::OpenRtcp(const uint8_t* packet, size_t len, uint32_t ssrc, uint32_t word, uint8_t* out) {
  const uint32_t index = word & ~kEncryptedFlag;
  const bool encrypted = (word & kEncryptedFlag) != 0;
  const size_t body_len = len - kSrtcpHeaderBytes - rtcp_trailer();
  const uint8_t* const body = packet + kSrtcpHeaderBytes;
  std::memcpy(out, packet, kSrtcpHeaderBytes);
  if (shape_.gcm) {
    const uint8_t* const word_bytes = packet + RtcpWordAt(len);
    if (encrypted) {
      const Associated seen{packet, kSrtcpHeaderBytes, word_bytes, kSrtcpIndexBytes};
      return rtcp_->OpenGcm(ssrc, index, seen, body, body_len, out + kSrtcpHeaderBytes);
    }
    // Authenticated only: everything is associated, nothing is cipher text (RFC 7714, 9.3).
    std::memcpy(out + kSrtcpHeaderBytes, body, body_len);
    const Associated seen{packet, kSrtcpHeaderBytes + body_len, word_bytes, kSrtcpIndexBytes};
    uint8_t nothing[1];
    return rtcp_->OpenGcm(ssrc, index, seen, body + body_len, 0, nothing);
  }
  const size_t covered = len - shape_.rtcp_tag_bytes;
  if (!rtcp_->TagFits(packet, covered, nullptr, 0, shape_.rtcp_tag_bytes)) return false;
  if (encrypted) return rtcp_->CryptCm(ssrc, index, body, body_len, out + kSrtcpHeaderBytes);
  std::memcpy(out + kSrtcpHeaderBytes, body, body_len);
  return true;
}

}  // namespace parley
