// DTLS of a call's socket with ICE: datagrams pass between the association and the checked addresses without
// JavaScript.
#include "media/receive/media_socket.h"

namespace parley {

void MediaSocket::UseDtls(std::shared_ptr<DtlsAssociation> association, const Address& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  if (dtls_ && dtls_ != association) dtls_->Use(nullptr);
  dtls_ = std::move(association);
  if (!dtls_) return;
  dtls_->Use(std::shared_ptr<DtlsTransport>(shared_from_this(), this));
  if (dtls_to_.known()) return dtls_->Start();
  dtls_to_ = to;
}

void MediaSocket::SendDtls(const uint8_t* data, size_t len) {
  std::lock_guard<std::mutex> lock(mutex_);
  SendOne(data, len, dtls_to_, false);
}

// A check of RTP's component has passed.
void MediaSocket::NoteDtlsPeer(const IceLite::Answer& answer, const Address& from, size_t len) {
  if (!answer.fresh || (dtls_nominated_ && !answer.confirmed)) return;
  // Only the holder of our password can send a check, but it can forge the source.
  if (dtls_ && dtls_to_ == from) dtls_->Credit(len);
  dtls_to_ = from;
  dtls_nominated_ = dtls_nominated_ || answer.confirmed;
  if (dtls_) dtls_->Start();
}

void MediaSocket::ForgetDtlsPeer() {
  dtls_to_ = Address();
  dtls_nominated_ = false;
}

}  // namespace parley
