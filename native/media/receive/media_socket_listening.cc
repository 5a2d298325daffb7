// The listeners of a call: they begin and end its decoding, and follow the stream that its socket sends.
#include "media/receive/media_socket.h"

namespace parley {
namespace {

// Counters of a call grow over all of its listeners; the other figures are the latest ones.
HearingFigures Sum(HearingFigures latest, const HearingFigures& earlier) {
  latest.samples += earlier.samples;
  latest.concealed += earlier.concealed;
  latest.recovered += earlier.recovered;
  latest.stretched += earlier.stretched;
  latest.late_packets += earlier.late_packets;
  latest.lost_packets += earlier.lost_packets;
  latest.discarded += earlier.discarded;
  latest.restarts += earlier.restarts;
  latest.missed += earlier.missed;
  return latest;
}

}  // namespace

bool MediaSocket::OpenEar(std::shared_ptr<ByteRing> ring, size_t channels) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!BeginListening()) return false;
  const bool added = listening_->AddRing(std::move(ring), channels, time_->Now());
  FollowListeners();
  return added;
}

void MediaSocket::CloseEar(ByteRing* ring) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!listening_) return;
  listening_->RemoveRing(ring);
  FollowListeners();
}

bool MediaSocket::JoinEars(const std::shared_ptr<Ears>& ears) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!BeginListening()) return false;
  const bool joined = listening_->AddEars(ears, weak_from_this(), handle_);
  FollowListeners();
  return joined;
}

void MediaSocket::LeaveEars(const Ears* ears) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!listening_) return;
  listening_->RemoveEars(ears);
  FollowListeners();
}

void MediaSocket::OnListenerEnded() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (listening_) FollowListeners();
}

std::optional<HearingFigures> MediaSocket::Hearing() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!listening_) return last_hearing_;
  return Sum(listening_->Figures(), last_hearing_.value_or(HearingFigures()));
}

// Under mutex_, as what follows.
bool MediaSocket::BeginListening() {
  if (listening_) return true;
  if (closed_) return false;
  auto listening = std::make_shared<ListeningCall>(weak_from_this(), time_->Now());
  if (!listening_thread_->Add(listening)) return false;
  listening_ = std::move(listening);
  intake_.Listen(&listening_->inbox());
  return true;
}

// After a change of the listeners or of the stream.
void MediaSocket::FollowListeners() {
  if (!listening_) return;
  if (listening_->idle()) return StopListening();
  if (stream_) stream_->SetTap(listening_->tap());
}

void MediaSocket::StopListening() {
  if (!listening_) return;
  intake_.Listen(nullptr);
  if (stream_) stream_->SetTap(nullptr);
  listening_thread_->Remove(listening_.get());
  listening_->Close();
  last_hearing_ = Sum(listening_->Figures(), last_hearing_.value_or(HearingFigures()));
  listening_.reset();
}

}  // namespace parley
