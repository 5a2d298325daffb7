#include "media/dtls/dtls_identity.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

namespace parley {
namespace {

constexpr long kDay = 24 * 60 * 60;
constexpr long kValidDays = 5 * 365;  // longer than any process lives
constexpr int kSerialBytes = 8;
constexpr long kMaxChainBytes = 16 * 1024;

// Forward secrecy and authenticated encryption only. RSA is for peers' certificates.
constexpr char kCiphers[] =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:"
    "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-CHACHA20-POLY1305";
constexpr char kGroups[] = "X25519:P-256:P-384";
constexpr char kSrtpProfiles[] =
    "SRTP_AEAD_AES_128_GCM:SRTP_AEAD_AES_256_GCM:SRTP_AES128_CM_SHA1_80:SRTP_AES128_CM_SHA1_32";

template <class T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const { Free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509, X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX, SSL_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, Freer<BIGNUM, BN_free>>;

bool SetRandomSerial(X509* certificate) {
  uint8_t bytes[kSerialBytes];
  if (RAND_bytes(bytes, kSerialBytes) != 1) return false;
  bytes[0] = (bytes[0] & 0x7f) | 0x40;  // positive, and of full length
  const Number number(BN_bin2bn(bytes, kSerialBytes, nullptr));
  return number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate));
}

// The name says nothing of the machine.
bool SetName(X509* certificate) {
  X509_NAME* const name = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>("parley");
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1;
}

Certificate MakeCertificate(EVP_PKEY* key) {
  Certificate certificate(X509_new());
  X509* const x = certificate.get();
  const bool made = x && X509_set_version(x, 2) == 1 && SetRandomSerial(x) && SetName(x) &&
                    X509_gmtime_adj(X509_getm_notBefore(x), -kDay) &&
                    X509_gmtime_adj(X509_getm_notAfter(x), kValidDays * kDay) && X509_set_pubkey(x, key) == 1 &&
                    X509_sign(x, key, EVP_sha256()) > 0;
  return made ? std::move(certificate) : nullptr;
}

// In place of a chain of trust. What it refuses is told to the peer by an alert.
int Verify(X509_STORE_CTX* store, void*) {
  auto* const ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const judge = static_cast<CertificateJudge*>(SSL_get_app_data(ssl));
  const X509* const certificate = X509_STORE_CTX_get0_cert(store);
  const bool accepted = certificate && judge->Accept(certificate);
  X509_STORE_CTX_set_error(store, accepted ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
  return accepted ? 1 : 0;
}

bool SetRules(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context, Verify, nullptr);
  SSL_CTX_set_max_cert_list(context, kMaxChainBytes);
  return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphers) == 1 && SSL_CTX_set1_groups_list(context, kGroups) == 1 &&
         SSL_CTX_set_tlsext_use_srtp(context, kSrtpProfiles) == 0;  // 0 is success here
}

}  // namespace

std::string TakeOpensslError() {
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return reason ? reason : "unknown error";
}

std::string FingerprintOf(const X509* certificate, const std::string& hash) {
  const EVP_MD* const digest = hash == "sha-256"   ? EVP_sha256()
                               : hash == "sha-384" ? EVP_sha384()
                               : hash == "sha-512" ? EVP_sha512()
                                                   : nullptr;
  uint8_t bytes[EVP_MAX_MD_SIZE];
  unsigned int count = 0;
  if (!digest || X509_digest(certificate, digest, bytes, &count) != 1) return "";
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (unsigned int n = 0; n < count; n++) {
    if (n > 0) text += ':';
    text += kHex[bytes[n] >> 4];
    text += kHex[bytes[n] & 15];
  }
  return text;
}

std::shared_ptr<DtlsIdentity> DtlsIdentity::Make(std::string* problem) {
  ERR_clear_error();
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = key ? MakeCertificate(key.get()) : nullptr;
  Context context(certificate ? SSL_CTX_new(DTLS_method()) : nullptr);
  if (!context || SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1 || !SetRules(context.get())) {
    *problem = "the crypto library cannot do DTLS: " + TakeOpensslError();
    return nullptr;
  }
  return std::shared_ptr<DtlsIdentity>(
      new DtlsIdentity(context.release(), FingerprintOf(certificate.get(), "sha-256")));
}

}  // namespace parley
