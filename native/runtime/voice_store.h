// Voices by example that are ready to speak, by the hash of what they were made
// of. So many are kept, the last used ones; a voice that is spoken with outlives
// its place here. For the engine's thread alone.
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
  // 0: nothing is kept.
  explicit VoiceStore(size_t max_voices) : max_voices_(max_voices) {}

  // Null: it is not here. Else it is now the last used one.
  std::shared_ptr<Voice> Find(const std::string& hash);
  // In the place of one of the same hash; the voice that was not used for longest goes when there are too
  // many.
  void Keep(const std::string& hash, std::shared_ptr<Voice> voice);
  // Evicts unused voices, longest unused first, until `bytes` are free or none is left. Returns how many
  // bytes are.
  size_t MakeRoom(size_t bytes);
  void Clear();

  size_t size() const { return voices_.size(); }
  size_t Bytes() const;  // voices that are kept, and evicted ones that are still in use

 private:
  using Entry = std::pair<std::string, std::shared_ptr<Voice>>;

  const size_t max_voices_;
  std::list<Entry> voices_;  // the last used one first
  std::unordered_map<std::string, std::list<Entry>::iterator> places_;
  std::vector<std::weak_ptr<Voice>> outlived_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_VOICE_STORE_H_
