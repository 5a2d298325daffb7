// One DTLS-SRTP association (RFC 5764): datagrams in, datagrams out, and at the
// end of the handshake the keys of both directions. Application data is the SCTP
// of data channels (RFC 8261).
//
//   new ──Start──▶ handshaking ──▶ open ──far end says so──▶ closed
//                       └───────────┴──▶ failed
//
// It knows neither sockets nor timers: after every call its owner sends what
// TakeOutput gives and calls HandleTimeout once TimeoutMs is over. OpenSSL decides
// by its own clock if a retransmission is due.
//
// Anybody can name or forge the address of a third party. Until the far end has
// signed our random value, the endpoint sends at most kUnprovenFlights times the
// bytes of its first flight, and kUnprovenFlights times the bytes that the owner
// credits (RFC 9000, 8.1, has the same factor). The first answer to a ClientHello
// renews the allowance once: a server may ask for a cookie.
//
// One thread at a time may use it.
#ifndef PARLEY_MEDIA_DTLS_DTLS_ENDPOINT_H_
#define PARLEY_MEDIA_DTLS_DTLS_ENDPOINT_H_

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "media/srtp_cipher.h"

namespace parley {

// Our identity in DTLS: a certificate made anew with each process, and
// the rules of every handshake under it. It vouches for nothing by itself; the
// peer knows it by its fingerprint, which the signalling carries (RFC 8122).
//
// Immutable once made; endpoints on any thread share it.

// Says whether a peer's certificate is the one that was announced. Each SSL of
// the identity's context carries its verifier as application data.
class CertificateVerifier {
 public:
  virtual bool Accept(const X509* certificate) = 0;

 protected:
  ~CertificateVerifier() = default;
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

// Text of the first error in OpenSSL's error queue; clears the queue.
std::string TakeOpensslError();

// Datagrams in memory, as OpenSSL reads and writes them.
//
// OpenSSL's own memory BIO is a stream: it would run the records of a flight
// together and lose where one datagram ends. Here each write is one datagram,
// and a read never goes beyond the one that is being taken in.
struct DatagramQueue {
  // The one datagram that is being taken in; valid during that call only.
  const uint8_t* in = nullptr;
  size_t in_bytes = 0;
  std::vector<std::vector<uint8_t>> out;
};

// A BIO on the queue, which outlives it; null when OpenSSL has no memory.
BIO* NewDatagramBio(DatagramQueue* queue);

// The peer certificate's fingerprint: the hash's name as in SDP, and pairs of capital hexadecimal digits
// between colons.
struct DtlsFingerprint {
  std::string hash;
  std::string digest;
};

// Keys and salts have room for the longest; the profile says how much of it counts.
struct DtlsSrtpKeys {
  struct Way {
    std::array<uint8_t, kMaxSrtpKeyBytes> key{};
    std::array<uint8_t, kMaxSrtpSaltBytes> salt{};
  };
  SrtpProfile profile = SrtpProfile::kAesCm128HmacSha1_80;
  Way send, receive;
  ~DtlsSrtpKeys();
};

struct DtlsConfig {
  bool active = false;  // it connects: the client of the handshake
  std::vector<DtlsFingerprint> fingerprints;
  uint32_t retransmit_us = 0;     // the first retransmission; each further one after twice as long
  bool application_data = false;  // false: application data of the far end is dropped
};

class DtlsEndpoint : private CertificateVerifier {
 public:
  enum class State { kNew, kHandshaking, kOpen, kClosed, kFailed };
  // Why it failed.
  enum class Failure { kNone, kFingerprint, kNoProfile, kProtocol };

  static constexpr size_t kMaxDatagram = 2048;
  static constexpr size_t kMtu = 1200;        // fits through IPv6 and its tunnels
  static constexpr size_t kMaxReceived = 64;  // messages of application data between two TakeReceived
  static constexpr size_t kUnprovenFlights = 3;

  // Null when the crypto library has no memory.
  static std::unique_ptr<DtlsEndpoint> Create(std::shared_ptr<DtlsIdentity> identity, DtlsConfig config);
  ~DtlsEndpoint();
  DtlsEndpoint(const DtlsEndpoint&) = delete;
  DtlsEndpoint& operator=(const DtlsEndpoint&) = delete;

  void Start();
  // Anything: what is no DTLS, forged or too long is dropped.
  void Receive(const uint8_t* data, size_t len);
  // Milliseconds until a retransmission is due; -1: none.
  int64_t TimeoutMs() const;
  void HandleTimeout();
  // So many bytes came from there outside of the handshake, by ICE checks.
  void Credit(size_t bytes) { allowed_bytes_ += kUnprovenFlights * bytes; }
  // One message of application data, at most kMaxDatagram bytes. False unless open, or where OpenSSL refuses.
  bool Send(const uint8_t* data, size_t len);
  // Says goodbye where there is an association. Nothing is received afterwards.
  void Close();

  std::vector<std::vector<uint8_t>> TakeOutput() { return std::exchange(queue_.out, {}); }
  // Messages of application data since the last call, in order.
  std::vector<std::vector<uint8_t>> TakeReceived() { return std::exchange(received_, {}); }
  State state() const { return state_; }
  Failure failure() const { return failure_; }
  const std::string& reason() const { return reason_; }
  const DtlsSrtpKeys& keys() const { return keys_; }  // only once open

 private:
  DtlsEndpoint(std::shared_ptr<DtlsIdentity> identity, DtlsConfig config)
      : identity_(std::move(identity)), config_(std::move(config)) {}

  bool Prepare();
  void Shake();
  void Limit(size_t waiting, bool is_answer);
  void Drain();
  void Opened();
  bool ExportKeys(SrtpProfile profile);
  void CheckResult(int result);
  void Fail(Failure failure, std::string reason);
  bool Accept(const X509* certificate) override;
  bool Knows(const X509* certificate) const;
  static unsigned int NextTimeout(SSL* ssl, unsigned int before_us);

  const std::shared_ptr<DtlsIdentity> identity_;
  const DtlsConfig config_;
  DatagramQueue queue_;
  std::vector<std::vector<uint8_t>> received_;
  SSL* ssl_ = nullptr;
  State state_ = State::kNew;
  Failure failure_ = Failure::kNone;
  bool proven_ = false;        // OpenSSL has protected a record: the far end has signed our random value
  bool has_answered_ = false;  // the far end has answered our ClientHello
  size_t first_bytes_ = 0;     // of the first flight; 0: nothing was sent
  size_t sent_bytes_ = 0;      // before it is proven
  size_t allowed_bytes_ = 0;   // of credits
  bool stranger_ = false;      // its certificate is not the one that was announced
  std::string reason_;
  DtlsSrtpKeys keys_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DTLS_ENDPOINT_H_
