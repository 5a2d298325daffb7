// DTLS 1.2 records as bytes (RFC 6347 section 4.1), and a check of those that arrive without protection.
//
// Anybody can write an unprotected record. Of these, a DTLS implementation may see only the parts of a
// handshake: an unprotected alert, or a record of another type, could end the handshake or the association.
#ifndef PARLEY_MEDIA_DTLS_DTLS_RECORD_H_
#define PARLEY_MEDIA_DTLS_DTLS_RECORD_H_

#include <cstddef>
#include <cstdint>

namespace parley {

inline constexpr size_t kDtlsRecordHeadBytes = 13;
inline constexpr uint8_t kDtlsMajorVersion = 0xfe;  // 1.0 and 1.2; the first record may state either

// The role of the end that sent a record.
enum class DtlsSender : uint8_t { kClient, kServer };

// Checks the datagrams of one far end until keys exist.
class HandshakeFilter {
 public:
  explicit HandshakeFilter(DtlsSender sender) : sender_(sender) {}

  struct Result {
    size_t bytes = 0;            // written to `out`; 0: nothing is left
    bool has_handshake = false;  // an unprotected handshake message is among them
    int alert = -1;              // description of the first unprotected fatal alert of the datagram; -1: none
  };

  // Copies the datagram to `out`, which has room for `len` bytes. Unprotected records that are no part of a
  // handshake are left out, and records of an unknown type or version. A record that is cut short ends the
  // datagram.
  //
  // The unprotected records get new sequence numbers. Otherwise a forged one with a high number would make
  // all that follow look like replays.
  Result Read(const uint8_t* data, size_t len, uint8_t* out);

 private:
  const DtlsSender sender_;
  uint64_t sequence_ = 0;  // of the next unprotected record
};

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DTLS_RECORD_H_
