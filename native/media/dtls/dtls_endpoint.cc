#include "media/dtls/dtls_endpoint.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/srtp.h>
#include <sys/time.h>

#include <algorithm>

namespace parley {
namespace {

constexpr char kExportLabel[] = "EXTRACTOR-dtls_srtp";  // RFC 5764, 4.2
constexpr uint32_t kLongestRetransmitUs = 2'000'000;
// From the one that is hardest to forge on.
constexpr const char* kHashes[] = {"sha-512", "sha-384", "sha-256"};

bool ProfileOf(const SRTP_PROTECTION_PROFILE* selected, SrtpProfile* profile) {
  switch (selected ? selected->id : 0) {
    case SRTP_AES128_CM_SHA1_80: *profile = SrtpProfile::kAesCm128HmacSha1_80; return true;
    case SRTP_AES128_CM_SHA1_32: *profile = SrtpProfile::kAesCm128HmacSha1_32; return true;
    case SRTP_AEAD_AES_128_GCM: *profile = SrtpProfile::kAeadAes128Gcm; return true;
    case SRTP_AEAD_AES_256_GCM: *profile = SrtpProfile::kAeadAes256Gcm; return true;
    default: return false;
  }
}

}  // namespace

DtlsSrtpKeys::~DtlsSrtpKeys() {
  OPENSSL_cleanse(&send, sizeof send);
  OPENSSL_cleanse(&receive, sizeof receive);
}

std::unique_ptr<DtlsEndpoint> DtlsEndpoint::Create(std::shared_ptr<DtlsIdentity> identity, DtlsConfig config) {
  std::unique_ptr<DtlsEndpoint> endpoint(new DtlsEndpoint(std::move(identity), std::move(config)));
  return endpoint->Prepare() ? std::move(endpoint) : nullptr;
}

DtlsEndpoint::~DtlsEndpoint() { SSL_free(ssl_); }

bool DtlsEndpoint::Prepare() {
  ERR_clear_error();
  ssl_ = SSL_new(identity_->context());
  BIO* const bio = ssl_ ? NewDatagramBio(&queue_) : nullptr;
  if (!bio) return false;
  SSL_set_bio(ssl_, bio, bio);  // which owns it now
  SSL_set_app_data(ssl_, static_cast<CertificateJudge*>(this));
  SSL_set_mtu(ssl_, kMtu);
  DTLS_set_timer_cb(ssl_, NextTimeout);
  if (config_.active) {
    SSL_set_connect_state(ssl_);
  } else {
    SSL_set_accept_state(ssl_);
  }
  return true;
}

void DtlsEndpoint::Start() {
  if (state_ != State::kNew) return;
  state_ = State::kHandshaking;
  Shake();
}

void DtlsEndpoint::Receive(const uint8_t* data, size_t len) {
  if (len == 0 || len > kMaxDatagram || (state_ != State::kHandshaking && state_ != State::kOpen)) return;
  queue_.in = data;
  queue_.in_bytes = len;
  if (state_ == State::kHandshaking) Shake();
  // A far end that missed our last flight sends its own again: reading answers it.
  if (state_ == State::kOpen) Drain();
  queue_.in = nullptr;
}

int64_t DtlsEndpoint::TimeoutMs() const {
  timeval left{};
  if (state_ != State::kHandshaking || DTLSv1_get_timeout(ssl_, &left) != 1) return -1;
  return static_cast<int64_t>(left.tv_sec) * 1000 + left.tv_usec / 1000;
}

void DtlsEndpoint::HandleTimeout() {
  if (state_ != State::kHandshaking) return;
  ERR_clear_error();
  if (DTLSv1_handle_timeout(ssl_) < 0) Fail(Failure::kProtocol, TakeOpensslError());
}

void DtlsEndpoint::Close() {
  ERR_clear_error();
  if (state_ == State::kOpen) SSL_shutdown(ssl_);
  ERR_clear_error();
  if (state_ != State::kFailed) state_ = State::kClosed;
}

void DtlsEndpoint::Shake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) return Opened();
  Judge(result);
}

// Nobody says anything inside the association but goodbye; what is said is dropped.
void DtlsEndpoint::Drain() {
  uint8_t said[kMaxDatagram];
  int result = 0;
  do {
    ERR_clear_error();
    result = SSL_read(ssl_, said, sizeof said);
  } while (result > 0);
  Judge(result);
}

void DtlsEndpoint::Judge(int result) {
  const int error = SSL_get_error(ssl_, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return ERR_clear_error();
  if (error == SSL_ERROR_ZERO_RETURN) {
    ERR_clear_error();
    state_ = State::kClosed;
    return;
  }
  if (stranger_) {
    ERR_clear_error();
    return Fail(Failure::kFingerprint, "the certificate is not the one that was announced");
  }
  Fail(Failure::kProtocol, TakeOpensslError());
}

void DtlsEndpoint::Opened() {
  SrtpProfile profile;
  if (!ProfileOf(SSL_get_selected_srtp_profile(ssl_), &profile)) {
    SSL_shutdown(ssl_);
    ERR_clear_error();
    return Fail(Failure::kNoProfile, "no protection profile of SRTP is common to both");
  }
  if (!ExportKeys(profile)) return Fail(Failure::kProtocol, TakeOpensslError());
  state_ = State::kOpen;
}

// client key | server key | client salt | server salt (RFC 5764, 4.2)
bool DtlsEndpoint::ExportKeys(SrtpProfile profile) {
  const size_t key = ShapeOf(profile).key_bytes, salt = ShapeOf(profile).salt_bytes;
  std::array<uint8_t, 2 * (kMaxSrtpKeyBytes + kMaxSrtpSaltBytes)> material;
  if (SSL_export_keying_material(ssl_, material.data(), 2 * (key + salt), kExportLabel, sizeof kExportLabel - 1,
                                 nullptr, 0, 0) != 1) {
    return false;
  }
  DtlsSrtpKeys::Way& client = config_.active ? keys_.send : keys_.receive;
  DtlsSrtpKeys::Way& server = config_.active ? keys_.receive : keys_.send;
  const uint8_t* from = material.data();
  const auto take = [&from](uint8_t* to, size_t bytes) {
    std::copy_n(from, bytes, to);
    from += bytes;
  };
  take(client.key.data(), key);
  take(server.key.data(), key);
  take(client.salt.data(), salt);
  take(server.salt.data(), salt);
  OPENSSL_cleanse(material.data(), material.size());
  keys_.profile = profile;
  return true;
}

void DtlsEndpoint::Fail(Failure failure, std::string reason) {
  state_ = State::kFailed;
  failure_ = failure;
  reason_ = std::move(reason);
}

// By the best hash that the peer announced: one of its digests must be the
// certificate's (RFC 8122, 5).
bool DtlsEndpoint::Knows(const X509* certificate) const {
  for (const char* hash : kHashes) {
    bool announced = false;
    const std::string digest = FingerprintOf(certificate, hash);
    for (const DtlsFingerprint& fingerprint : config_.fingerprints) {
      if (fingerprint.hash != hash) continue;
      announced = true;
      if (!digest.empty() && fingerprint.digest == digest) return true;
    }
    if (announced) return false;
  }
  return false;
}

bool DtlsEndpoint::Accept(const X509* certificate) {
  stranger_ = !Knows(certificate);
  return !stranger_;
}

unsigned int DtlsEndpoint::NextTimeout(SSL* ssl, unsigned int before_us) {
  auto* const judge = static_cast<CertificateJudge*>(SSL_get_app_data(ssl));
  const auto* self = static_cast<const DtlsEndpoint*>(judge);
  return before_us == 0 ? self->config_.retransmit_us : std::min(2 * before_us, kLongestRetransmitUs);
}

}  // namespace parley
