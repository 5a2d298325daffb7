// Datagrams in memory, as OpenSSL reads and writes them.
//
// OpenSSL's own memory BIO is a stream: it would run the records of a flight
// together and lose where one datagram ends. Here each write is one datagram,
// and a read never goes beyond the one that is being taken in.
#ifndef PARLEY_MEDIA_DTLS_DATAGRAM_BIO_H_
#define PARLEY_MEDIA_DTLS_DATAGRAM_BIO_H_

#include <openssl/bio.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace parley {

struct DatagramQueue {
  // The one datagram that is being taken in; valid during that call only.
  const uint8_t* in = nullptr;
  size_t in_bytes = 0;
  std::vector<std::vector<uint8_t>> out;
};

// A BIO on the queue, which outlives it; null when OpenSSL has no memory.
BIO* NewDatagramBio(DatagramQueue* queue);

}  // namespace parley

#endif  // PARLEY_MEDIA_DTLS_DATAGRAM_BIO_H_
