#include "media/ice/ice_lite.h"

#include <algorithm>
#include <cstring>

#include "media/rtp.h"
#include "media/time.h"

namespace parley {
namespace {

constexpr int64_t kRenominationNs = 2 * kNsPerSecond;
constexpr int kUnknownAttribute = 420;

bool IsUnderstood(uint16_t type) {
  switch (type) {
    case stun::kUsername:
    case stun::kIntegrity:
    case stun::kErrorCode:
    case stun::kUnknownAttributes:
    case stun::kRealm:
    case stun::kNonce:
    case stun::kIntegritySha256:
    case stun::kXorMappedAddress:
    case stun::kPriority:
    case stun::kUseCandidate:
      return true;
    default:
      return type >= stun::kFirstOptional;
  }
}

int64_t PriorityOf(const StunMessage& request) {
  const StunAttribute* const priority = request.Find(stun::kPriority);
  return priority && priority->bytes == 4 ? int64_t{GetBig32(priority->value)} : 0;
}

void AddUnknownAttributes(const StunMessage& request, StunWriter* writer) {
  std::array<uint8_t, 2 * kMaxStunAttributes> types;
  size_t bytes = 0;
  for (size_t n = 0; n < request.count; n++) {
    if (IsUnderstood(request.attributes[n].type)) continue;
    PutBig16(types.data() + bytes, request.attributes[n].type);
    bytes += 2;
  }
  writer->Add(stun::kUnknownAttributes, types.data(), bytes);
}

void Finish(StunWriter& writer, const HmacSha1* key, IceLite::Answer* answer) {
  if (!writer.Finish(key)) return;
  std::memcpy(answer->data.data(), writer.data(), writer.size());
  answer->bytes = writer.size();
}

}  // namespace

bool RefusalLimit::Take(int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (since_ns_ == INT64_MIN || now_ns - since_ns_ >= kNsPerSecond) {
    since_ns_ = now_ns;
    taken_ = 0;
  }
  if (taken_ >= kMost) return false;
  taken_++;
  return true;
}

IceLite::Secret::Secret(IceCredentials of) : credentials(std::move(of)) {
  const std::string& password = credentials.local_password;
  key.Init(reinterpret_cast<const uint8_t*>(password.data()), password.size());
}

bool IceLite::Restart(IceCredentials credentials) {
  if (credentials == present_.credentials) return false;
  const bool same_local = credentials.SameLocal(present_.credentials);
  if (!same_local) {
    // If the answer to a restart is lost, the far end goes on with those that it has.
    if (present_used_ || !previous_) previous_ = present_;
    present_used_ = false;
    // The first path that the new checks nominate takes over, whatever its priority.
    for (std::optional<Nominated>& held : nominated_) {
      if (held) held->priority = -1;
    }
  }
  present_ = Secret(std::move(credentials));
  return !same_local;
}

void IceLite::Take(const StunMessage& request, const Path& from, int component, RefusalLimit& refusals,
                   int64_t now_ns, Answer* answer) {
  if (request.kind != StunClass::kRequest || request.method != kStunBinding) return;
  Refusal refusal{};
  const Secret* const secret = Authenticate(request, &refusal);
  if (!secret) {
    if (refusals.Take(now_ns)) Refuse(request, refusal, answer);
    return;
  }
  StunWriter writer(StunClass::kSuccess, kStunBinding, request.transaction);
  writer.AddMappedAddress(from.remote);
  Finish(writer, &secret->key, answer);
  answer->passed = true;
  last_check_ns_ = now_ns;
  Note(from, answer);
  answer->fresh = secret == &present_;
  present_used_ |= answer->fresh;
  if (answer->fresh) Nominate(request, from, component, now_ns, answer);
}

// In the order of RFC 8489 section 9.1.3. Returns the credentials that match, or null with the refusal.
const IceLite::Secret* IceLite::Authenticate(const StunMessage& request, Refusal* refusal) const {
  *refusal = {400, "Bad Request", nullptr};
  if (!request.Find(stun::kUsername) || !request.seal) return nullptr;
  *refusal = {401, "Unauthenticated", nullptr};
  // RFC 8445 section 7.3: our fragment, a colon, and theirs, which may be unknown yet.
  std::string_view fragment;
  if (!LocalFragment(request, &fragment)) return nullptr;
  const Secret* const known = Find(fragment);
  if (!known || !IsSealedWith(request, known->key)) return nullptr;
  for (size_t n = 0; n < request.count; n++) {
    if (IsUnderstood(request.attributes[n].type)) continue;
    *refusal = {kUnknownAttribute, "Unknown Attribute", &known->key};
    return nullptr;
  }
  // An ICE-lite agent is always controlled, so a controlled peer must switch roles.
  if (!request.Find(stun::kIceControlled)) return known;
  *refusal = {487, "Role Conflict", &known->key};
  return nullptr;
}

void IceLite::Refuse(const StunMessage& request, const Refusal& refusal, Answer* answer) const {
  StunWriter writer(StunClass::kError, kStunBinding, request.transaction);
  writer.AddError(refusal.code, refusal.reason);
  if (refusal.code == kUnknownAttribute) AddUnknownAttributes(request, &writer);
  Finish(writer, refusal.key, answer);
}

// The latest nomination counts, so that the far end may move. Older far ends ask for every pair that works
// (RFC 5245 section 8.1.1.2): among those that are nominated at the same time, the highest priority counts.
void IceLite::Nominate(const StunMessage& request, const Path& from, int component, int64_t now_ns,
                       Answer* answer) {
  if (!request.Find(stun::kUseCandidate) || component < 1 || component > kComponents) return;
  std::optional<Nominated>& held = nominated_[static_cast<size_t>(component - 1)];
  const int64_t priority = PriorityOf(request);
  const bool same = held && held->path == from;
  const bool rules = !held || same || priority > held->priority;
  if (!rules && now_ns - held->at_ns < kRenominationNs) return;
  held = Nominated{from, priority, now_ns};
  answer->confirmed = true;
  answer->nominated = !same;
}

void IceLite::Note(const Path& from, Answer* answer) {
  const auto known = std::find(sources_.begin(), sources_.end(), from);
  if (known != sources_.end()) return sources_.splice(sources_.end(), sources_, known);
  const auto oldest = from.sink ? OldestConnection() : sources_.end();
  sources_.push_back(from);
  if (oldest == sources_.end() && sources_.size() <= kMaxSources) return;
  const auto left_out = oldest == sources_.end() ? sources_.begin() : oldest;
  answer->forgotten = *left_out;
  sources_.erase(left_out);
}

// The one that makes way for another connection; the end while there is room. One in use stays.
std::list<Path>::iterator IceLite::OldestConnection() {
  auto oldest = sources_.end();
  size_t connections = 0;
  for (auto path = sources_.begin(); path != sources_.end(); ++path) {
    if (!path->sink) continue;
    connections++;
    const Path* const in_use = nominated(1);
    if (oldest == sources_.end() && !(in_use && *in_use == *path)) oldest = path;
  }
  return connections < kMaxConnections ? sources_.end() : oldest;
}

const IceLite::Secret* IceLite::Find(std::string_view local_fragment) const {
  if (present_.credentials.local_fragment == local_fragment) return &present_;
  return previous_ && previous_->credentials.local_fragment == local_fragment ? &*previous_ : nullptr;
}

const Path* IceLite::PathTo(const Address& remote, const PacketSink* sink) const {
  for (auto path = sources_.rbegin(); path != sources_.rend(); ++path) {
    if (path->remote == remote && path->sink.get() == sink) return &*path;
  }
  return nullptr;
}

const Path* IceLite::PathTo(const Address& remote) const {
  if (const Path* const path = PathTo(remote, nullptr)) return path;
  for (auto path = sources_.rbegin(); path != sources_.rend(); ++path) {
    if (path->remote == remote) return &*path;
  }
  return nullptr;
}

const Path* IceLite::nominated(int component) const {
  const std::optional<Nominated>& held = nominated_[static_cast<size_t>(component - 1)];
  return held ? &held->path : nullptr;
}

bool IceLite::Forget(const PacketSink* sink) {
  sources_.remove_if([sink](const Path& path) { return path.sink.get() == sink; });
  bool was_nominated = false;
  for (std::optional<Nominated>& held : nominated_) {
    if (!held || held->path.sink.get() != sink) continue;
    held.reset();
    was_nominated = true;
  }
  return was_nominated;
}

}  // namespace parley
