// Who we are in DTLS: a certificate that is made anew with each process, and
// the rules of every handshake under it. It vouches for nothing by itself; the
// peer knows it by its fingerprint, which the signalling carries (RFC 8122).
//
// Immutable once made; endpoints on any thread share it.
#ifndef PARLEY_MEDIA_DTLS_DTLS_IDENTITY_H_
#define PARLEY_MEDIA_DTLS_DTLS_IDENTITY_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace parley {

// Says whether a peer's certificate is the one that was announced. Each SSL of
// the identity's context carries its judge as application data.
class CertificateJudge {
 public:
  virtual bool Accept(const X509* certificate) = 0;

 protected:
  ~CertificateJudge() = default;
};

class DtlsIdentity {
 public:
  // P-256, self-signed. Null with a reason when the crypto library refuses.
  static std::shared_ptr<DtlsIdentity> Make(std::string* problem);
  ~DtlsIdentity() { SSL_CTX_free(context_); }
  DtlsIdentity(const DtlsIdentity&) = delete;
  DtlsIdentity& operator=(const DtlsIdentity&) = delete;

  SSL_CTX* context() const { return context_; }
  // SHA-256 of the certificate, as in SDP: `AB:CD:...`.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  DtlsIdentity(SSL_CTX* context, std::string fingerprint)
      : context_(context), fingerprint_(std::move(fingerprint)) {}

  SSL_CTX* const context_;
  const std::string fingerprint_;
};

// The digest of a certificate as in SDP, by the hash's name in SDP (`sha-256`,
// `sha-384`, `sha-512`); empty for another hash.
std::string FingerprintOf(const X509* certificate, const std::string& hash);

// What the error queue of OpenSSL holds first, in words; empties it.
std::string TakeOpensslError();

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DTLS_IDENTITY_H_
