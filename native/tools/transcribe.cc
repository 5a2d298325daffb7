// Recognises a sound file, or times the words of a text in it, and says what each stage took: the native
// recogniser without Node.
//
// `transcribe --help` tells its options.
#include <cstdio>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>

#include "runtime/recogniser.h"
#include "tools/options.h"
#include "tools/wav_file.h"

namespace parley::tools {
namespace {

using namespace runtime;

constexpr const char* kUsage =
    "transcribe --model DIR [--language TAG] [--context TEXT] [--piece SECONDS] [--quantize none|int8]\n"
    "           [--cache f32|bf16] [--threads N] file.wav\n"
    "transcribe --aligner DIR --text TEXT [--language TAG] [--threads N] file.wav\n";

// A file, read as it is recognised. It blocks for the disk.
class FileSound final : public SoundSource {
 public:
  explicit FileSound(WavReader reader) : reader_(std::move(reader)) {}
  size_t Read(float* samples, size_t most) override { return reader_.Read(samples, most); }
  bool Ended(std::string*) override { return reader_.left() == 0; }

 private:
  WavReader reader_;
};

// Prints what it is told, as it comes.
class Printer final : public TextSink {
 public:
  void Recognised(const RecognisedText& text) override {
    std::printf("[%8.2f %8.2f] %s%s%s\n", text.begin_seconds, text.end_seconds, text.language.c_str(),
                text.language.empty() ? "" : ": ", text.text.c_str());
  }
  void Aligned(const std::vector<AlignedWord>& words) override {
    for (const AlignedWord& one : words)
      std::printf("%8.3f %8.3f %s\n", one.begin_seconds, one.end_seconds, one.word.c_str());
  }
  void RanAway(const std::string& what) override { std::fprintf(stderr, "transcribe: %s\n", what.c_str()); }
  void Ended(const RecognitionEnd& end) override { end_.set_value(end); }

  RecognitionEnd Wait() { return end_.get_future().get(); }

 private:
  std::promise<RecognitionEnd> end_;
};

RecogniserOptions RecogniserOptionsOf(const Options& options) {
  if (options.Has("model") == options.Has("aligner"))
    throw std::invalid_argument("name either a --model or an --aligner");
  if (options.Has("text") && !options.Has("aligner"))
    throw std::invalid_argument("--text is what an --aligner times; a --model recognises without it");
  RecogniserOptions recogniser;
  recogniser.aligner = options.Has("aligner");
  recogniser.directory = options.Required(recogniser.aligner ? "aligner" : "model");
  recogniser.quantize = options.Text("quantize", recogniser.quantize);
  recogniser.cache_format = options.Text("cache", recogniser.cache_format);
  recogniser.threads = static_cast<unsigned>(options.Whole("threads", 1, 256, 0));
  recogniser.warm_up = false;  // one file: it would wait longer for it than it gains
  return recogniser;
}

RecognitionRequest RequestOf(const Options& options, uint32_t rate) {
  RecognitionRequest request;
  request.use = options.Has("aligner") ? RecognitionUse::kAlign : RecognitionUse::kFile;
  request.language = options.Text("language", "");
  request.context = options.Has("aligner") ? options.Required("text") : options.Text("context", "");
  request.rate = rate;
  request.piece_seconds = static_cast<double>(options.Whole("piece", 10, 1200, 60));
  return request;
}

void Report(const Recogniser& recogniser, const RecognitionEnd& end) {
  const RecogniserFacts& facts = recogniser.facts();
  const RecogniserStats stats = recogniser.stats();
  const double seconds = end.sound_seconds;
  std::printf("\n%s: loaded in %.0f ms, %.0f MB of weights\n", facts.device.c_str(), facts.load_ms,
              static_cast<double>(facts.weight_bytes) / 1e6);
  std::printf("%.2f s of sound in %.2f s: %.2f times real time\n\n", seconds, end.total_ms / 1e3,
              end.total_ms > 0 ? seconds * 1e3 / end.total_ms : 0);
  const struct {
    const char* stage;
    double ms;
  } stages[] = {{"encoder", stats.encode_ms}, {"prompt", stats.prefill_ms}, {"text", stats.decode_ms}};
  std::printf("%-10s %10s %10s\n", "stage", "ms", "RTF");
  for (const auto& one : stages)
    std::printf("%-10s %10.1f %10.3f\n", one.stage, one.ms, seconds > 0 ? one.ms / 1e3 / seconds : 0);
}

int Transcribe(const Options& options) {
  if (options.positional().size() != 1) throw std::invalid_argument("name one file to read, such as in.wav");
  const RecogniserOptions recogniser_options = RecogniserOptionsOf(options);
  WavReader file(options.positional().front());
  RecognitionRequest request = RequestOf(options, file.rate());
  const auto opened = Recogniser::Open(recogniser_options);
  if (!opened) throw std::invalid_argument(opened.problem());
  const auto& recogniser = *opened;
  const auto printer = std::make_shared<Printer>();
  recogniser->Start(std::move(request), std::make_shared<FileSound>(std::move(file)), printer);
  const RecognitionEnd end = printer->Wait();
  if (end.outcome != Outcome::kDone)
    throw std::runtime_error(std::string(NameOf(end.outcome)) + ": " + end.problem);
  recogniser->Close();
  Report(*recogniser, end);
  return 0;
}

}  // namespace
}  // namespace parley::tools

int main(int count, char** arguments) {
  if (parley::tools::AsksForHelp(count, arguments)) return std::fputs(parley::tools::kUsage, stdout) < 0;
  try {
    return parley::tools::Transcribe(
        {count,
         arguments,
         {"model", "aligner", "text", "language", "context", "piece", "quantize", "cache", "threads"}});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "transcribe: %s (transcribe --help)\n", problem.what());
    return 1;
  }
}
