// One DTLS-SRTP association (RFC 5764): datagrams in, datagrams out, and at the
// end of the handshake the keys of both directions.
//
//   new ──Start──▶ handshaking ──▶ open ──far end says so──▶ closed
//                       └───────────┴──▶ failed
//
// It knows neither sockets nor timers: after every call its owner sends what
// TakeOutput gives and calls HandleTimeout once TimeoutMs is over. Whether a
// retransmission is due is for OpenSSL and its clock to say.
//
// Not for several threads at once.
#ifndef PARLEY_MEDIA_DTLS_DTLS_ENDPOINT_H_
#define PARLEY_MEDIA_DTLS_DTLS_ENDPOINT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "media/dtls/datagram_bio.h"
#include "media/dtls/dtls_identity.h"
#include "media/srtp_profile.h"

namespace parley {

// Of the peer's certificate: the hash's name as in SDP, hexadecimal pairs in capitals between colons.
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
  uint32_t retransmit_us = 0;  // the first retransmission; each further one after twice as long
};

class DtlsEndpoint : private CertificateJudge {
 public:
  enum class State { kNew, kHandshaking, kOpen, kClosed, kFailed };
  // Why it failed.
  enum class Failure { kNone, kFingerprint, kNoProfile, kProtocol };

  static constexpr size_t kMaxDatagram = 2048;
  static constexpr size_t kMtu = 1200;  // fits through IPv6 and its tunnels

  // Null when the crypto library has no memory.
  static std::unique_ptr<DtlsEndpoint> Create(std::shared_ptr<DtlsIdentity> identity, DtlsConfig config);
  ~DtlsEndpoint();
  DtlsEndpoint(const DtlsEndpoint&) = delete;
  DtlsEndpoint& operator=(const DtlsEndpoint&) = delete;

  void Start();
  // Anything: what is no DTLS, forged or too long is dropped.
  void Receive(const uint8_t* data, size_t len);
  // Until something has to be sent again; -1: nothing.
  int64_t TimeoutMs() const;
  void HandleTimeout();
  // Says goodbye where there is an association. Nothing is received afterwards.
  void Close();

  std::vector<std::vector<uint8_t>> TakeOutput() { return std::exchange(queue_.out, {}); }
  State state() const { return state_; }
  Failure failure() const { return failure_; }
  const std::string& reason() const { return reason_; }
  const DtlsSrtpKeys& keys() const { return keys_; }  // of an open one

 private:
  DtlsEndpoint(std::shared_ptr<DtlsIdentity> identity, DtlsConfig config)
      : identity_(std::move(identity)), config_(std::move(config)) {}

  bool Prepare();
  void Shake();
  void Drain();
  void Opened();
  bool ExportKeys(SrtpProfile profile);
  void Judge(int result);
  void Fail(Failure failure, std::string reason);
  bool Accept(const X509* certificate) override;
  bool Knows(const X509* certificate) const;
  static unsigned int NextTimeout(SSL* ssl, unsigned int before_us);

  const std::shared_ptr<DtlsIdentity> identity_;
  const DtlsConfig config_;
  DatagramQueue queue_;
  SSL* ssl_ = nullptr;
  State state_ = State::kNew;
  Failure failure_ = Failure::kNone;
  bool stranger_ = false;  // its certificate is not the one that was announced
  std::string reason_;
  DtlsSrtpKeys keys_;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DTLS_ENDPOINT_H_
