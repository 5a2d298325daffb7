#define OPENSSL_SUPPRESS_DEPRECATED  // SHA1_*: see the header
#include "media/hmac_sha1.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>

namespace parley {
namespace {

constexpr size_t kBlock = 64;

bool Start(SHA_CTX* hash, const std::array<uint8_t, kBlock>& key, uint8_t pad) {
  std::array<uint8_t, kBlock> block;
  for (size_t n = 0; n < kBlock; n++) block[n] = key[n] ^ pad;
  const bool started = SHA1_Init(hash) && SHA1_Update(hash, block.data(), block.size());
  OPENSSL_cleanse(block.data(), block.size());
  return started;
}

}  // namespace

HmacSha1::~HmacSha1() {
  OPENSSL_cleanse(&inner_, sizeof inner_);
  OPENSSL_cleanse(&outer_, sizeof outer_);
}

bool HmacSha1::Init(const uint8_t* key, size_t len) {
  std::array<uint8_t, kBlock> block{};
  SHA_CTX hash;
  bool ready = true;
  if (len > kBlock) {
    ready = SHA1_Init(&hash) && SHA1_Update(&hash, key, len) && SHA1_Final(block.data(), &hash);
  } else {
    std::copy_n(key, len, block.begin());
  }
  ready = ready && Start(&inner_, block, 0x36) && Start(&outer_, block, 0x5c);
  OPENSSL_cleanse(block.data(), block.size());
  return ready;
}

bool HmacSha1::Sum(const Part* parts, size_t count, uint8_t* out) const {
  SHA_CTX hash = inner_;
  for (size_t n = 0; n < count; n++) {
    if (!SHA1_Update(&hash, parts[n].data, parts[n].len)) return false;
  }
  if (!SHA1_Final(out, &hash)) return false;
  hash = outer_;
  return SHA1_Update(&hash, out, kBytes) && SHA1_Final(out, &hash);
}

}  // namespace parley
