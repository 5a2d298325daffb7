// The recogniser, and the forced aligner: a device's thread owns the model and advances all streams together.
// Everything here may be called from any thread and never waits for the model. What is recognised goes to a
// stream's sink.
#ifndef PARLEY_RUNTIME_RECOGNISER_H_
#define PARLEY_RUNTIME_RECOGNISER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/outcome.h"
#include "runtime/processor.h"

namespace parley::runtime {

class Device;

struct RecogniserOptions : DeviceOptions {
  std::string directory;
  bool aligner = false;             // a checkpoint of a forced aligner
  std::string quantize = "none";    // none | int8: the decoder's layers
  std::string cache_format;         // keys and values: f32 | bf16; empty: bf16
  std::string streaming = "draft";  // draft | official: as model::LiveTranscript, model::OfficialStreaming
  std::string korean_dictionary;    // aligner: a file, or none
  std::chrono::milliseconds least_interval{320};  // of partial texts; they take longer where the machine does
  size_t max_files = 256;                         // at a time, beside live callers; others wait
  bool warm_up = true;
};

enum class RecognitionUse : uint8_t {
  kLive,   // turns of a caller, each with a final text
  kFile,   // all of a sound, of any length
  kAlign,  // times of the words of a text; only of an aligner
};

// Orders about a live stream's turns, in the order in which they are given.
enum class TurnOrder : uint8_t {
  kBegin,   // speech began, some tenths of a second ago
  kPause,   // speech paused: the text may be complete
  kResume,  // it goes on
  kEnd,     // the turn is over
};

struct PlacedOrder {
  TurnOrder order = TurnOrder::kBegin;
  uint64_t at = 0;  // samples of the source that come before it
};

struct RecognitionRequest {
  RecognitionUse use = RecognitionUse::kFile;
  std::string language;    // a tag or an English name; empty: it is found
  std::string context;     // background, names and hotwords; or of an alignment the text
  uint32_t rate = 16'000;  // of the source, in Hz: 8000 to 192000
  bool partials = false;   // live: texts of a turn that is not over
  bool pauses = false;     // live: the whole text of a turn at each of its pauses
  // Live: nothing is recognised before TurnOrder::kBegin. Else the first turn begins with the sound, and each
  // other one after the end of the last.
  bool gated = false;
  std::vector<PlacedOrder> orders = {};  // live: those given before the start
  double piece_seconds =
      60;  // file: about the length of the pieces that a long sound is cut into; 10 to 1200
};

// The sound of a stream in mono, read by the engine's thread alone. It must not block.
class SoundSource {
 public:
  virtual ~SoundSource() = default;
  // Returns how many were read; 0: there are none now.
  virtual size_t Read(float* samples, size_t most) = 0;
  // True once everything was read and nothing will follow. `problem` is set if it broke off.
  virtual bool Ended(std::string* problem) = 0;
};

struct RecognisedText {
  uint64_t part = 0;   // the turn's number, or the piece's of a file
  bool final = false;  // else the text may change after its first `stable` bytes
  bool pause = false;  // all sound of the turn up to a pause was recognised; the text may be empty
  std::string text;
  size_t stable = 0;
  std::string language;                       // English name; empty: none was found
  double begin_seconds = 0, end_seconds = 0;  // of the sound that was recognised
};

struct AlignedWord {
  std::string word;
  double begin_seconds = 0, end_seconds = 0;
};

struct RecognitionEnd {
  Outcome outcome = Outcome::kDone;
  std::string problem;       // for people; empty when done
  double sound_seconds = 0;  // that was read
  double total_ms = 0;       // since Start
};

// Called by the engine's thread alone, never after Ended; also destroyed there. It must not block, nor call
// Recogniser::Close.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void Recognised(const RecognisedText& text) = 0;
  // The next words of an alignment, in order.
  virtual void Aligned(const std::vector<AlignedWord>& words) { (void)words; }
  // A loop, or an echo of the context, was found in the model's text and cut: `what` is for a log, without
  // words of the speaker.
  virtual void RanAway(const std::string& what) { (void)what; }
  virtual void Ended(const RecognitionEnd& end) = 0;
};

struct RecogniserFacts {
  bool aligner = false;
  std::string device;
  std::string no_cuda;                 // as EngineFacts
  size_t device_memory = 0;            // bytes that the device has of its own
  std::vector<std::string> languages;  // English names
  size_t weight_bytes = 0;
  size_t second_bytes = 0;  // of memory that a stream takes for a second of its sound
  double load_ms = 0, warm_up_ms = 0;
};

struct RecogniserStats {
  size_t live = 0, files = 0, waiting = 0;
  uint64_t begun = 0, done = 0, cancelled = 0, failed = 0, refused = 0, runaways = 0;
  uint64_t passes = 0, dropped_passes = 0;
  uint64_t ids = 0, draft_offered = 0, draft_taken = 0;
  double sound_seconds = 0;  // of all passes that ended a turn or a piece
  double busy_ms = 0, encode_ms = 0, prefill_ms = 0, decode_ms = 0;
  size_t memory_in_use = 0, memory_limit = 0;
};

class Recogniser {
 public:
  // Reads the facts of a checkpoint without device, times and sizes. It checks the files completely, but does
  // not read the weights. A problem: they have a defect. Never throws.
  static Result<RecogniserFacts> Inspect(const std::string& directory, bool aligner);
  // Blocks while it loads. Never throws.
  static Result<std::unique_ptr<Recogniser>> Open(const RecogniserOptions& options);
  // The same on a device that is open, whatever device the options name.
  static Result<std::unique_ptr<Recogniser>> Open(const RecogniserOptions& options,
                                                  std::shared_ptr<Device> device);
  virtual ~Recogniser() = default;  // Close()

  virtual const RecogniserFacts& facts() const = 0;
  // The engine's thread reports everything else to the sink, also a refusal, never from within Start. Returns
  // 0 if the engine is closed; the sink is then not called.
  virtual StreamId Start(RecognitionRequest request, std::shared_ptr<SoundSource> source,
                         std::shared_ptr<TextSink> sink) = 0;
  // A live stream obeys the order at its place in the sound. Other streams ignore it.
  virtual void Order(StreamId stream, PlacedOrder order) = 0;
  // Calls Ended(kCancelled) soon. Unknown streams are ignored.
  virtual void Cancel(StreamId stream) = 0;
  // Call it when a source has sound: the engine looks at once. It looks from time to time without it.
  virtual void Wake() = 0;
  virtual RecogniserStats stats() const = 0;
  // Ends every stream with kClosed, waits for the end of its work, gives its memory back. May be called
  // again, by any thread but the engine's.
  virtual void Close() = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_RECOGNISER_H_
