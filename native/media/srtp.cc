#include "media/srtp.h"

#include "media/big_endian.h"
#include "media/rtp.h"

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
  const size_t header = RtpHeaderLength(packet, len);
  const size_t trailer = cipher_->rtp_trailer();
  if (header == 0 || capacity < len + trailer || GetBig32(packet + 8) != ssrc_) return 0;
  const uint16_t sequence = GetBig16(packet + 2);
  uint64_t index = sequence;
  if (started_) {
    const auto step = static_cast<int16_t>(sequence - static_cast<uint16_t>(last_index_));
    if (step <= 0) return 0;
    index = last_index_ + static_cast<uint64_t>(step);
  }
  if (index > kLastRtpIndex) return 0;
  // Used up before the cipher runs: a packet that failed half-way has used it.
  last_index_ = index;
  started_ = true;
  return cipher_->SealRtp(packet, header, len, ssrc_, index) ? len + trailer : 0;
}

size_t SrtpSender::ProtectRtcp(uint8_t* packet, size_t len, size_t capacity) {
  const size_t trailer = cipher_->rtcp_trailer();
  if (len < kSrtcpHeaderBytes || packet[0] >> 6 != 2 || capacity < len + trailer) return 0;
  if (GetBig32(packet + 4) != ssrc_ || rtcp_index_ == kLastRtcpIndex) return 0;
  return cipher_->SealRtcp(packet, len, ssrc_, ++rtcp_index_) ? len + trailer : 0;
}

}  // namespace parley
