// The listeners of a call: they begin and end its decoding, and follow the stream that its socket sends. Then
// the other call that its packets are relayed to.
#include "media/receive/media_socket.h"

#include <utility>

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

bool MediaSocket::OpenEar(std::shared_ptr<ByteRing> ring, EarSound sound) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!BeginListening()) return false;
  const bool added = listening_->AddRing(std::move(ring), sound, time_->Now());
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

bool MediaSocket::WatchTones(ToneWishes wishes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!listening_ && !wishes.any()) return !closed_;
  if (!BeginListening()) return false;
  listening_->WatchTones(std::move(wishes));
  FollowListeners();
  return true;
}

void MediaSocket::OnTone(const HeardTone& tone) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  const auto kind = tone.is_key ? InboundEvent::kDigit : InboundEvent::kTone;
  const bool put = queue_->Put({handle_, kind, tone.event, tone.duration_ns, tone.at_ns, tone.hz});
  if (!put && tone.is_key) digits_lost_++;
}

std::optional<HearingFigures> MediaSocket::Hearing() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!listening_) return last_hearing_;
  return Sum(listening_->Figures(), last_hearing_.value_or(HearingFigures()));
}

bool MediaSocket::RelayTo(std::shared_ptr<Relay> relay) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || relay_) return false;
  relay_ = std::move(relay);
  intake_.RelayTo(relay_.get());
  return true;
}

void MediaSocket::LeaveRelay(const Relay* relay) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (relay_.get() != relay) return;
  intake_.RelayTo(nullptr);
  relay_.reset();
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
