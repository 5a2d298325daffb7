// SRTP and SRTCP (RFC 3711, RFC 6188, RFC 7714): the sending side, then the receiving side.
//
// An index is the whole secret of a counter cipher: the same one twice gives
// the plain text away. So a sender accepts only packets whose index is greater
// than the last one's, or that it knows to be unused (ProtectLateRtp), and there
// must be one sender per key, ever.
#ifndef PARLEY_MEDIA_SRTP_H_
#define PARLEY_MEDIA_SRTP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/replay_window.h"
#include "media/srtp_cipher.h"

namespace parley {

// SRTP and SRTCP, the receiving side (RFC 3711, RFC 6188, RFC 7714).
//
// A packet changes nothing here before its tag was found genuine: no guess of a
// roll-over counter, no replay window, no new source. The counter itself is not
// in the packet; it is guessed from the sequence number (RFC 3711, 3.3.1). That
// guess fails after 32,768 packets that never came (eleven minutes of a lost
// network), so a source that was silent for a while is also tried with the
// counters that follow, and so is a new one, whose first packets may be lost.
enum class SrtpResult : uint8_t {
  kOpened,
  kMalformed,  // too short, or no RTP at all
  kReplayed,   // seen before, or too old to tell
  kForged,     // the tag does not fit
};

// Not thread safe. Nothing is allocated after Create().
class SrtpReceiver {
 public:
  // Sources that one call may have over time; the one unheard for longest makes place.
  static constexpr size_t kSources = 16;
  static constexpr size_t kMaxMkiBytes = 128;  // RFC 4568, 6.1
  static constexpr size_t kMaxPacket = 2048;   // with an index

  // Null when a length is wrong or the crypto library refuses.
  // `mki_bytes`: length of the master key index in each packet. Its value is not
  // looked at: there is one master key, and the tag proves it.
  static std::unique_ptr<SrtpReceiver> Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                              const uint8_t* salt, size_t salt_len, size_t mki_bytes = 0);

  // Opens `packet` into `out`, which has room for `len` bytes.
  SrtpResult OpenRtp(const uint8_t* packet, size_t len, int64_t now_ns, uint8_t* out, size_t* out_len);
  SrtpResult OpenRtcp(const uint8_t* packet, size_t len, int64_t now_ns, uint8_t* out, size_t* out_len);

  // A new description of the call that repeats the keys must go on with this
  // receiver, or the counters would start again.
  const SrtpCipher& cipher() const { return *cipher_; }
  size_t mki_bytes() const { return mki_bytes_; }

  // True if the last packet opened was newer than all before it.
  bool was_newest() const { return was_newest_; }

 private:
  struct Source {
    uint32_t ssrc = 0;
    int64_t heard_ns = 0;
    ReplayWindow window;
  };
  using Sources = std::array<Source, kSources>;

  SrtpReceiver(std::unique_ptr<SrtpCipher> cipher, size_t mki_bytes);

  // Takes the index out of the packet. False if the packet is too short for it.
  bool WithoutMki(size_t tag_bytes, const uint8_t** packet, size_t* len);

  static Source* Find(Sources& sources, uint32_t ssrc);
  static Source& PlaceOf(Sources& sources, uint32_t ssrc);
  void Note(Sources& sources, uint32_t ssrc, uint64_t index, int64_t now_ns);
  bool TryLaterCounters(const uint8_t* packet, size_t header, size_t len, uint64_t guess, int64_t now_ns,
                        const Source* source, uint8_t* out, uint64_t* index);

  const std::unique_ptr<SrtpCipher> cipher_;
  const size_t mki_bytes_;
  std::vector<uint8_t> whole_;  // a packet without its index
  Sources rtp_, rtcp_;
  int64_t tried_later_ns_ = 0;
  bool was_newest_ = false;
};

// Not thread safe: one thread owns a sender at a time. Nothing is allocated
// after Create().
class SrtpSender {
 public:
  static constexpr size_t kMaxRtpTrailer = 16;   // bytes a packet may grow by: the GCM tag
  static constexpr size_t kMaxRtcpTrailer = 20;  // the GCM tag and the E|index word

  // Null when a length is wrong or the crypto library refuses.
  static std::unique_ptr<SrtpSender> Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                            const uint8_t* salt, size_t salt_len, uint32_t ssrc);

  // Encrypts in place and appends the tag. Returns the new length, or 0 and
  // leaves the packet as it was: malformed, foreign SSRC, no room for the tag,
  // or an index that is not greater than the last one. The roll-over counter
  // starts at 0 and grows when the sequence number wraps.
  size_t ProtectRtp(uint8_t* packet, size_t len, size_t capacity);
  // For a packet that others with greater indexes may have overtaken: its index may be less than the last
  // one's by up to 127, if none had it.
  size_t ProtectLateRtp(uint8_t* packet, size_t len, size_t capacity);

  // As above, for a compound RTCP packet; its index is the sender's own, from 1.
  size_t ProtectRtcp(uint8_t* packet, size_t len, size_t capacity);

  const SrtpCipher& cipher() const { return *cipher_; }
  // The newest packet's.
  uint32_t rollover_counter() const { return static_cast<uint32_t>(used_.highest() >> 16); }
  uint32_t rtcp_index() const { return rtcp_index_; }  // the last one used; 0 before the first

 private:
  SrtpSender(std::unique_ptr<SrtpCipher> cipher, uint32_t ssrc) : cipher_(std::move(cipher)), ssrc_(ssrc) {}

  size_t Protect(uint8_t* packet, size_t len, size_t capacity, bool may_be_late);

  const std::unique_ptr<SrtpCipher> cipher_;
  const uint32_t ssrc_;
  ReplayWindow used_;  // indexes: ROC << 16 | sequence
  uint32_t rtcp_index_ = 0;
};

}  // namespace parley

#endif  // PARLEY_MEDIA_SRTP_H_
