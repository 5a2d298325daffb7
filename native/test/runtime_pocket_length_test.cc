// Checks how long a model of Pocket TTS speaks: speech that ends long before its text, speech that has no
// end, and texts that are very short.
#include <cstring>
#include <string>
#include <vector>

#include "model/pocket/pocket_checkpoint.h"
#include "test/checkpoint_copy.h"
#include "test/golden_engine.h"

namespace parley::test {
namespace {

constexpr char kText[] =
    "Good morning, this is the service desk of the city library. Your three books are ready for you! "
    "Please bring your card, and come before six. On Sunday we are closed.";
constexpr size_t kFrameSamples = 1920;
constexpr float kAlways = 1e6f, kNever = -1e6f, kAboutTheThreshold = -8;  // end logits

// The golden model, whose end logits are moved.
class Biased {
 public:
  explicit Biased(float bias) : copy_("pocket/tiny-current") {
    const uint16_t bits = ToBf16(bias).bits;
    std::string bytes(sizeof bits, '\0');
    std::memcpy(bytes.data(), &bits, sizeof bits);
    copy_.Overwrite("model.safetensors", "flow_lm.out_eos.bias", bytes);
    engine_ = OpenedEngine(copy_.path());
  }

  Engine& engine() { return *engine_; }
  std::vector<model::TextChunk> ChunksOf(const std::string& text) const {
    std::string problem;
    const auto checkpoint = model::PocketCheckpoint::Open(copy_.path(), &problem);
    return model::ChunksOf(text, checkpoint->pieces(), checkpoint->config().text);
  }
  // A file: the whole sound counts.
  SpeechRequest File(uint64_t seed, const std::string& text = kText) const {
    SpeechRequest request;
    request.text = text;
    request.speaker = engine_->facts().speakers.front();
    request.seed = seed;
    request.may_repeat = true;
    return request;
  }
  // Somebody listens.
  SpeechRequest Call(uint64_t seed, const std::string& text = kText) const {
    SpeechRequest request = File(seed, text);
    request.due = Clock::now();
    return request;
  }

 private:
  CheckpointCopy copy_;
  std::unique_ptr<Engine> engine_;
};

std::string Shown(const ChunkFigures& chunks) {
  return std::to_string(chunks.cut_short) + " cut short, " + std::to_string(chunks.repeated) + " repeated, " +
         std::to_string(chunks.endless) + " endless";
}

void AFileSpeaksEachChunkThatEndsMuchTooEarlyOnceMore() {
  Biased model(kAlways);
  const auto chunks = model.ChunksOf(kText);
  const std::string count = std::to_string(chunks.size());
  size_t frames = 0;
  for (const auto& chunk : chunks) frames += 6 + chunk.frames_after_eos;
  const Said file = Say(model.engine(), model.File(1));
  CHECK_EQ(Shown(model.engine().stats().chunks), count + " cut short, " + count + " repeated, 0 endless");
  CHECK_EQ(std::string(NameOf(file.end.outcome)), "done");
  CHECK_EQ(file.end.frames, frames);
  CHECK_EQ(file.samples.size(), frames * kFrameSamples);
  CHECK(Say(model.engine(), model.File(1)).samples == file.samples);
  SpeechRequest once = model.File(1);
  once.may_repeat = false;
  CHECK(Say(model.engine(), once).samples != file.samples);
}

// The engine does not say again what somebody has heard. The first frames are decoded at once.
void ACallHearsTheFirstSentenceOnceHoweverItEnds() {
  Biased model(kAlways);
  SpeechRequest call = model.Call(1, "Your three books are ready for you!");
  const Said heard = Say(model.engine(), call);
  CHECK_EQ(Shown(model.engine().stats().chunks), "1 cut short, 0 repeated, 0 endless");
  call.may_repeat = false;
  CHECK(Say(model.engine(), call).samples == heard.samples);
}

// A sentence whose turn comes later is made again, as a file is.
void ACallHearsTheSecondTimeOfASentenceThatFollows() {
  Biased model(kAlways);
  SpeechRequest next = model.Call(1, "Your three books are ready for you!");
  next.due += std::chrono::minutes(1);
  const Said heard = Say(model.engine(), next);
  CHECK_EQ(Shown(model.engine().stats().chunks), "1 cut short, 1 repeated, 0 endless");
  CHECK(heard.samples == Say(model.engine(), model.File(1, next.text)).samples);
}

void WithoutNoiseASecondTimeWouldBeTheFirst() {
  Biased model(kAlways);
  SpeechRequest request = model.File(1);
  request.greedy = true;
  Say(model.engine(), request);
  const std::string count = std::to_string(model.ChunksOf(kText).size());
  CHECK_EQ(Shown(model.engine().stats().chunks), count + " cut short, 0 repeated, 0 endless");
}

// The end logits are about the threshold, so that it depends on the noise where speech ends.
void TheSecondTimeOftenSaysTheWholeText() {
  Biased model(kAboutTheThreshold);
  const std::string text = "Please bring your card, and come to the desk before six.";
  const size_t least = model.ChunksOf(text)[0].least_frames;
  size_t wrong = 0;
  for (uint64_t seed = 0; seed < 12; seed++) {
    const ChunkFigures before = model.engine().stats().chunks;
    const Said said = Say(model.engine(), model.File(seed, text));
    const ChunkFigures after = model.engine().stats().chunks;
    const bool is_short = said.end.frames < least + model.ChunksOf(text)[0].frames_after_eos;
    wrong += is_short != (after.cut_short > before.cut_short);
  }
  const ChunkFigures chunks = model.engine().stats().chunks;
  CHECK_EQ(wrong, size_t{0});
  CHECK(chunks.repeated > 2);
  CHECK(chunks.cut_short < chunks.repeated);
}

void AChunkWithoutAnEndIsCountedAndTheClientIsToldSo() {
  Biased model(kNever);
  size_t frames = 0;
  for (const auto& chunk : model.ChunksOf(kText)) frames += chunk.max_frames;
  const Said said = Say(model.engine(), model.File(1));
  CHECK_EQ(std::string(NameOf(said.end.outcome)), "runaway");
  CHECK_EQ(said.samples.size(), frames * kFrameSamples);
  const std::string count = std::to_string(model.ChunksOf(kText).size());
  CHECK_EQ(Shown(model.engine().stats().chunks), "0 cut short, 0 repeated, " + count + " endless");
  CHECK_EQ(model.engine().stats().runaways, uint64_t{1});
}

// Few letters: speech may end as soon as an end counts, in the seventh step. A short text has more frames
// behind its end.
void VeryShortTextsAreSpokenToTheirEnd() {
  Biased model(kAlways);
  for (const char* const text : {"Hi.", "7", "a", "Oh no!", "\u00E9"}) {
    const auto chunks = model.ChunksOf(text);
    CHECK_EQ(chunks.size(), size_t{1});
    CHECK_EQ(chunks[0].frames_after_eos, size_t{5});
    for (const SpeechRequest& request : {model.File(1, text), model.Call(1, text)}) {
      const Said said = Say(model.engine(), request);
      CHECK_EQ(std::string(NameOf(said.end.outcome)), "done");
      CHECK_EQ(said.samples.size(), 11 * kFrameSamples);
    }
  }
  CHECK_EQ(Shown(model.engine().stats().chunks), "0 cut short, 0 repeated, 0 endless");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_pocket_length) {
  using namespace parley::test;
  return Run({
      {"a file speaks each chunk that ends much too early once more",
       AFileSpeaksEachChunkThatEndsMuchTooEarlyOnceMore},
      {"a call hears the first sentence once, however it ends", ACallHearsTheFirstSentenceOnceHoweverItEnds},
      {"a call hears the second time of a sentence that follows",
       ACallHearsTheSecondTimeOfASentenceThatFollows},
      {"without noise a second time would be the first", WithoutNoiseASecondTimeWouldBeTheFirst},
      {"the second time often says the whole text", TheSecondTimeOftenSaysTheWholeText},
      {"a chunk without an end is counted, and the client is told so",
       AChunkWithoutAnEndIsCountedAndTheClientIsToldSo},
      {"very short texts are spoken to their end", VeryShortTextsAreSpokenToTheirEnd},
  });
}
