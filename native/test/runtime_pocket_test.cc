// Checks the engine with models of Pocket TTS: a text of several chunks, other streams, voices by name, ends
// that never come, and requests that cannot be spoken.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "model/files/safetensors.h"
#include "model/pocket/pocket_checkpoint.h"
#include "runtime/pocket_voice_work.h"
#include "test/checkpoint_copy.h"
#include "test/golden_engine.h"
#include "test/kernel_inputs.h"
#include "test/pocket_copy.h"
#include "tools/pocket_writer.h"

namespace parley::test {
namespace {

constexpr char kText[] =
    "Good morning, this is the service desk of the city library. Your three books are ready for you! "
    "Please bring your card, and come before six. On Sunday we are closed.";

const std::string& GoldenPocket() {
  static const std::string folder = kGolden + "/pocket/tiny-current";
  return folder;
}

Engine& Golden() {
  static const auto engine = OpenedEngine(GoldenPocket());
  return *engine;
}

SpeechRequest Request(uint64_t seed, const std::string& text = kText) {
  SpeechRequest request;
  request.text = text;
  request.speaker = Golden().facts().speakers.front();
  request.seed = seed;
  return request;
}

std::vector<model::TextChunk> ChunksOf(const std::string& text) {
  std::string problem;
  const auto checkpoint = model::PocketCheckpoint::Open(GoldenPocket(), &problem);
  CHECK_EQ(problem, "");
  return model::ChunksOf(text, checkpoint->pieces(), checkpoint->config().text);
}

void TheFolderSaysWhatItOffers() {
  const EngineFacts facts = ValueOf(Engine::Inspect(GoldenPocket()));
  CHECK_EQ(facts.model_type, "pocket");
  CHECK_EQ(facts.sample_rate, 24'000u);
  CHECK_EQ(facts.open_frames, size_t{0});
  CHECK(!facts.speakers.empty());
  CHECK_EQ(Golden().facts().speakers.size(), facts.speakers.size());
}

void ASeedGivesTheSameSoundAndAnotherAnother() {
  const Said first = Say(Golden(), Request(7));
  CHECK(!first.samples.empty());
  CHECK(Say(Golden(), Request(7)).samples == first.samples);
  CHECK(Say(Golden(), Request(8)).samples != first.samples);
}

// Without noise a chunk sounds the same wherever it stands.
void ATextIsItsChunksOneAfterTheOther() {
  const auto chunks = ChunksOf(kText);
  CHECK(chunks.size() > 2);
  SpeechRequest whole = Request(1);
  whole.greedy = true;
  std::vector<float> joined;
  for (const model::TextChunk& chunk : chunks) {
    SpeechRequest part = Request(1, chunk.text);
    part.greedy = true;
    const std::vector<float> samples = Say(Golden(), part).samples;
    joined.insert(joined.end(), samples.begin(), samples.end());
  }
  CHECK(Say(Golden(), whole).samples == joined);
}

void CompanyChangesNothing() {
  std::vector<SpeechRequest> requests;
  std::vector<std::shared_ptr<Listener>> together;
  for (uint64_t n = 0; n < 6; n++) {
    requests.push_back(Request(n, std::string(kText).substr(0, 30 + 20 * n)));
    if (n % 3 == 0) requests.back().due = Clock::now();
    together.push_back(std::make_shared<Listener>());
    Golden().Start(requests.back(), together.back());
  }
  for (size_t n = 0; n < requests.size(); n++) {
    together[n]->AwaitEnd();
    CHECK(!together[n]->samples().empty());
    CHECK(Say(Golden(), requests[n]).samples == together[n]->samples());
  }
}

const std::vector<std::string> kSentences = {
    "Good morning, this is the service desk of the city library.", " Your three books are ready for you!",
    " Please bring your card, and come before six.", " On Sunday we are closed."};

SpeechRequest Open(SpeechRequest request) {
  request.more_text = true;
  request.text.clear();
  return request;
}

void TextThatComesInPartsIsSpokenSentenceBySentence() {
  std::vector<float> joined;
  for (const std::string& sentence : kSentences) {
    SpeechRequest alone = Request(3, sentence);
    alone.greedy = true;
    const std::vector<float> samples = Say(Golden(), alone).samples;
    joined.insert(joined.end(), samples.begin(), samples.end());
  }
  SpeechRequest request = Open(Request(3));
  request.greedy = true;
  for (const size_t part : {1, 7}) {
    const std::string text = kText;
    const auto listener = std::make_shared<Listener>();
    const StreamId id = Golden().Start(request, listener);
    for (size_t at = 0; at < text.size(); at += part)
      Golden().AddText(id, text.substr(at, part), at + part >= text.size());
    CHECK_EQ(std::string(NameOf(listener->AwaitEnd().outcome)), "done");
    CHECK(listener->samples() == joined);
  }
}

void TextThatComesAtOnceAfterTheStartIsSpokenAsTheWhole() {
  const auto listener = std::make_shared<Listener>();
  Golden().AddText(Golden().Start(Open(Request(3)), listener), kText, true);
  listener->AwaitEnd();
  CHECK(listener->samples() == Say(Golden(), Request(3)).samples);
}

// The next sentence comes when the one before it was spoken.
void ASentenceIsSpokenWhileTheTextGoesOn() {
  const std::string text = kText;
  const auto listener = std::make_shared<Listener>();
  SpeechRequest request = Open(Request(3));
  request.greedy = true;
  const StreamId id = Golden().Start(request, listener);
  std::vector<float> spoken;
  size_t given = 0, end = 0;
  for (const std::string& sentence : kSentences) {
    end += sentence.size();
    // The first letter of the next sentence says that this one has ended.
    const size_t until = std::min(end + 2, text.size());
    Golden().AddText(id, text.substr(given, until - given), until == text.size());
    given = until;
    SpeechRequest alone = Request(3, sentence);
    alone.greedy = true;
    const std::vector<float> samples = Say(Golden(), alone).samples;
    spoken.insert(spoken.end(), samples.begin(), samples.end());
    listener->AwaitSamples(spoken.size());
  }
  const StreamEnd how = listener->AwaitEnd();
  CHECK_EQ(std::string(NameOf(how.outcome)), "done");
  CHECK_EQ(how.samples, spoken.size());
  CHECK(listener->samples() == spoken);
}

void ASentenceThatIsTooLongForATextThatGoesOnIsRefused() {
  const auto listener = std::make_shared<Listener>();
  const StreamId id = Golden().Start(Open(Request(3)), listener);
  Golden().AddText(id, kSentences[0] + " A", false);
  listener->AwaitSamples(1);
  Golden().AddText(id, std::string(200, 'x') + ".", true);
  const StreamEnd end = listener->AwaitEnd();
  CHECK_EQ(std::string(NameOf(end.outcome)), "too large");
  CHECK(end.problem.find("tokens and no mark that divides it; 100 are the most") != std::string::npos);
}

std::string RefusalOfRequest(Engine& engine, const SpeechRequest& request, const char* outcome) {
  const auto listener = std::make_shared<Listener>();
  engine.Start(request, listener);
  const StreamEnd end = listener->AwaitEnd();
  CHECK_EQ(std::string(NameOf(end.outcome)), outcome);
  CHECK(listener->samples().empty());
  return end.problem;
}

void WhatCannotBeSpokenIsRefused() {
  for (const char* const text : {"", " \n "})
    CHECK_EQ(RefusalOfRequest(Golden(), Request(1, text), "bad request"), "the text is empty");
  SpeechRequest stranger = Request(1);
  for (const char* const name : {"nobody", "../tokenizer", "alba.safetensors"}) {
    stranger.speaker = name;
    CHECK_EQ(RefusalOfRequest(Golden(), stranger, "bad request"),
             "there is no voice \"" + std::string(name) + "\"");
  }
  const std::string endless(10'000, 'x');
  CHECK(RefusalOfRequest(Golden(), Request(1, endless), "too large").find("400 are the most") !=
        std::string::npos);
  stranger.speaker.clear();
  CHECK_EQ(RefusalOfRequest(Golden(), stranger, "bad request"),
           "the request has neither a voice's name nor a recording");
}

// Four sounds that differ by their seed, with pauses.
std::shared_ptr<Recording> RecordingOf(uint64_t seed, double seconds, uint32_t rate = 24'000) {
  auto recording = std::make_shared<Recording>();
  recording->rate = rate;
  recording->samples = RandomFloats(static_cast<size_t>(seconds * rate), seed);
  for (size_t n = 0; n < recording->samples.size(); n++) {
    const double place = static_cast<double>(n) / rate;
    recording->samples[n] *= static_cast<float>(0.1 * (1 + std::sin(6 * place)));
  }
  recording->hash =
      std::to_string(seed) + "/" + std::to_string(recording->samples.size()) + "/" + std::to_string(rate);
  return recording;
}

std::vector<float> SaidBy(const std::shared_ptr<const Recording>& recording) {
  SpeechRequest request = Request(5, "Hello there.");
  request.speaker.clear();
  request.recording = recording;
  return Say(Golden(), request).samples;
}

void ARecordingIsAVoice() {
  CHECK(Golden().facts().takes_recording);
  const std::vector<float> first = SaidBy(RecordingOf(1, 4));
  CHECK(!first.empty());
  CHECK(SaidBy(RecordingOf(1, 4)) == first);
  CHECK(SaidBy(RecordingOf(2, 4)) != first);
  for (const uint32_t rate : {8000u, 16'000u, 44'100u, 48'000u})
    CHECK(!SaidBy(RecordingOf(3, 3, rate)).empty());
}

void OfALongRecordingTheBeginningIsTheVoice() {
  const auto long_one = RecordingOf(4, 42, 16'000), beginning = RecordingOf(4, 42, 16'000);
  beginning->samples.resize(30 * 16'000);
  beginning->hash = "its beginning";
  CHECK(SaidBy(long_one) == SaidBy(beginning));
}

// Its transcript has no use.
void TheMakingOfAVoiceDisturbsNobody() {
  const std::vector<float> alone = Say(Golden(), Request(9)).samples;
  const auto listener = std::make_shared<Listener>();
  Golden().Start(Request(9), listener);
  const auto recording = RecordingOf(6, 12);
  recording->text = "What I said.";
  const std::vector<float> with_text = SaidBy(recording);
  listener->AwaitEnd();
  CHECK(listener->samples() == alone);
  CHECK(with_text == SaidBy(RecordingOf(6, 12)));
}

std::string RefusalOf(const std::shared_ptr<const Recording>& recording) {
  SpeechRequest request = Request(1, "Hello.");
  request.recording = recording;
  return RefusalOfRequest(Golden(), request, "bad request");
}

void RecordingsThatAreNoVoiceAreRefused() {
  CHECK_EQ(RefusalOf(RecordingOf(7, 0.1)), "the recording lasts 0.100 s; 3.000 to 30 s are taken");
  CHECK_EQ(RefusalOf(RecordingOf(7, 2.99)), "the recording lasts 2.990 s; 3.000 to 30 s are taken");
  const auto silence = RecordingOf(8, 4);
  for (float& sample : silence->samples) sample = 0;
  CHECK_EQ(RefusalOf(silence), "the recording is silent");
  const auto broken = RecordingOf(9, 4);
  broken->samples[50'000] = NAN;
  CHECK_EQ(RefusalOf(broken), "the recording's sample 50000 is no finite number");
  const auto slow = RecordingOf(10, 4, 1000);
  CHECK_EQ(RefusalOf(slow), "the recording's sample rate is 1000 Hz; 4000 to 192000 are taken");
  const auto none = RecordingOf(11, 4);
  none->rate = 0;
  CHECK_EQ(RefusalOf(none), "the recording's sample rate is 0 Hz; 4000 to 192000 are taken");
  CHECK(!SaidBy(RecordingOf(1, 4)).empty());
}

void AModelWithoutTheEncoderTakesNoRecording() {
  TempFolder folder;
  CopyPocket("tiny-current", folder.path(), true);
  DropEncoder(folder.path());
  const auto engine = OpenedEngine(folder.path());
  CHECK(!engine->facts().takes_recording);
  SpeechRequest request = Request(1);
  request.recording = RecordingOf(1, 4);
  CHECK_EQ(RefusalOfRequest(*engine, request, "bad request"), "this model of Pocket TTS takes no recording");
}

// At this rate the last sample is an eighth of one of the encoder's, which makes one frame more.
void TheBytesOfAVoiceCountTheSampleThatTheFilterAdds() {
  std::string problem;
  const auto checkpoint = model::PocketCheckpoint::Open(GoldenPocket(), &problem);
  const auto kernels = MakeKernels(*Variants().back(), 1);
  const model::PocketVoiceEncoder encoder(*kernels, *checkpoint, Activation::kGeluTanh);
  const model::PocketModel speech(*kernels, *checkpoint);
  Recording recording;
  recording.rate = 192'000;
  recording.samples.resize(8 * 1920 * 40 + 1);
  const size_t samples =
      model::Resampling(recording.samples, recording.rate, 24'000, model::kPolyphaseFilter).count();
  CHECK_EQ(samples, size_t{1920 * 40 + 1});
  CHECK(PocketVoiceWork::BytesFor(encoder, speech, recording) >=
        encoder.WorkBytes(samples) + speech.StreamBytes(encoder.PositionsOf(samples)));
}

void AModelWithoutVoicesSpeaksWithRecordings() {
  TempFolder folder;
  CopyPocket("tiny-current", folder.path(), false);
  const auto engine = OpenedEngine(folder.path());
  CHECK(engine->facts().speakers.empty());
  SpeechRequest request = Request(5, "Hello there.");
  request.speaker.clear();
  request.recording = RecordingOf(1, 4);
  CHECK(Say(*engine, request).samples == SaidBy(RecordingOf(1, 4)));
}

// The speech of random weights never ends.
void AChunkWithoutAnEndStopsAtItsMostFramesAndTheNextIsSpoken() {
  TempFolder folder;
  tools::WriteCheckpoint(tools::PocketSizesNamed("tiny"), folder.path(), {});
  const auto engine = OpenedEngine(folder.path());
  const EngineFacts& facts = engine->facts();
  CHECK_EQ(facts.speakers.size(), size_t{4});
  SpeechRequest request = Request(1);
  request.speaker = facts.speakers.back();
  const auto listener = std::make_shared<Listener>();
  engine->Start(request, listener);
  const StreamEnd end = listener->AwaitEnd();
  CHECK_EQ(std::string(NameOf(end.outcome)), "runaway");
  std::string problem;
  const auto checkpoint = model::PocketCheckpoint::Open(folder.path(), &problem);
  size_t frames = 0, tokens = 0;
  for (const auto& chunk : model::ChunksOf(kText, checkpoint->pieces(), checkpoint->config().text)) {
    frames += chunk.max_frames;
    tokens += chunk.ids.size();
  }
  CHECK_EQ(end.frames, frames);
  CHECK_EQ(end.samples, frames * 1920);
  CHECK_EQ(end.problem, "no end after " + std::to_string(frames) + " frames of a text of " +
                            std::to_string(tokens) + " tokens");
  request.max_new_tokens = 30;
  CHECK_EQ(Say(*engine, request).samples.size(), size_t{29 * 1920});
  request.max_new_tokens = 1'000'000;
  CHECK_EQ(Say(*engine, request).samples.size(), frames * 1920);
}

void VoicesBeyondTheMostAreReadAgain() {
  TempFolder folder;
  tools::WriteCheckpoint(tools::PocketSizesNamed("tiny"), folder.path(), {});
  EngineOptions options;
  options.max_voices = 2;
  const auto engine = OpenedEngine(folder.path(), options);
  std::vector<std::vector<float>> all;
  for (const int round : {0, 1}) {
    for (size_t n = 0; n < engine->facts().speakers.size(); n++) {
      SpeechRequest request = Request(1, "Hello.");
      request.speaker = engine->facts().speakers[n];
      const std::vector<float> samples = Say(*engine, request).samples;
      if (round == 0) all.push_back(samples);
      CHECK(samples == all[n]);
      CHECK(engine->stats().voices <= 2);
    }
  }
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

void ADamagedVoiceLeavesTheOthersTheirSpeech() {
  TempFolder folder;
  CopyPocket("tiny-current", folder.path(), true);
  const std::vector<std::string> speakers = ValueOf(Engine::Inspect(folder.path())).speakers;
  const std::string damaged = folder / "embeddings/" + speakers.front() + ".safetensors";
  std::string bytes = ReadAll(damaged);
  const float bad = NAN;
  std::string problem;
  const auto file = model::SafetensorsFile::Open(damaged, &problem);
  const model::Tensor* const cache = file->Find("transformer.layers.1.self_attn/cache");
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(cache->data), cache->bytes));
  std::memcpy(&bytes[at], &bad, sizeof(bad));
  WriteAll(damaged, bytes);
  EngineOptions options;
  options.directory = folder.path();
  auto opened = Engine::Open(options);
  CHECK_EQ(opened ? "" : opened.problem(), "");
  const std::unique_ptr<Engine> engine = std::move(*opened);
  SpeechRequest request = Request(1, "Hello.");
  request.speaker = speakers.front();
  CHECK(RefusalOfRequest(*engine, request, "failed").find("expected finite numbers") != std::string::npos);
  request.speaker = speakers.back();
  CHECK(!Say(*engine, request).samples.empty());
}

void OptionsThatItLacksAreRefused() {
  EngineOptions options;
  options.directory = GoldenPocket();
  options.quantize = "fp8";
  const auto opened = Engine::Open(options);
  CHECK(!opened);
  CHECK_EQ(opened.problem(), "quantize of Pocket TTS is \"fp8\"; it can be none, int8, int8-talker");
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_pocket) {
  using namespace parley::test;
  return Run({
      {"the folder says what it offers", TheFolderSaysWhatItOffers},
      {"a seed gives the same sound, and another another", ASeedGivesTheSameSoundAndAnotherAnother},
      {"a text is its chunks, one after the other", ATextIsItsChunksOneAfterTheOther},
      {"company changes nothing", CompanyChangesNothing},
      {"text that comes in parts is spoken sentence by sentence",
       TextThatComesInPartsIsSpokenSentenceBySentence},
      {"text that comes at once after the start is spoken as the whole",
       TextThatComesAtOnceAfterTheStartIsSpokenAsTheWhole},
      {"a sentence is spoken while the text goes on", ASentenceIsSpokenWhileTheTextGoesOn},
      {"a sentence that is too long for a text that goes on is refused",
       ASentenceThatIsTooLongForATextThatGoesOnIsRefused},
      {"what cannot be spoken is refused", WhatCannotBeSpokenIsRefused},
      {"a recording is a voice", ARecordingIsAVoice},
      {"of a long recording the beginning is the voice", OfALongRecordingTheBeginningIsTheVoice},
      {"the making of a voice disturbs nobody", TheMakingOfAVoiceDisturbsNobody},
      {"recordings that are no voice are refused", RecordingsThatAreNoVoiceAreRefused},
      {"a model without the encoder takes no recording", AModelWithoutTheEncoderTakesNoRecording},
      {"the bytes of a voice count the sample that the filter adds",
       TheBytesOfAVoiceCountTheSampleThatTheFilterAdds},
      {"a model without voices speaks with recordings", AModelWithoutVoicesSpeaksWithRecordings},
      {"a chunk without an end stops at its most frames, and the next is spoken",
       AChunkWithoutAnEndStopsAtItsMostFramesAndTheNextIsSpoken},
      {"voices beyond the most are read again", VoicesBeyondTheMostAreReadAgain},
      {"a damaged voice leaves the others their speech", ADamagedVoiceLeavesTheOthersTheirSpeech},
      {"options that it lacks are refused", OptionsThatItLacksAreRefused},
  });
}
