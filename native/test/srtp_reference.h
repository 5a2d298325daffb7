// A second, plain reading of RFC 3711 and RFC 7714, for tests only: it opens
// packets and works block by block, so that it shares no code with the sender
// it is compared with. Its own parts are held to the RFCs' vectors first.
#ifndef PARLEY_TEST_SRTP_REFERENCE_H_
#define PARLEY_TEST_SRTP_REFERENCE_H_

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace parley::reference {

using Bytes = std::vector<uint8_t>;

inline Bytes FromHex(const std::string& hex) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    while (hex[i] == ' ') i++;
    bytes.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string ToHex(const Bytes& bytes) {
  std::string hex;
  char pair[3];
  for (uint8_t byte : bytes) {
    std::snprintf(pair, sizeof pair, "%02x", byte);
    hex += pair;
  }
  return hex;
}

// E(key, block), one block of AES-128 or AES-256.
inline Bytes AesBlock(const Bytes& key, const Bytes& block) {
  Bytes out(16);
  int len = 0;
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(context, key.size() == 32 ? EVP_aes_256_ecb() : EVP_aes_128_ecb(), nullptr, key.data(),
                     nullptr);
  EVP_CIPHER_CTX_set_padding(context, 0);
  EVP_EncryptUpdate(context, out.data(), &len, block.data(), 16);
  EVP_CIPHER_CTX_free(context);
  return out;
}

// AES-CM (RFC 3711, 4.1.1): block j of the key stream is E(key, IV + j).
inline Bytes CmKeyStream(const Bytes& key, Bytes iv, size_t len) {
  Bytes stream;
  while (stream.size() < len) {
    const Bytes block = AesBlock(key, iv);
    stream.insert(stream.end(), block.begin(), block.end());
    for (int i = 15; i >= 0 && ++iv[static_cast<size_t>(i)] == 0; i--) {
    }
  }
  stream.resize(len);
  return stream;
}

// RFC 3711, 4.3, with a derivation rate of 0.
inline Bytes DeriveKey(const Bytes& master_key, Bytes master_salt, uint8_t label, size_t len) {
  master_salt.resize(16);  // 14 bytes (or 12 and two zeros), then << 16
  master_salt[7] ^= label;
  return CmKeyStream(master_key, master_salt, len);
}

inline Bytes HmacSha1(const Bytes& key, const Bytes& data) {
  Bytes out(20);
  unsigned len = 0;
  HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), data.data(), data.size(), out.data(), &len);
  return out;
}

// Empty when the tag does not fit.
inline Bytes GcmOpen(const Bytes& key, const Bytes& iv, const Bytes& aad, const Bytes& sealed) {
  const size_t len = sealed.size() - 16;
  Bytes out(len), tag(sealed.end() - 16, sealed.end());
  int done = 0;
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  EVP_DecryptInit_ex(context, key.size() == 32 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), nullptr, key.data(),
                     iv.data());
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag.data());
  EVP_DecryptUpdate(context, nullptr, &done, aad.data(), static_cast<int>(aad.size()));
  EVP_DecryptUpdate(context, out.data(), &done, sealed.data(), static_cast<int>(len));
  const bool good = EVP_DecryptFinal_ex(context, out.data() + len, &done) == 1;
  EVP_CIPHER_CTX_free(context);
  return good ? out : Bytes();
}

inline void XorAt(Bytes& bytes, size_t at, uint64_t value, size_t len) {
  for (size_t i = 0; i < len; i++) bytes[at + i] ^= static_cast<uint8_t>(value >> (8 * (len - 1 - i)));
}

inline Bytes Slice(const Bytes& bytes, size_t from, size_t to) {
  return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(from),
               bytes.begin() + static_cast<std::ptrdiff_t>(to));
}

inline Bytes Join(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Bytes Big32(uint32_t value) {
  Bytes bytes(4);
  XorAt(bytes, 0, value, 4);
  return bytes;
}

// A receiver that is told the index: what is empty did not authenticate.
struct Receiver {
  bool gcm;
  Bytes key, salt;      // the masters
  size_t rtp_tag = 10;  // bytes, AES-CM only; RTCP always has 10

  Bytes OpenRtp(const Bytes& packet, size_t header, uint32_t ssrc, uint32_t roc) const {
    const uint64_t index = uint64_t{roc} << 16 | uint64_t{packet[2]} << 8 | packet[3];
    const Bytes head = Slice(packet, 0, header);
    if (gcm) return Join(head, OpenGcm(0, ssrc, index, head, Slice(packet, header, packet.size())));
    const Bytes covered = Slice(packet, 0, packet.size() - rtp_tag);
    if (!TagFits(1, Join(covered, Big32(roc)), Slice(packet, covered.size(), packet.size()))) return {};
    return Join(head, CryptCm(0, ssrc, index, Slice(covered, header, covered.size())));
  }

  Bytes OpenRtcp(const Bytes& packet, uint32_t ssrc, uint32_t* index) const {
    const size_t word_at = packet.size() - (gcm ? 4 : 14);
    const Bytes word = Slice(packet, word_at, word_at + 4);
    if ((word[0] & 0x80) == 0) return {};
    *index = uint32_t{word[0] & 0x7fu} << 24 | uint32_t{word[1]} << 16 | uint32_t{word[2]} << 8 | word[3];
    const Bytes head = Slice(packet, 0, 8);
    if (gcm) return Join(head, OpenGcm(3, ssrc, *index, Join(head, word), Slice(packet, 8, word_at)));
    if (!TagFits(4, Slice(packet, 0, word_at + 4), Slice(packet, word_at + 4, packet.size()))) return {};
    return Join(head, CryptCm(3, ssrc, *index, Slice(packet, 8, word_at)));
  }

 private:
  bool TagFits(uint8_t label, const Bytes& covered, const Bytes& tag) const {
    return Slice(HmacSha1(DeriveKey(key, salt, label, 20), covered), 0, tag.size()) == tag;
  }

  Bytes CryptCm(uint8_t label, uint32_t ssrc, uint64_t index, Bytes body) const {
    Bytes iv = DeriveKey(key, salt, static_cast<uint8_t>(label + 2), 14);
    iv.resize(16);
    XorAt(iv, 4, ssrc, 4);
    XorAt(iv, 8, index, 6);
    const Bytes stream = CmKeyStream(DeriveKey(key, salt, label, key.size()), iv, body.size());
    for (size_t i = 0; i < body.size(); i++) body[i] ^= stream[i];
    return body;
  }

  Bytes OpenGcm(uint8_t label, uint32_t ssrc, uint64_t index, const Bytes& aad, const Bytes& sealed) const {
    Bytes iv = DeriveKey(key, salt, static_cast<uint8_t>(label + 2), 12);
    XorAt(iv, 2, ssrc, 4);
    XorAt(iv, 6, index, 6);
    return GcmOpen(DeriveKey(key, salt, label, key.size()), iv, aad, sealed);
  }
};

}  // namespace parley::reference

#endif  // PARLEY_TEST_SRTP_REFERENCE_H_
