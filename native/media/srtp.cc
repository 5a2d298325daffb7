#define OPENSSL_SUPPRESS_DEPRECATED  // SHA1_*: see HmacSha1
#include "media/srtp.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <cstring>

namespace parley {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kRtcpHeaderBytes = 8;
constexpr size_t kHmacTagBytes = 10;
constexpr size_t kGcmTagBytes = 16;
constexpr size_t kIndexBytes = 4;
constexpr size_t kCmSaltBytes = 14;
constexpr size_t kGcmSaltBytes = 12;
constexpr size_t kSha1Bytes = 20;
constexpr size_t kSha1Block = 64;
constexpr uint64_t kLastRtpIndex = (uint64_t{1} << 48) - 1;
constexpr uint32_t kLastRtcpIndex = 0x7fffffff;
constexpr uint32_t kEncryptedFlag = 0x80000000;  // the E bit before the SRTCP index

struct CipherContextDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, CipherContextDeleter>;

// Key material, wiped when it goes.
template <size_t N>
struct Secret : std::array<uint8_t, N> {
  Secret() { this->fill(0); }
  ~Secret() { OPENSSL_cleanse(this->data(), N); }
};

void PutBig32(uint8_t* out, uint32_t value) {
  for (int i = 0; i < 4; i++) out[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

uint32_t GetBig32(const uint8_t* in) {
  return uint32_t{in[0]} << 24 | uint32_t{in[1]} << 16 | uint32_t{in[2]} << 8 | in[3];
}

void XorBig(uint8_t* out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) out[i] ^= static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

CipherContext NewCipher(const EVP_CIPHER* cipher, const uint8_t* key) {
  CipherContext context(EVP_CIPHER_CTX_new());
  if (!context || EVP_EncryptInit_ex(context.get(), cipher, nullptr, key, nullptr) != 1) return nullptr;
  return context;
}

bool Encrypt(EVP_CIPHER_CTX* context, const uint8_t* iv, uint8_t* data, size_t len) {
  int done = 0;
  return EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, iv) == 1 &&
         EVP_EncryptUpdate(context, data, &done, data, static_cast<int>(len)) == 1;
}

// Session key (RFC 3711, 4.3; the derivation rate is 0, so r = 0):
//   out = AES-CM(master key, IV = (salt ^ label << 48) << 16)
// `salt` has 14 bytes; a 12-byte salt is padded on the right (RFC 7714, 11).
bool Derive(EVP_CIPHER_CTX* master, const uint8_t* salt, uint8_t label, uint8_t* out, size_t len) {
  uint8_t iv[16] = {};
  std::memcpy(iv, salt, kCmSaltBytes);
  iv[7] ^= label;
  std::memset(out, 0, len);
  return Encrypt(master, iv, out, len);
}

// HMAC(k, m) = SHA1(k ^ opad | SHA1(k ^ ipad | m)), RFC 2104.
//
// The state after the first block of each hash is kept and copied per packet.
// OpenSSL 3's own HMAC and digest contexts allocate at every message; its plain
// SHA-1 functions do not, and take half the time.
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
  static bool Start(SHA_CTX* hash, const uint8_t* key, size_t len, uint8_t pad) {
    Secret<kSha1Block> block;
    block.fill(pad);
    for (size_t i = 0; i < len; i++) block[i] ^= key[i];
    return SHA1_Init(hash) && SHA1_Update(hash, block.data(), block.size());
  }

  SHA_CTX inner_{}, outer_{};
};

// The part of an RTP packet that stays readable: header, CSRCs, extension. 0
// when the packet is not RTP.
size_t RtpHeaderBytes(const uint8_t* packet, size_t len) {
  if (len < kHeaderBytes || packet[0] >> 6 != 2) return 0;
  size_t header = kHeaderBytes + 4 * (packet[0] & 0x0f);
  if (packet[0] & 0x10) {
    if (len < header + 4) return 0;
    header += 4 + 4 * (size_t{packet[header + 2]} << 8 | packet[header + 3]);
  }
  return header <= len ? header : 0;
}

}  // namespace

size_t SrtpSaltBytes(SrtpProfile profile) {
  return profile == SrtpProfile::kAeadAes128Gcm ? kGcmSaltBytes : kCmSaltBytes;
}

// The session keys of one direction, and what they do to one packet.
class SrtpSender::Cipher {
 public:
  explicit Cipher(SrtpProfile profile) : gcm_(profile == SrtpProfile::kAeadAes128Gcm) {}

  bool Init(const uint8_t* key, const uint8_t* salt) {
    const CipherContext master = NewCipher(EVP_aes_128_ctr(), key);
    Secret<kCmSaltBytes> padded;
    std::memcpy(padded.data(), salt, gcm_ ? kGcmSaltBytes : kCmSaltBytes);
    return master && InitHalf(rtp_, master.get(), padded.data(), 0) &&
           InitHalf(rtcp_, master.get(), padded.data(), 3);
  }

  size_t rtp_trailer() const { return gcm_ ? kGcmTagBytes : kHmacTagBytes; }
  size_t rtcp_trailer() const { return rtp_trailer() + kIndexBytes; }

  bool SealRtp(uint8_t* packet, size_t header, size_t len, uint32_t ssrc, uint64_t index) {
    uint8_t* const body = packet + header;
    const size_t body_len = len - header;
    if (gcm_) {
      return SealGcm(rtp_, ssrc, index, packet, header, nullptr, 0, body, body_len);
    }
    uint8_t roc[4];
    PutBig32(roc, static_cast<uint32_t>(index >> 16));
    return CryptCm(rtp_, ssrc, index, body, body_len) && AppendTag(rtp_, packet, len, roc, sizeof roc);
  }

  bool SealRtcp(uint8_t* packet, size_t len, uint32_t ssrc, uint32_t index) {
    uint8_t* const body = packet + kRtcpHeaderBytes;
    const size_t body_len = len - kRtcpHeaderBytes;
    uint8_t word[kIndexBytes];
    PutBig32(word, kEncryptedFlag | index);
    if (gcm_) {  // header | cipher text | tag | E|index (RFC 7714, 9)
      std::memcpy(packet + len + kGcmTagBytes, word, sizeof word);
      return SealGcm(rtcp_, ssrc, index, packet, kRtcpHeaderBytes, word, sizeof word, body, body_len);
    }
    std::memcpy(packet + len, word, sizeof word);  // header | cipher text | E|index | tag
    return CryptCm(rtcp_, ssrc, index, body, body_len) &&
           AppendTag(rtcp_, packet, len + sizeof word, nullptr, 0);
  }

 private:
  struct Half {  // RTP or RTCP
    CipherContext cipher;
    HmacSha1 hmac;  // AES-CM only
    Secret<kCmSaltBytes> salt;
  };

  bool InitHalf(Half& half, EVP_CIPHER_CTX* master, const uint8_t* salt, uint8_t label) {
    Secret<kSrtpKeyBytes> key;
    Secret<kSha1Bytes> auth;
    if (!Derive(master, salt, label, key.data(), key.size())) return false;
    if (!Derive(master, salt, label + 1, auth.data(), auth.size())) return false;
    if (!Derive(master, salt, label + 2, half.salt.data(), gcm_ ? kGcmSaltBytes : kCmSaltBytes)) return false;
    half.cipher = NewCipher(gcm_ ? EVP_aes_128_gcm() : EVP_aes_128_ctr(), key.data());
    return half.cipher && (gcm_ || half.hmac.Init(auth.data(), auth.size()));
  }

  // IV = salt << 16 ^ SSRC << 64 ^ index << 16, 128 bits (RFC 3711, 4.1.1)
  static bool CryptCm(Half& half, uint32_t ssrc, uint64_t index, uint8_t* body, size_t len) {
    uint8_t iv[16] = {};
    std::memcpy(iv, half.salt.data(), kCmSaltBytes);
    XorBig(iv + 4, ssrc, 4);
    XorBig(iv + 8, index, 6);
    return Encrypt(half.cipher.get(), iv, body, len);
  }

  static bool AppendTag(Half& half, uint8_t* data, size_t len, const uint8_t* suffix, size_t suffix_len) {
    uint8_t sum[kSha1Bytes];
    if (!half.hmac.Sum(data, len, suffix, suffix_len, sum)) return false;
    std::memcpy(data + len, sum, kHmacTagBytes);
    return true;
  }

  // IV = (00 00 | SSRC | index, 48 bits) ^ salt (RFC 7714, 8.1 and 9.1: an RTP
  // index is ROC | SEQ, an RTCP one has 31 bits). The tag follows the body.
  static bool SealGcm(Half& half, uint32_t ssrc, uint64_t index, const uint8_t* head, size_t head_len,
                      const uint8_t* word, size_t word_len, uint8_t* body, size_t len) {
    EVP_CIPHER_CTX* context = half.cipher.get();
    uint8_t iv[kGcmSaltBytes];
    std::memcpy(iv, half.salt.data(), sizeof iv);
    XorBig(iv + 2, ssrc, 4);
    XorBig(iv + 6, index, 6);
    int done = 0;
    return EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, iv) == 1 &&
           EVP_EncryptUpdate(context, nullptr, &done, head, static_cast<int>(head_len)) == 1 &&
           (word == nullptr ||
            EVP_EncryptUpdate(context, nullptr, &done, word, static_cast<int>(word_len)) == 1) &&
           EVP_EncryptUpdate(context, body, &done, body, static_cast<int>(len)) == 1 &&
           EVP_EncryptFinal_ex(context, body + len, &done) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kGcmTagBytes, body + len) == 1;
  }

  const bool gcm_;
  Half rtp_, rtcp_;
};

SrtpSender::SrtpSender(std::unique_ptr<Cipher> cipher, uint32_t ssrc)
    : cipher_(std::move(cipher)), ssrc_(ssrc) {}
SrtpSender::~SrtpSender() = default;

std::unique_ptr<SrtpSender> SrtpSender::Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                               const uint8_t* salt, size_t salt_len, uint32_t ssrc) {
  if (key_len != kSrtpKeyBytes || salt_len != SrtpSaltBytes(profile)) return nullptr;
  auto cipher = std::make_unique<Cipher>(profile);
  if (!cipher->Init(key, salt)) return nullptr;
  return std::unique_ptr<SrtpSender>(new SrtpSender(std::move(cipher), ssrc));
}

size_t SrtpSender::ProtectRtp(uint8_t* packet, size_t len, size_t capacity) {
  const size_t header = RtpHeaderBytes(packet, len);
  const size_t trailer = cipher_->rtp_trailer();
  if (header == 0 || capacity < len + trailer || GetBig32(packet + 8) != ssrc_) return 0;
  const uint16_t sequence = static_cast<uint16_t>(packet[2] << 8 | packet[3]);
  uint64_t index = sequence;
  if (started_) {
    const auto step = static_cast<int16_t>(sequence - static_cast<uint16_t>(last_index_));
    if (step <= 0) return 0;
    index = last_index_ + static_cast<uint64_t>(step);
  }
  if (index > kLastRtpIndex) return 0;
  // Used up before the cipher runs: a packet that failed half-way has used it.
  last_index_ = index;
  started_ = true;
  return cipher_->SealRtp(packet, header, len, ssrc_, index) ? len + trailer : 0;
}

size_t SrtpSender::ProtectRtcp(uint8_t* packet, size_t len, size_t capacity) {
  const size_t trailer = cipher_->rtcp_trailer();
  if (len < kRtcpHeaderBytes || packet[0] >> 6 != 2 || capacity < len + trailer) return 0;
  if (GetBig32(packet + 4) != ssrc_ || rtcp_index_ == kLastRtcpIndex) return 0;
  return cipher_->SealRtcp(packet, len, ssrc_, ++rtcp_index_) ? len + trailer : 0;
}

uint32_t SrtpSender::rollover_counter() const { return static_cast<uint32_t>(last_index_ >> 16); }
uint32_t SrtpSender::rtcp_index() const { return rtcp_index_; }

}  // namespace parley
