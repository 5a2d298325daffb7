// One request to the recogniser from its arrival to its end. Only the engine's thread touches it.
//
// The scheduler asks it to look at its sound, which may begin passes over it; works on these passes in an
// order of its own; and tells it when one is done.
#ifndef PARLEY_RUNTIME_RECOGNITION_H_
#define PARLEY_RUNTIME_RECOGNITION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/recognition/alignment_words.h"
#include "model/recognition/recognition_model.h"
#include "model/recognition/runaway.h"
#include "runtime/recogniser.h"
#include "runtime/rounds.h"
#include "runtime/sound_reader.h"

namespace parley::runtime {

// All recognitions of an engine share this.
struct RecognitionSetup {
  model::RecognitionModel* model = nullptr;
  Format cache_format = Format::kBf16;
  bool official = false;
  Clock::duration least_interval{};
  const model::KoreanDictionary* nouns = nullptr;  // or none

  // Memory that so much sound takes while it is recognised: its features and samples, audio tokens, and as
  // many ids of text.
  size_t BytesOf(double seconds) const;
};

// Memory that a recognition may take for new sound.
struct Room {
  size_t bytes = 0;
  bool is_next = true;  // it may begin one piece of its sound whatever that takes, so that something goes on
};

class Recognition;

// A pass that wants work.
struct WantedPass {
  model::RecognitionStream* stream;
  Recognition* owner;
  Rank rank;
  bool is_final;          // of two passes of a rank it goes first
  Clock::time_point due;  // then the earlier one
};

// A look at a sound computes features of at most so many frames, in some milliseconds. Other work waits.
inline constexpr size_t kFramesALook = 1000;

// Ids that a sound can need. Fast speech has about eight a second.
inline size_t MostIdsOf(size_t samples) { return 32 + 12 * samples / SoundReader::kRate; }

class Recognition {
 public:
  Recognition(StreamId id, RecognitionRequest request, std::shared_ptr<SoundReader> reader,
              std::shared_ptr<TextSink> sink, Clock::time_point now);
  virtual ~Recognition() = default;

  StreamId id() const { return id_; }
  const RecognitionRequest& request() const { return request_; }
  bool is_live() const { return request_.use == RecognitionUse::kLive; }
  bool gone() const { return sink_ == nullptr; }

  // Reads sound and begins the passes that are due. True: there was something to do. A live recognition
  // always has room.
  virtual bool Look(Clock::time_point now, const Room& room) = 0;
  virtual void Take(const PlacedOrder& order) { (void)order; }
  virtual void AddWanted(std::vector<WantedPass>* wanted) = 0;
  // A pass of this stream made an id, or is done.
  virtual void Advanced(model::RecognitionStream* stream, Clock::time_point now) = 0;
  virtual size_t Bytes() const = 0;

  // Set once it is over, for which reason.
  const std::optional<RecognitionEnd>& ending() const { return ending_; }
  void EndWith(Outcome outcome, std::string problem);
  // Frees the model's memory and hands over the sink.
  virtual std::shared_ptr<TextSink> Leave(Clock::time_point now, RecognitionEnd* end);

  struct Counts {
    uint64_t passes = 0, dropped = 0, ids = 0, offered = 0, taken = 0, runaways = 0;
    double sound_seconds = 0;
  };
  Counts TakeCounts() { return std::exchange(counts_, {}); }

 protected:
  void Report(const RecognisedText& text);
  void Report(const std::vector<AlignedWord>& words);
  // The text without its end, if that is an echo of the context, or of the last text, that the sound does not
  // explain.
  std::string WithoutEcho(std::string text, const std::string& last, model::RecognisedSound sound);
  // Takes note of a pass that is done; `offered`: ids of its draft. False: what it computed is of no use, and
  // the recognition has ended.
  bool PassIsGood(const model::RecognitionStream& stream, size_t offered);
  SoundReader& reader() { return *reader_; }

  Counts counts_;

 private:
  void RanAway(const std::string& what);

  const StreamId id_;
  const RecognitionRequest request_;
  const std::shared_ptr<SoundReader> reader_;
  std::shared_ptr<TextSink> sink_;
  const Clock::time_point started_;
  std::optional<RecognitionEnd> ending_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_RECOGNITION_H_
