#include "media/dtls/dtls_endpoint.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/time.h>

#include <algorithm>
#include <cstring>

#include "media/dtls/dtls_record.h"

namespace parley {
namespace {

constexpr char kExportLabel[] = "EXTRACTOR-dtls_srtp";  // RFC 5764, 4.2
constexpr uint32_t kLongestRetransmitUs = 2'000'000;
// An unproven far end gets few flights. The second wait is long for one that starts late.
constexpr uint32_t kUnprovenBackoff = 5, kBackoff = 2;
// From the one that is hardest to forge on.
constexpr const char* kHashes[] = {"sha-512", "sha-384", "sha-256"};

bool ProfileOf(const SRTP_PROTECTION_PROFILE* selected, SrtpProfile* profile) {
  switch (selected ? selected->id : 0) {
    case SRTP_AES128_CM_SHA1_80:
      *profile = SrtpProfile::kAesCm128HmacSha1_80;
      return true;
    case SRTP_AES128_CM_SHA1_32:
      *profile = SrtpProfile::kAesCm128HmacSha1_32;
      return true;
    case SRTP_AEAD_AES_128_GCM:
      *profile = SrtpProfile::kAeadAes128Gcm;
      return true;
    case SRTP_AEAD_AES_256_GCM:
      *profile = SrtpProfile::kAeadAes256Gcm;
      return true;
    default:
      return false;
  }
}

// Explicit nonce, tag and one byte of AES-GCM (RFC 5288, 3). OpenSSL 3.0 takes a shorter or empty protected
// record for an internal error and ends the association. ChaCha20-Poly1305 (RFC 7905) has no explicit nonce.
constexpr size_t kMinGcmBytes = 8 + 16 + 1;
constexpr size_t kMinChaChaBytes = 16 + 1;
constexpr uint8_t kMinorVersion = 0xfd;       // of DTLS 1.2
constexpr uint8_t kFirstMinorVersion = 0xff;  // of DTLS 1.0; a handshake may begin with it (RFC 6347, 4.2.1)

// Copies the records that OpenSSL reads as a whole, and returns their bytes. Of a record with another version
// or an impossible length OpenSSL drops only the head: it takes the rest for further records. A forged record
// could hide there what must not reach OpenSSL. Unprotected records get the version of DTLS 1.2.
size_t CopyWholeRecords(const uint8_t* data, size_t len, size_t least, uint8_t* out) {
  size_t kept = 0;
  for (size_t at = 0; at + kDtlsRecordHeadBytes <= len;) {
    const uint8_t* const record = data + at;
    const size_t bytes = kDtlsRecordHeadBytes + (record[11] << 8 | record[12]);
    if (bytes > len - at) break;
    at += bytes;
    const bool is_protected = (record[3] | record[4]) != 0;
    const bool may_be_first = !is_protected && record[2] == kFirstMinorVersion;
    if (record[1] != kDtlsMajorVersion || (record[2] != kMinorVersion && !may_be_first)) continue;
    if (is_protected && bytes < kDtlsRecordHeadBytes + least) continue;
    std::copy_n(record, bytes, out + kept);
    out[kept + 2] = kMinorVersion;
    kept += bytes;
  }
  return kept;
}

bool HasProtectedRecord(const std::vector<uint8_t>& datagram) {
  for (size_t at = 0; at + kDtlsRecordHeadBytes <= datagram.size();) {
    if ((datagram[at + 3] | datagram[at + 4]) != 0) return true;
    at += kDtlsRecordHeadBytes + (datagram[at + 11] << 8 | datagram[at + 12]);
  }
  return false;
}

}  // namespace

DtlsSrtpKeys::~DtlsSrtpKeys() {
  OPENSSL_cleanse(&send, sizeof send);
  OPENSSL_cleanse(&receive, sizeof receive);
}

std::unique_ptr<DtlsEndpoint> DtlsEndpoint::Create(std::shared_ptr<DtlsIdentity> identity,
                                                   DtlsConfig config) {
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
  SSL_set_app_data(ssl_, static_cast<CertificateVerifier*>(this));
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
  std::array<uint8_t, kMaxDatagram> kept;
  const SSL_CIPHER* const cipher = SSL_get_current_cipher(ssl_);
  const bool is_chacha = cipher && SSL_CIPHER_get_cipher_nid(cipher) == NID_chacha20_poly1305;
  const size_t least = is_chacha ? kMinChaChaBytes : kMinGcmBytes;
  queue_.in_bytes = CopyWholeRecords(data, len, least, kept.data());
  if (queue_.in_bytes == 0) return;
  queue_.in = kept.data();
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
  const size_t waiting = queue_.out.size();
  if (DTLSv1_handle_timeout(ssl_) < 0) return Fail(Failure::kProtocol, TakeOpensslError());
  Limit(waiting, false);
}

// Drops the flight that OpenSSL has just written behind the datagrams that wait, if an unproven far end has
// got its share. A flight with epoch 1 exists only after OpenSSL has verified a signature of the far end over
// our random value.
void DtlsEndpoint::Limit(size_t waiting, bool is_answer) {
  size_t bytes = 0;
  for (size_t n = waiting; n < queue_.out.size(); n++) {
    bytes += queue_.out[n].size();
    proven_ = proven_ || HasProtectedRecord(queue_.out[n]);
  }
  if (proven_ || bytes == 0) return;
  if (first_bytes_ == 0 || (is_answer && config_.active && !has_answered_)) {
    has_answered_ = first_bytes_ != 0;
    first_bytes_ = bytes;
    sent_bytes_ = 0;
  }
  if (sent_bytes_ + bytes > kUnprovenFlights * first_bytes_ + allowed_bytes_)
    return queue_.out.resize(waiting);
  sent_bytes_ += bytes;
}

bool DtlsEndpoint::Send(const uint8_t* data, size_t len) {
  if (state_ != State::kOpen || len == 0 || len > kMaxDatagram) return false;
  ERR_clear_error();
  const bool sent = SSL_write(ssl_, data, static_cast<int>(len)) == static_cast<int>(len);
  ERR_clear_error();
  return sent;
}

void DtlsEndpoint::Close() {
  ERR_clear_error();
  if (state_ == State::kOpen) SSL_shutdown(ssl_);
  ERR_clear_error();
  if (state_ != State::kFailed) state_ = State::kClosed;
}

void DtlsEndpoint::Shake() {
  ERR_clear_error();
  const size_t waiting = queue_.out.size();
  const int result = SSL_do_handshake(ssl_);
  if (result == 1) return Opened();
  CheckResult(result);
  if (state_ == State::kHandshaking) Limit(waiting, queue_.in_bytes > 0);
}

// Messages beyond kMaxReceived are lost, as the network loses them; SCTP sends them again.
void DtlsEndpoint::Drain() {
  uint8_t message[kMaxDatagram];
  int result = 0;
  do {
    ERR_clear_error();
    result = SSL_read(ssl_, message, sizeof message);
    if (result > 0 && config_.application_data && received_.size() < kMaxReceived) {
      received_.emplace_back(message, message + result);
    }
  } while (result > 0);
  CheckResult(result);
}

void DtlsEndpoint::CheckResult(int result) {
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
  if (SSL_export_keying_material(ssl_, material.data(), 2 * (key + salt), kExportLabel,
                                 sizeof kExportLabel - 1, nullptr, 0, 0) != 1) {
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

// Uses the best hash that the peer announced: one of its digests must be the
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
  auto* const verifier = static_cast<CertificateVerifier*>(SSL_get_app_data(ssl));
  const auto* self = static_cast<const DtlsEndpoint*>(verifier);
  const uint32_t factor = self->proven_ ? kBackoff : kUnprovenBackoff;
  return before_us == 0 ? self->config_.retransmit_us : std::min(factor * before_us, kLongestRetransmitUs);
}

namespace {

constexpr size_t kMaxQueued = 64;  // a flight has a handful

DatagramQueue* QueueOf(BIO* bio) { return static_cast<DatagramQueue*>(BIO_get_data(bio)); }

// One more than that is lost, as the network loses it; it is sent again.
int Write(BIO* bio, const char* data, int len) {
  BIO_clear_retry_flags(bio);
  DatagramQueue* const queue = QueueOf(bio);
  const auto* bytes = reinterpret_cast<const uint8_t*>(data);
  if (len > 0 && queue->out.size() < kMaxQueued) queue->out.emplace_back(bytes, bytes + len);
  return len;
}

// Bytes that do not fit into the reader's buffer are cut off, as recv() does.
int Read(BIO* bio, char* data, int len) {
  BIO_clear_retry_flags(bio);
  DatagramQueue* const queue = QueueOf(bio);
  if (!queue->in || len < 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const size_t bytes = std::min(queue->in_bytes, static_cast<size_t>(len));
  std::memcpy(data, queue->in, bytes);
  queue->in = nullptr;
  return static_cast<int>(bytes);
}

// Nothing waits inside and nothing is known of the path: only a flush succeeds.
long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int Create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* MakeMethod() {
  BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams in memory");
  if (!method) return nullptr;
  BIO_meth_set_write(method, Write);
  BIO_meth_set_read(method, Read);
  BIO_meth_set_ctrl(method, Control);
  BIO_meth_set_create(method, Create);
  return method;
}

}  // namespace

BIO* NewDatagramBio(DatagramQueue* queue) {
  static BIO_METHOD* const method = MakeMethod();  // for the life of the process
  BIO* const bio = method ? BIO_new(method) : nullptr;
  if (bio) BIO_set_data(bio, queue);
  return bio;
}

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
                    X509_gmtime_adj(X509_getm_notAfter(x), kValidDays * kDay) &&
                    X509_set_pubkey(x, key) == 1 && X509_sign(x, key, EVP_sha256()) > 0;
  return made ? std::move(certificate) : nullptr;
}

// Replaces the verification of a certificate chain. A rejection is reported to the peer by an alert.
int Verify(X509_STORE_CTX* store, void*) {
  auto* const ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const verifier = static_cast<CertificateVerifier*>(SSL_get_app_data(ssl));
  const X509* const certificate = X509_STORE_CTX_get0_cert(store);
  const bool accepted = certificate && verifier->Accept(certificate);
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
  // The buffer of written records has this size; OpenSSL's default is 16 kB for each association.
  SSL_CTX_set_max_send_fragment(context, DtlsEndpoint::kMaxDatagram);
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
