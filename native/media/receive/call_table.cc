#include "media/receive/call_table.h"

#include <sys/random.h>

#include "media/random.h"

namespace parley {
namespace {

uint64_t Seed() {
  uint64_t seed = 0;
  // Without random numbers the table is still correct, only not hard to attack.
  if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) return 1;
  return seed;
}

}  // namespace

size_t CallTable::Hash::operator()(const Address& address) const {
  uint64_t words[2] = {};
  address.CopyTo(reinterpret_cast<uint8_t*>(words));
  const uint64_t first = Random(seed ^ words[0]).Next();
  return static_cast<size_t>(Random(first ^ words[1] ^ uint64_t{address.port()} << 40).Next());
}

CallTable::CallTable() : addresses_(0, Hash{Seed()}) {}

bool CallTable::AddFragment(const std::string& fragment, const std::shared_ptr<MediaSocket>& call) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto [place, added] = fragments_.try_emplace(fragment, Entry{call, call.get()});
  if (added || place->second.key == call.get()) return true;
  if (!place->second.call.expired()) return false;
  place->second = Entry{call, call.get()};
  return true;
}

void CallTable::RemoveFragment(const std::string& fragment, const MediaSocket* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto place = fragments_.find(fragment);
  if (place != fragments_.end() && place->second.key == call) fragments_.erase(place);
}

std::shared_ptr<MediaSocket> CallTable::ByFragment(std::string_view fragment) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto place = fragments_.find(fragment);
  return place == fragments_.end() ? nullptr : place->second.call.lock();
}

bool CallTable::MayClaim(const Address& from, const MediaSocket* call, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto place = addresses_.find(from);
  if (place == addresses_.end() || place->second.key == call || place->second.call.expired()) return true;
  return now_ns - place->second.checked_ns >= kOwnedNs;
}

void CallTable::Claim(const Address& from, const std::shared_ptr<MediaSocket>& call, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  addresses_.insert_or_assign(from, Owner{{call, call.get()}, now_ns});
}

void CallTable::Release(const Address& from, const MediaSocket* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto place = addresses_.find(from);
  if (place != addresses_.end() && place->second.key == call) addresses_.erase(place);
}

std::shared_ptr<MediaSocket> CallTable::ByAddress(const Address& from) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto place = addresses_.find(from);
  return place == addresses_.end() ? nullptr : place->second.call.lock();
}

CallTable::Counts CallTable::Count() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {fragments_.size(), addresses_.size()};
}

}  // namespace parley
