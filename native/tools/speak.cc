// Speaks a text into a file, and says what each stage took: the native engine without Node.
//
// `speak --help` tells its options.
#include <cstdio>
#include <future>
#include <stdexcept>

#include "runtime/engine.h"
#include "tools/options.h"
#include "tools/pocket_speech.h"
#include "tools/wav_file.h"

namespace parley::tools {
namespace {

using namespace runtime;

constexpr const char* kUsage =
    "speak --model DIR --text TEXT [--voice NAME] [--language NAME] [--instruct TEXT]\n"
    "      [--reference FILE.wav [--reference-text TEXT]] [--seed N] [--frames N]\n"
    "      [--quantize none|int8-talker|int8|fp8] [--codec f32|f16] [--cache f32|bf16] [--threads N] out.wav\n"
    "speak --model DIR --text TEXT [--voice NAME] [--seed N | --noise FILE.safetensors] [--max-tokens N]\n"
    "      [--gelu tanh|erf] [--rules 3.3|2.1] [--quantize none|int8-backbone|int8] [--cache f32|f16]\n"
    "      [--threads N] out.wav        (a folder of Pocket TTS)\n";

// Takes everything at once.
class Recorder final : public SpeechSink {
 public:
  size_t Room() override { return size_t{1} << 30; }
  void Write(const float* samples, size_t count) override {
    samples_.insert(samples_.end(), samples, samples + count);
  }
  void Ended(const StreamEnd& end) override { end_.set_value(end); }

  // Waits for the end; then the samples may be read.
  StreamEnd Wait() { return end_.get_future().get(); }
  std::vector<float>& samples() { return samples_; }

 private:
  std::vector<float> samples_;
  std::promise<StreamEnd> end_;
};

EngineOptions EngineOptionsOf(const Options& options) {
  EngineOptions engine;
  engine.directory = options.Required("model");
  engine.quantize = options.Text("quantize", engine.quantize);
  engine.codec_format = options.Text("codec", engine.codec_format);
  engine.cache_format = options.Text("cache", engine.cache_format);
  engine.threads = static_cast<unsigned>(options.Whole("threads", 1, 256, 0));
  engine.warm_up = false;  // one text: it would wait longer for it than it gains
  return engine;
}

SpeechRequest RequestOf(const Options& options) {
  SpeechRequest request;
  request.text = options.Required("text");
  request.speaker = options.Text("voice", "");
  request.language = options.Text("language", "auto");
  request.instruction = options.Text("instruct", "");
  request.seed = options.Whole("seed", 0, UINT64_MAX, 0);
  // The end is drawn like a frame.
  if (options.Has("frames")) request.max_new_tokens = options.Whole("frames", 1, 1 << 20, 0) + 1;
  if (!options.Has("reference")) {
    if (options.Has("reference-text"))
      throw std::invalid_argument("--reference-text is what a --reference says");
    return request;
  }
  Sound sound = ReadWav(options.Required("reference"));
  auto recording = std::make_shared<Recording>();
  recording->hash = options.Required("reference");  // the only one
  recording->samples = std::move(sound.samples);
  recording->rate = sound.rate;
  recording->text = options.Text("reference-text", "");
  request.recording = std::move(recording);
  return request;
}

void Report(const Engine& engine, const StreamEnd& end) {
  const EngineFacts& facts = engine.facts();
  const EngineStats stats = engine.stats();
  const double frames = static_cast<double>(end.frames),
               seconds = static_cast<double>(end.samples) / facts.sample_rate;
  std::printf("%s %s on %s: loaded in %.0f ms, %.0f MB of weights\n", facts.model_size.c_str(),
              facts.model_type.c_str(), facts.device.c_str(), facts.load_ms,
              static_cast<double>(facts.weight_bytes) / 1e6);
  std::printf("%.2f s of sound in %.2f s (%s), the first after %.0f ms\n\n", seconds, end.total_ms / 1e3,
              NameOf(end.outcome), end.first_frame_ms);
  const struct {
    const char* stage;
    double ms;
  } stages[] = {{"voice", stats.voice_ms},
                {"prompt", stats.prefill_ms},
                {"talker", stats.talker_ms},
                {"predictor", stats.predictor_ms},
                {"codec", stats.codec_ms}};
  std::printf("%-10s %10s %10s %8s\n", "stage", "ms", "ms/frame", "RTF");
  for (const auto& one : stages) {
    std::printf("%-10s %10.1f %10.2f %8.3f\n", one.stage, one.ms, frames > 0 ? one.ms / frames : 0,
                seconds > 0 ? one.ms / 1e3 / seconds : 0);
  }
}

int Speak(const Options& options) {
  if (options.positional().size() != 1)
    throw std::invalid_argument("name one file to write, such as out.wav");
  if (HoldsPocket(options.Required("model"))) return std::fputs(SpeakWithPocket(options).c_str(), stdout) < 0;
  RefuseOptionsOfOthers(options, false);
  SpeechRequest request = RequestOf(options);
  const auto opened = Engine::Open(EngineOptionsOf(options));
  if (!opened) throw std::invalid_argument(opened.problem());
  const auto& engine = *opened;
  if (!options.Has("voice") && !engine->facts().speakers.empty())
    request.speaker = engine->facts().speakers.front();
  const auto recorder = std::make_shared<Recorder>();
  engine->Start(std::move(request), recorder);
  const StreamEnd end = recorder->Wait();
  const bool spoken =
      end.outcome == Outcome::kDone || end.outcome == Outcome::kBudget || end.outcome == Outcome::kRunaway;
  if (!spoken) throw std::runtime_error(std::string(NameOf(end.outcome)) + ": " + end.problem);
  WriteWav(options.positional().front(), {std::move(recorder->samples()), engine->facts().sample_rate});
  Report(*engine, end);
  return 0;
}

}  // namespace
}  // namespace parley::tools

int main(int count, char** arguments) {
  if (parley::tools::AsksForHelp(count, arguments)) return std::fputs(parley::tools::kUsage, stdout) < 0;
  try {
    return parley::tools::Speak(
        {count,
         arguments,
         {"model", "text", "voice", "language", "instruct", "reference", "reference-text", "seed", "frames",
          "quantize", "codec", "cache", "threads", "noise", "max-tokens", "gelu", "rules"}});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "speak: %s (speak --help)\n", problem.what());
    return 1;
  }
}
