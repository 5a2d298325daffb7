// A call that is a member of a mixer: its packets go there, and the stream that its socket sends takes the
// frames that the mixer encodes.
#include "media/receive/media_socket.h"

namespace parley {

bool MediaSocket::JoinMixer(std::shared_ptr<JoinedLeg> leg) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || leg_) return false;
  leg_ = std::move(leg);
  intake_.Join(&leg_->inbox());
  FollowMixer();
  return true;
}

void MediaSocket::LeaveMixer(const JoinedLeg* leg) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (leg_.get() == leg) StopJoining();
}

// Under mutex_, as what follows. After a change of the stream.
void MediaSocket::FollowMixer() {
  if (!leg_) return;
  auto sound = leg_->Follow(stream_);
  if (stream_) stream_->SetJoined(std::move(sound));
}

void MediaSocket::StopJoining() {
  if (!leg_) return;
  intake_.Join(nullptr);
  if (stream_) stream_->SetJoined(nullptr);
  leg_->Follow(nullptr);
  leg_.reset();
}

}  // namespace parley
