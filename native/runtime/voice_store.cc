#include "runtime/voice_store.h"

#include <algorithm>
#include <utility>

namespace parley::runtime {

std::shared_ptr<Voice> VoiceStore::Find(const std::string& hash) {
  const auto place = places_.find(hash);
  if (place == places_.end()) return nullptr;
  voices_.splice(voices_.begin(), voices_, place->second);
  return place->second->second;
}

// The steps that may throw come before those that change the list and the places together.
void VoiceStore::Keep(const std::string& hash, std::shared_ptr<Voice> voice) {
  if (max_voices_ == 0) return;
  if (Find(hash) != nullptr) {
    voices_.front().second = std::move(voice);
    return;
  }
  if (voices_.size() >= max_voices_) EvictLast();
  std::list<Entry> one;
  one.emplace_front(hash, std::move(voice));
  places_.emplace(hash, one.begin());
  voices_.splice(voices_.begin(), one);
}

void VoiceStore::EvictLast() {
  outlived_.erase(
      std::remove_if(outlived_.begin(), outlived_.end(), [](const auto& one) { return one.expired(); }),
      outlived_.end());
  outlived_.push_back(voices_.back().second);
  places_.erase(voices_.back().first);
  voices_.pop_back();
}

// One recording at a time, and each to its end, so that none is begun twice. Work that has ended is dropped
// before its voice is kept, because the store may have no memory for one more.
Result<std::shared_ptr<Voice>> VoiceStore::Make(const std::string& hash, const Begin& begin) {
  if (work_ == nullptr) {
    work_hash_ = hash;
    work_ = begin();
  }
  const bool own = work_hash_ == hash;
  Result<std::shared_ptr<Voice>> made = nullptr;
  try {
    made = work_->Advance();
    if (made && *made == nullptr) return made;
    work_.reset();
    if (made) Keep(work_hash_, *made);
  } catch (const std::exception&) {
    work_.reset();
    if (own) throw;
    return nullptr;
  }
  if (!own) return nullptr;
  return made;
}

size_t VoiceStore::MakeRoom(size_t bytes) {
  size_t freed = 0;
  for (auto entry = voices_.end(); entry != voices_.begin() && freed < bytes;) {
    --entry;
    if (entry->second.use_count() > 1) continue;
    freed += entry->second->bytes;
    places_.erase(entry->first);
    entry = voices_.erase(entry);
  }
  return freed;
}

void VoiceStore::Clear() {
  places_.clear();
  voices_.clear();
}

size_t VoiceStore::Bytes() const {
  size_t bytes = work_ == nullptr ? 0 : work_->bytes();
  for (const Entry& entry : voices_) bytes += entry.second->bytes;
  for (const auto& one : outlived_) {
    if (const auto voice = one.lock()) bytes += voice->bytes;
  }
  return bytes;
}

}  // namespace parley::runtime
