// The engine: one thread owns the model and advances all live streams by one frame at a time. Everything here
// may be called from any thread and never waits for the model. The outcome of a stream goes to its sink.
#ifndef PARLEY_RUNTIME_ENGINE_H_
#define PARLEY_RUNTIME_ENGINE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace parley::runtime {

using Clock = std::chrono::steady_clock;
using StreamId = uint64_t;  // never given twice; 0 is none

struct EngineOptions {
  std::string directory;
  std::string quantize = "none";  // none | int8-talker | int8 | fp8
  std::string codec_format;       // f32 | f16 | bf16; empty: f32 on a processor, bf16 on a GPU
  std::string device = "cpu";     // cpu | cuda | cuda:<number> | auto: cuda where there is one
  std::string cuda_file;          // the CUDA backend; needed for all but cpu
  bool cuda_graphs = true;
  bool full_vectors = false;       // as cuda::PluginOptions
  std::string cache_format;        // keys and values: f32 | bf16; empty: as the codec's
  bool case_split_pieces = false;  // the tokenizer's other rule
  unsigned threads = 0;            // 0: one per core
  std::vector<int> cores;          // pinned to, in order; empty: not
  std::optional<int> numa_node;    // memory of this node is preferred; it has these cores
  size_t max_streams = 32;         // live at a time; others wait
  size_t max_batch = 0;            // streams in one step; 0: all
  size_t memory_bytes = 0;         // for streams and voices; 0: from what the machine has
  size_t max_new_tokens = 0;       // default of a generation; 0: from the length of its text
  size_t max_voices = 32;          // by example, kept ready
  bool warm_up = true;
};

// Why a stream ended, or why one was not begun.
enum class Outcome : uint8_t {
  kDone,     // the model ended it
  kBudget,   // max_new_tokens of the request: whole, as far as was asked
  kRunaway,  // it outlived its text; what was written stands
  kCancelled,
  kTooLarge,    // more memory or positions than there can be
  kBadRequest,  // unknown speaker or language, no text, a bad recording: `problem` says it
  kOutOfMemory,
  kClosed,  // the engine closed
  kFailed,  // a mistake in the engine; others go on
  kLost,    // the compute device is lost: the engine must be opened anew
};
const char* NameOf(Outcome outcome);

struct StreamEnd {
  Outcome outcome = Outcome::kDone;
  std::string problem;   // for people; empty when done
  uint64_t samples = 0;  // written
  uint64_t frames = 0;   // made: more than were written where it ended by mistake or was cancelled
  // Milliseconds from Start: until it had a place, until the first samples were written, until now.
  // 0 for what did not happen.
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

// A recording to speak like. Encoded once, and kept by its hash.
struct Recording {
  std::string hash;            // over its content and the statements about it
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
  // AddText follows. Speech begins with the first word, but with a recording whose words are known only
  // when there is as much text as it has frames, or no more comes.
  bool more_text = false;
  std::string language = "auto";
  std::string speaker;  // CustomVoice models
  std::string instruction;
  std::shared_ptr<const Recording> recording;  // Base models
  // Absent (negative): the model's own.
  float temperature = -1, top_p = -1, repetition_penalty = -1;
  int32_t top_k = -1;
  bool greedy = false;
  uint64_t seed = 0;
  size_t max_new_tokens = 0;  // 0: the engine's
  // When sound would be missed; earlier goes first. It moves on with what is written: after a
  // second of sound it is a second later. The greatest: never, the answer is waited for as a whole.
  Clock::time_point due = Clock::time_point::max();
  Listener listener = Listener::kLive;  // without `due`, kLive is treated as kReader
  // From then on a waiting reader or server's prompt is admitted before live listeners. The greatest: never.
  Clock::time_point overdue = Clock::time_point::max();
};

struct EngineFacts {
  std::string model_type;  // custom_voice | voice_design | base
  std::string model_size;
  std::string device;
  std::string no_cuda;       // why it is no GPU, where one was wanted if there is one
  size_t device_memory = 0;  // bytes that the device has of its own
  uint32_t sample_rate = 24000;
  bool takes_instruction = false;
  std::vector<std::string> speakers, languages;
  size_t open_frames = 0;  // at most, of a generation whose text is not whole when it begins
  size_t weight_bytes = 0, stream_bytes = 0;
  double load_ms = 0, warm_up_ms = 0;
};

struct EngineStats {
  size_t live = 0, waiting = 0, parked = 0;  // parked: no room in the sink, or no text
  uint64_t begun = 0, done = 0, cancelled = 0, failed = 0, runaways = 0, refused = 0;
  uint64_t frames = 0, steps = 0;
  // Milliseconds so far: of rounds in which there was something to do, and by stage; without the warm-up.
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
  // Blocks while it loads. Null with `problem` set; never throws.
  static std::unique_ptr<Engine> Open(const EngineOptions& options, std::string* problem);
  virtual ~Engine() = default;  // Close()

  virtual const EngineFacts& facts() const = 0;
  // The sink hears everything else, a refusal too, from the engine's thread: never from within Start.
  // 0: the engine is closed, the sink hears nothing.
  virtual StreamId Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink) = 0;
  // The text goes on; `last`: it ends here. Unknown streams are left out of account.
  virtual void AddText(StreamId stream, std::string text, bool last) = 0;
  // Ended(kCancelled) within one frame; until then the sink may still be written to. Unknown ones as above.
  virtual void Cancel(StreamId stream) = 0;
  // The sink has room again: look at it before the next step.
  virtual void Wake() = 0;
  // As of the last frame, and of every end that a sink was notified of.
  virtual EngineStats stats() const = 0;
  // Ends every stream with kClosed, joins the thread, gives all memory back. May be called again,
  // by any thread but the engine's.
  virtual void Close() = 0;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_ENGINE_H_
