// Keeps the most recently used cloned voices by the hash of their recording. A stream keeps its voice alive
// after its eviction. For the engine's thread alone.
#ifndef PARLEY_RUNTIME_VOICE_STORE_H_
#define PARLEY_RUNTIME_VOICE_STORE_H_

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/speech/speech_model.h"

namespace parley::model {
class CodecState;
}

namespace parley::runtime {

// Data computed once for a voice and shared by its streams.
struct Voice {
  std::shared_ptr<const model::VoicePrompt> prompt;
  std::shared_ptr<const model::CodecState> codec;  // after the recording's codes; null: there are none
  // The first rows of every prompt that begins alike, by what else they depend on: the language.
  std::map<std::string, std::shared_ptr<const model::PromptPrefix>> prefixes;
  size_t bytes = 0;  // all of the above; code that adds something also adds its size
};

class VoiceStore {
 public:
  // With 0 nothing is kept.
  explicit VoiceStore(size_t max_voices) : max_voices_(max_voices) {}

  // Finds a voice and makes it the most recently used one. Null if it is not kept.
  std::shared_ptr<Voice> Find(const std::string& hash);
  // Replaces a voice of the same hash, and evicts the least recently used voice if there are too many.
  void Keep(const std::string& hash, std::shared_ptr<Voice> voice);
  // Evicts unused voices, least recently used first, until `bytes` are free or none is left. Returns the
  // bytes that are free.
  size_t MakeRoom(size_t bytes);
  void Clear();

  size_t size() const { return voices_.size(); }
  size_t Bytes() const;  // voices that are kept, and evicted ones that are still in use

 private:
  using Entry = std::pair<std::string, std::shared_ptr<Voice>>;

  const size_t max_voices_;
  std::list<Entry> voices_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
  std::vector<std::weak_ptr<Voice>> outlived_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_VOICE_STORE_H_
