// Makes cloned voices from recordings, and keeps the most recently used ones by the hash of their recording.
// For the engine's thread alone.
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

#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"
#include "model/speech/voice_encoder.h"
#include "runtime/frame_model.h"

namespace parley::runtime {

// Data computed once for a voice and shared by its streams.
struct Voice {
  std::shared_ptr<const model::VoicePrompt> prompt;
  std::shared_ptr<const model::CodecState> codec;  // after the recording's codes; null: there are none
  // The first rows of every prompt that begins alike, by what else they depend on: the language.
  std::map<std::string, std::shared_ptr<const model::PromptPrefix>> prefixes;
  size_t bytes = 0;  // all of the above; code that adds something also adds its size
};

// Encodes a recording into a voice, in bounded parts between the frames of live streams.
class VoiceWork {
 public:
  // Encoder and decoder outlive it.
  VoiceWork(model::VoiceEncoder& encoder, model::CodecDecoder& decoder,
            std::shared_ptr<const Recording> recording);

  // Upper bound of the model's memory in bytes, during the encoding and for the voice.
  static size_t BytesFor(const model::VoiceEncoder& encoder, const model::CodecDecoder& decoder,
                         const Recording& recording);

  const std::string& hash() const { return recording_->hash; }
  size_t bytes() const { return bytes_; }

  // Does the next part. Returns the voice after the last one, null before. A problem: the recording cannot be
  // used.
  Result<std::shared_ptr<Voice>> Advance();

 private:
  Result<> Prepare();
  void Encode();
  void TakeCodes();
  void DecodeSome();

  model::VoiceEncoder& encoder_;
  model::CodecDecoder& decoder_;
  const std::shared_ptr<const Recording> recording_;
  const size_t bytes_;
  // The encoding begins after the preparation has ended.
  std::unique_ptr<model::Preparation> preparation_;
  std::unique_ptr<model::VoiceEncoding> encoding_;
  model::VoicePrompt prompt_;
  std::unique_ptr<model::CodecState> codec_;
  size_t frames_ = 0, decoded_ = 0;
  bool encoded_ = false;
};

// A stream keeps its voice alive after its eviction.
class VoiceStore {
 public:
  // With 0 nothing is kept.
  explicit VoiceStore(size_t max_voices) : max_voices_(max_voices) {}

  // Finds a voice and makes it the most recently used one. Null if it is not kept.
  std::shared_ptr<Voice> Find(const std::string& hash);
  // Replaces a voice of the same hash, and evicts the least recently used voice if there are too many.
  void Keep(const std::string& hash, std::shared_ptr<Voice> voice);
  // Evicts unused voices, least recently used first, until `bytes` are free or none is left. Returns the
  // number of bytes that it freed.
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
