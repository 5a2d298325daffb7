#include "media/srtp.h"

#include <cstring>

#include "media/rtp.h"
#include "media/time.h"

namespace parley {
namespace {

constexpr uint64_t kLastRtpIndex = (uint64_t{1} << 48) - 1;
constexpr uint32_t kLastRtcpIndex = 0x7fffffff;

}  // namespace

std::unique_ptr<SrtpSender> SrtpSender::Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                               const uint8_t* salt, size_t salt_len, uint32_t ssrc) {
  auto cipher = SrtpCipher::Create(profile, key, key_len, salt, salt_len);
  if (!cipher) return nullptr;
  return std::unique_ptr<SrtpSender>(new SrtpSender(std::move(cipher), ssrc));
}

size_t SrtpSender::ProtectRtp(uint8_t* packet, size_t len, size_t capacity) {
  return Protect(packet, len, capacity, false);
}

size_t SrtpSender::ProtectLateRtp(uint8_t* packet, size_t len, size_t capacity) {
  return Protect(packet, len, capacity, true);
}

size_t SrtpSender::Protect(uint8_t* packet, size_t len, size_t capacity, bool may_be_late) {
  const size_t header = RtpHeaderLength(packet, len);
  const size_t trailer = cipher_->rtp_trailer();
  if (header == 0 || capacity < len + trailer || GetBig32(packet + 8) != ssrc_) return 0;
  const uint16_t sequence = GetBig16(packet + 2);
  uint64_t index = sequence;
  if (used_.started()) {
    const auto step = static_cast<int16_t>(sequence - static_cast<uint16_t>(used_.highest()));
    if (step <= 0 && !may_be_late) return 0;
    if (step < 0 && used_.highest() < static_cast<uint64_t>(-int64_t{step})) return 0;
    index = used_.highest() + static_cast<uint64_t>(int64_t{step});
  }
  if (index > kLastRtpIndex || !used_.IsNew(index)) return 0;
  // Used up before the cipher runs: a packet that failed half-way has used it.
  used_.Add(index);
  return cipher_->SealRtp(packet, header, len, ssrc_, index) ? len + trailer : 0;
}

size_t SrtpSender::ProtectRtcp(uint8_t* packet, size_t len, size_t capacity) {
  const size_t trailer = cipher_->rtcp_trailer();
  if (len < kSrtcpHeaderBytes || packet[0] >> 6 != 2 || capacity < len + trailer) return 0;
  if (GetBig32(packet + 4) != ssrc_ || rtcp_index_ == kLastRtcpIndex) return 0;
  return cipher_->SealRtcp(packet, len, ssrc_, ++rtcp_index_) ? len + trailer : 0;
}

namespace {

constexpr uint64_t kRollOver = 1 << 16;
constexpr uint32_t kIndexMask = 0x7fffffff;

// A source that was silent for less than this cannot have lost half a roll-over.
constexpr int64_t kSilentNs = 5 * kNsPerSecond;
constexpr int64_t kBetweenTriesNs = 10 * kNsPerMs;  // forged packets buy no more work than this
constexpr uint64_t kLaterCounters = 8;              // three hours at 50 packets a second

// RFC 3711, 3.3.1: the counter that puts the sequence number nearest to the highest index.
uint64_t GuessIndex(uint64_t highest, uint16_t sequence) {
  const auto step = static_cast<int16_t>(sequence - static_cast<uint16_t>(highest));
  const int64_t index = static_cast<int64_t>(highest) + step;
  return index >= 0 ? static_cast<uint64_t>(index) : sequence;
}

}  // namespace

std::unique_ptr<SrtpReceiver> SrtpReceiver::Create(SrtpProfile profile, const uint8_t* key, size_t key_len,
                                                   const uint8_t* salt, size_t salt_len, size_t mki_bytes) {
  if (mki_bytes > kMaxMkiBytes) return nullptr;
  auto cipher = SrtpCipher::Create(profile, key, key_len, salt, salt_len);
  return cipher ? std::unique_ptr<SrtpReceiver>(new SrtpReceiver(std::move(cipher), mki_bytes)) : nullptr;
}

SrtpReceiver::SrtpReceiver(std::unique_ptr<SrtpCipher> cipher, size_t mki_bytes)
    : cipher_(std::move(cipher)), mki_bytes_(mki_bytes), whole_(mki_bytes == 0 ? 0 : kMaxPacket) {}

bool SrtpReceiver::WithoutMki(size_t tag_bytes, const uint8_t** packet, size_t* len) {
  if (mki_bytes_ == 0) return true;
  if (*len < mki_bytes_ + tag_bytes || *len > whole_.size()) return false;
  *len -= mki_bytes_;
  if (tag_bytes == 0) return true;
  const size_t tag_at = *len - tag_bytes;
  std::memcpy(whole_.data(), *packet, tag_at);
  std::memcpy(whole_.data() + tag_at, *packet + tag_at + mki_bytes_, tag_bytes);
  *packet = whole_.data();
  return true;
}

SrtpResult SrtpReceiver::OpenRtp(const uint8_t* packet, size_t len, int64_t now_ns, uint8_t* out,
                                 size_t* out_len) {
  if (!WithoutMki(cipher_->rtp_tag_behind_mki(), &packet, &len)) return SrtpResult::kMalformed;
  const size_t header = RtpHeaderLength(packet, len);
  if (header == 0 || len < header + cipher_->rtp_trailer()) return SrtpResult::kMalformed;
  const uint32_t ssrc = GetBig32(packet + 8);
  const uint16_t sequence = GetBig16(packet + 2);
  const Source* const source = Find(rtp_, ssrc);
  uint64_t index = source ? GuessIndex(source->window.highest(), sequence) : sequence;
  if (index > kLastRtpIndex) return SrtpResult::kReplayed;
  const bool fresh = !source || source->window.IsNew(index);
  if (!fresh || !cipher_->OpenRtp(packet, header, len, ssrc, index, out)) {
    if (!TryLaterCounters(packet, header, len, index, now_ns, source, out, &index)) {
      return fresh ? SrtpResult::kForged : SrtpResult::kReplayed;
    }
  }
  Note(rtp_, ssrc, index, now_ns);
  *out_len = len - cipher_->rtp_trailer();
  return SrtpResult::kOpened;
}

// Tries counters later than the guess: an earlier one could only be a replay.
bool SrtpReceiver::TryLaterCounters(const uint8_t* packet, size_t header, size_t len, uint64_t guess,
                                    int64_t now_ns, const Source* source, uint8_t* out, uint64_t* index) {
  if (source && now_ns - source->heard_ns < kSilentNs) return false;
  if (tried_later_ns_ != 0 && now_ns - tried_later_ns_ < kBetweenTriesNs) return false;
  tried_later_ns_ = now_ns;
  for (uint64_t later = 1; later <= kLaterCounters; later++) {
    const uint64_t candidate = guess + later * kRollOver;
    if (candidate > kLastRtpIndex) return false;
    if (source && !source->window.IsNew(candidate)) continue;
    if (!cipher_->OpenRtp(packet, header, len, GetBig32(packet + 8), candidate, out)) continue;
    *index = candidate;
    return true;
  }
  return false;
}

SrtpResult SrtpReceiver::OpenRtcp(const uint8_t* packet, size_t len, int64_t now_ns, uint8_t* out,
                                  size_t* out_len) {
  if (!WithoutMki(cipher_->rtcp_tag_behind_mki(), &packet, &len)) return SrtpResult::kMalformed;
  if (len < kSrtcpHeaderBytes + cipher_->rtcp_trailer() || packet[0] >> 6 != 2) return SrtpResult::kMalformed;
  const uint32_t ssrc = GetBig32(packet + 4);
  const uint32_t word = GetBig32(packet + cipher_->RtcpWordAt(len));
  const uint32_t index = word & kIndexMask;
  const Source* const source = Find(rtcp_, ssrc);
  if (source && !source->window.IsNew(index)) return SrtpResult::kReplayed;
  if (!cipher_->OpenRtcp(packet, len, ssrc, word, out)) return SrtpResult::kForged;
  Note(rtcp_, ssrc, index, now_ns);
  *out_len = len - cipher_->rtcp_trailer();
  return SrtpResult::kOpened;
}

SrtpReceiver::Source* SrtpReceiver::Find(Sources& sources, uint32_t ssrc) {
  for (Source& source : sources) {
    if (source.window.started() && source.ssrc == ssrc) return &source;
  }
  return nullptr;
}

// A free place, or that of the source unheard for longest.
SrtpReceiver::Source& SrtpReceiver::PlaceOf(Sources& sources, uint32_t ssrc) {
  Source* oldest = &sources[0];
  for (Source& source : sources) {
    if (!source.window.started()) {
      oldest = &source;
      break;
    }
    if (source.heard_ns < oldest->heard_ns) oldest = &source;
  }
  *oldest = Source{};
  oldest->ssrc = ssrc;
  return *oldest;
}

void SrtpReceiver::Note(Sources& sources, uint32_t ssrc, uint64_t index, int64_t now_ns) {
  Source* const known = Find(sources, ssrc);
  Source& source = known ? *known : PlaceOf(sources, ssrc);
  was_newest_ = !source.window.started() || index > source.window.highest();
  source.window.Add(index);
  source.heard_ns = now_ns;
}

}  // namespace parley
