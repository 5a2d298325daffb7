// ICE of a call's socket: it answers the far end's checks and follows its nominations.
#include <algorithm>

#include "media/receive/media_socket.h"
#include "media/receive/udp_mux.h"

namespace parley {

MediaSocket::IceResult MediaSocket::UseIce(std::optional<IceCredentials> credentials, bool follow) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return IceResult::kClosed;
  follow_ = follow;
  if (!credentials) {
    ReleaseShared();
    ice_.reset();
    ice_state_ = IceState();
    follow_due_ = false;
    ForgetDtlsPeer();
    Aim();
    return IceResult::kDone;
  }
  const std::string fragment = credentials->local_fragment;
  if (udp_mux_) {
    if (!udp_mux_->calls().AddFragment(fragment, shared_from_this())) return IceResult::kFragmentTaken;
    if (std::find(fragments_.begin(), fragments_.end(), fragment) == fragments_.end()) {
      fragments_.push_back(fragment);
    }
  }
  if (!ice_) {
    ice_.emplace(std::move(*credentials));
  } else if (ice_->Restart(std::move(*credentials))) {
    ice_state_ = IceState();
    // An association that continues keeps its path until another one is nominated.
    if (!HasAssociation()) ForgetDtlsPeer();
  }
  // Fragments that no valid credentials have.
  const auto known = [this](const std::string& one) {
    if (ice_->Knows(one)) return true;
    udp_mux_->calls().RemoveFragment(one, this);
    return false;
  };
  fragments_.erase(std::stable_partition(fragments_.begin(), fragments_.end(), known), fragments_.end());
  return IceResult::kDone;
}

IceState MediaSocket::Ice() {
  std::lock_guard<std::mutex> lock(mutex_);
  ice_announced_ = false;
  if (!ice_) return IceState();
  ice_state_.last_check_ns = ice_->last_check_ns();
  ice_state_.has_path = ice_->nominated(1) != nullptr;
  return ice_state_;
}

void MediaSocket::LeavePath() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || !ice_ || !follow_) return;
  ice_->LeaveNominated();
  ice_state_ = IceState();
  dtls_nominated_ = false;
  follow_due_ = false;
  follow_from_ns_ = INT64_MIN;
  intake_.Learn(Address(), Address(), rtcp_mux_);
  Aim();
  AnnounceIce(time_->Now());
}

void MediaSocket::TakeCheck(const uint8_t* data, size_t len, bool rtcp_port) {
  StunMessage request;
  if (!ReadStun(data, len, &request)) return;
  const Path& from = *arriving_;
  const int64_t now_ns = time_->Now();
  const bool shared = udp_mux_ && !from.sink;
  if (shared && !udp_mux_->calls().MayClaim(from.remote, this, now_ns)) return udp_mux_->NoteContested();
  RefusalLimit& refusals = udp_mux_ ? udp_mux_->refusals() : refusals_;
  IceLite::Answer answer;
  ice_->Take(request, from, rtcp_port ? 2 : 1, refusals, now_ns, &answer);
  if (shared && answer.passed) udp_mux_->calls().Claim(from.remote, shared_from_this(), now_ns);
  if (answer.bytes > 0 && SendAlong(from, answer.data.data(), answer.bytes) && tapping_) {
    tap_->Sent(from.remote, rtcp_port, now_ns, answer.data.data(), answer.bytes, PacketTap::Wait::kForTurn);
  }
  if (answer.passed) NotePassed(answer, len, rtcp_port, now_ns);
}

void MediaSocket::NotePassed(const IceLite::Answer& answer, size_t len, bool rtcp_port, int64_t now_ns) {
  const Address& from = arriving_->remote;
  if (answer.forgotten.sink) answer.forgotten.sink->Close();
  else if (udp_mux_ && answer.forgotten.known() && !ice_->HasChecked(answer.forgotten.remote, nullptr)) {
    udp_mux_->calls().Release(answer.forgotten.remote, this);
  }
  if (!rtcp_port) NoteDtlsPeer(answer, from, len);
  bool is_news = false;
  if (answer.fresh && !rtcp_port && ice_state_.checked != from) {
    ice_state_.checked = from;
    is_news = true;
  }
  Address& nominated = ice_state_.nominated[rtcp_port ? 1 : 0];
  if (answer.confirmed && nominated != from) {
    nominated = from;
    is_news = true;
  }
  if (answer.nominated && follow_) Follow(now_ns);
  if (is_news) AnnounceIce(now_ns);
}

// A change of the path waits for the clock's turn and makes an event. The far end may nominate with each of
// its checks, so within kFollowNs only the last nomination counts.
void MediaSocket::Follow(int64_t now_ns) {
  follow_due_ = now_ns < follow_from_ns_;
  if (!follow_due_ && ice_ && ice_->nominated(1)) FollowNomination(now_ns);
}

// The credentials prove the nominated path, so that nothing is learned from packets any more.
void MediaSocket::FollowNomination(int64_t now_ns) {
  follow_due_ = false;
  follow_from_ns_ = now_ns + kFollowNs;
  const Address rtp = ice_->nominated(1)->remote;
  const Path* const reports = ice_->nominated(2);
  Latch::Rules rules;
  rules.announced_only = true;
  intake_.SetLatchRules(rules);
  intake_.Learn(rtp, reports ? reports->remote : Address(), rtcp_mux_);
  // The address may be the same by another path.
  Aim();
}

// One event waits for each call at most, whatever the number of the far end's checks. The reader of the event
// takes the state as it is then.
void MediaSocket::AnnounceIce(int64_t now_ns) {
  if (!ice_announced_) ice_announced_ = queue_->Put({handle_, InboundEvent::kIce, 0, 0, now_ns});
}

void MediaSocket::ReleaseShared() {
  if (!udp_mux_) return;
  for (const std::string& fragment : fragments_) udp_mux_->calls().RemoveFragment(fragment, this);
  fragments_.clear();
  if (!ice_) return;
  for (const Path& path : ice_->sources()) {
    if (path.sink) path.sink->Close();
    else udp_mux_->calls().Release(path.remote, this);
  }
}

void MediaSocket::LoseConnection(const PacketSink* sink) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || !ice_ || !ice_->Forget(sink)) return;
  ice_state_ = IceState();
  dtls_nominated_ = false;
  Aim();
  AnnounceIce(time_->Now());
}

}  // namespace parley
