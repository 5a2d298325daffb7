// Keeps the most recently used voices, by the hash of their recording or by their name, and works on the
// next.
// For the engine's thread alone.
#ifndef PARLEY_RUNTIME_VOICE_STORE_H_
#define PARLEY_RUNTIME_VOICE_STORE_H_

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/frame_model.h"

namespace parley::runtime {

// The making of a voice, in bounded parts between the frames of live streams.
class VoiceWork {
 public:
  virtual ~VoiceWork() = default;

  virtual size_t bytes() const = 0;  // upper bound of the model's memory, during the work and for the voice
  // Does the next part. Returns the voice after the last one, null before. A problem: the recording cannot be
  // used.
  virtual Result<std::shared_ptr<Voice>> Advance() = 0;
};

// A stream keeps its voice alive after its eviction.
class VoiceStore {
 public:
  // With 0 nothing is kept.
  explicit VoiceStore(size_t max_voices) : max_voices_(max_voices) {}

  // Finds a voice and makes it the most recently used one. Null if it is not kept.
  std::shared_ptr<Voice> Find(const std::string& hash);
  // Replaces a voice of the same hash, and evicts the least recently used voice if there are too many. Throws
  // std::bad_alloc; the store then has no voice of this hash that it did not have before.
  void Keep(const std::string& hash, std::shared_ptr<Voice> voice);
  using Begin = std::function<std::unique_ptr<VoiceWork>()>;
  // Does the next part of the work at hand, which `begin` makes for this hash if there is none, and keeps
  // what was made. Null: it is not ready, call again. Throws what the work on this hash throws.
  Result<std::shared_ptr<Voice>> Make(const std::string& hash, const Begin& begin);
  bool works() const { return work_ != nullptr; }
  void DropWork() { work_.reset(); }

  // Evicts unused voices, least recently used first, until `bytes` are free or none is left. Returns the
  // number of bytes that it freed.
  size_t MakeRoom(size_t bytes);
  void Clear();

  size_t size() const { return voices_.size(); }
  // Voices that are kept, evicted ones that are still in use, and the work at hand.
  size_t Bytes() const;

 private:
  using Entry = std::pair<std::string, std::shared_ptr<Voice>>;

  void EvictLast();

  const size_t max_voices_;
  std::list<Entry> voices_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
  std::vector<std::weak_ptr<Voice>> outlived_;
  std::unique_ptr<VoiceWork> work_;
  std::string work_hash_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_VOICE_STORE_H_
