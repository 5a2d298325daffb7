// The engine: its device's thread owns the model and advances all live streams by one frame at a time.
// Everything here may be called from any thread and never waits for the model. The outcome of a stream goes
// to its sink.
#ifndef PARLEY_RUNTIME_ENGINE_H_
#define PARLEY_RUNTIME_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/outcome.h"
#include "runtime/processor.h"
#include "runtime/result.h"

namespace parley::runtime {

class Device;

struct EngineOptions : DeviceOptions {
  std::string directory;
  std::string quantize = "none";   // none | int8-talker | int8 | fp8
  std::string codec_format;        // f32 | f16 | bf16; empty: f32 on a processor, bf16 on a GPU
  std::string cache_format;        // keys and values: f32 | bf16; empty: as the codec's
  bool case_split_pieces = false;  // the tokenizer's other rule
  size_t max_streams = 32;         // live at a time; others wait
  size_t max_batch = 0;            // streams in one step; 0: all
  size_t max_new_tokens = 0;       // default of a generation; 0: from the length of its text
  size_t max_voices = 32;          // cloned voices kept in memory
  bool warm_up = true;
};

struct StreamEnd {
  Outcome outcome = Outcome::kDone;
  std::string problem;   // for people; empty when done
  uint64_t samples = 0;  // written
  uint64_t frames = 0;   // generated; more than were written if the stream failed or was cancelled
  // Milliseconds from Start until admission, until the first samples were written, until the end. 0 if the
  // event did not happen.
  double queue_ms = 0, first_frame_ms = 0, total_ms = 0;
};

// Receives a stream's audio. Called by the engine's thread alone, never after Ended; also destroyed there. It
// must not block, nor call Engine::Close.
class SpeechSink {
 public:
  virtual ~SpeechSink() = default;
  // Samples that Write would take now; only Write reduces the number. An empty sink has room for at least a
  // frame. Chunks of 12 frames need room for two or more of them, because a chunk is at most half of the
  // room.
  virtual size_t Room() = 0;
  virtual void Write(const float* samples, size_t count) = 0;
  // True: the stream waits for a place, for memory, or for another stream's voice. False: the engine works on
  // it. Called at each change; no stream waits when it begins.
  virtual void Waits(bool) {}
  virtual void Ended(const StreamEnd& end) = 0;
};

// A recording whose voice is cloned. The engine encodes it once and keeps the voice by the hash.
struct Recording {
  std::string hash;            // of its content and its transcript
  std::vector<float> samples;  // mono, [-1, 1]
  uint32_t rate = 24000;       // Hz
  std::string text;            // its transcript; empty: only the voice is used
};

// Use of a stream's audio, which decides its priority.
enum class Listener : uint8_t {
  kLive,    // played while it is made: admission keeps its pace
  kReader,  // read as a file: shares rounds with others, and steps aside for live listeners
  kServer,  // a prompt that the server prepares: comes after all others
};

struct SpeechRequest {
  std::string text;
  // AddText follows. Speech begins with the first word; Pocket TTS begins with the first sentence. With a
  // recording and its transcript Qwen3-TTS begins when there are as many text tokens as the recording has
  // frames, or when the text ends.
  bool more_text = false;
  std::string language = "auto";
  std::string speaker;  // CustomVoice models
  std::string instruction;
  std::shared_ptr<const Recording> recording;  // models that take one
  // A negative value selects the model's default.
  float temperature = -1, top_p = -1, repetition_penalty = -1;
  int32_t top_k = -1;
  bool greedy = false;
  uint64_t seed = 0;
  // Speech that ended long before its text may be made again with other noise, before it is played: then the
  // seed alone does not say how the text sounds.
  bool may_repeat = false;
  bool whole = false;         // the client gets nothing before all of it is made, whatever `due` says
  size_t max_new_tokens = 0;  // 0: the engine's
  // Time at which the listener would run out of sound; earlier goes first. Each second of written sound moves
  // it a second later. The greatest value: never, because the client waits for the whole answer.
  Clock::time_point due = Clock::time_point::max();
  Listener listener = Listener::kLive;  // without `due`, kLive is treated as kReader
  // From this time on a waiting reader or server's prompt is admitted before live listeners. The greatest
  // value: never.
  Clock::time_point overdue = Clock::time_point::max();
};

struct EngineFacts {
  std::string model_type;  // custom_voice | voice_design | base | pocket
  std::string model_size;
  std::string device;
  std::string no_cuda;       // reason why no GPU is used although one was requested
  size_t device_memory = 0;  // bytes that the device has of its own
  uint32_t sample_rate = 24000;
  bool takes_instruction = false;
  bool takes_recording = false;
  std::vector<std::string> speakers, languages;
  std::vector<std::string> voice_problems;  // of voices that are no speakers, because their files do not fit
  size_t open_frames = 0;                   // limit of a generation that begins before its text is complete
  size_t weight_bytes = 0, stream_bytes = 0;
  double load_ms = 0, warm_up_ms = 0;
};

// Chunks of text, for models that speak a text chunk by chunk.
struct ChunkFigures {
  uint64_t cut_short = 0;  // the speech ended long before its text could, and was played so
  uint64_t repeated = 0;   // the speech ended so, and was made again with other noise before it was played
  uint64_t endless = 0;    // the speech did not end, and was stopped
};

struct EngineStats {
  size_t live = 0, waiting = 0, parked = 0;  // parked: no room in the sink, or no text
  uint64_t begun = 0, done = 0, cancelled = 0, failed = 0, runaways = 0, refused = 0;
  uint64_t frames = 0, steps = 0;
  ChunkFigures chunks;
  // Total milliseconds of rounds with work, and of each stage; without the warm-up.
  double busy_ms = 0;
  double prefill_ms = 0, talker_ms = 0, predictor_ms = 0, codec_ms = 0, voice_ms = 0;
  size_t memory_in_use = 0, memory_limit = 0;
  size_t device_memory_in_use = 0;  // the device's own; and as BackendFigures
  uint64_t eager = 0, captures = 0, launches = 0;
  size_t list_bytes = 0;
  size_t voices = 0;
};

class Engine {
 public:
  // Reads the facts of a checkpoint without device, times and sizes. It checks the files completely, but does
  // not read the weights. A problem: they have a defect. Never throws.
  static Result<EngineFacts> Inspect(const std::string& directory);
  // Blocks while it loads. Never throws.
  static Result<std::unique_ptr<Engine>> Open(const EngineOptions& options);
  // The same on a device that is open, whatever device the options name.
  static Result<std::unique_ptr<Engine>> Open(const EngineOptions& options, std::shared_ptr<Device> device);
  virtual ~Engine() = default;  // Close()

  virtual const EngineFacts& facts() const = 0;
  // The engine's thread reports everything else to the sink, also a refusal, never from within Start.
  // Returns 0 if the engine is closed; the sink is then not called.
  virtual StreamId Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink) = 0;
  // Appends text; `last` ends it. Unknown streams are ignored.
  virtual void AddText(StreamId stream, std::string text, bool last) = 0;
  // Calls Ended(kCancelled) within one frame; the sink may be written to until then. Unknown streams are
  // ignored.
  virtual void Cancel(StreamId stream) = 0;
  // Call it when a sink has room again: the engine looks before the next step.
  virtual void Wake() = 0;
  // The figures include the last frame, and every end that a sink was notified of.
  virtual EngineStats stats() const = 0;
  // Ends every stream with kClosed, waits for the end of its work, gives its memory back. May be called
  // again, by any thread but the engine's.
  virtual void Close() = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ENGINE_H_
