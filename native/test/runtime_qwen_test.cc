// Checks the engine with the tiny checkpoints: other streams, the seed's place, late text and voices change
// nothing, the golden requests give the golden codes, and impossible requests are refused by name.
#include <malloc.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "kernels/cuda/plugin.h"
#include "model/files/json.h"
#include "model/shared/weights.h"
#include "test/checkpoint_copy.h"
#include "test/golden_engine.h"

namespace parley::test {
namespace {

constexpr char kText[] =
    "We're open from nine to five; they're closed on Sunday, and \u4f60\u597d\uff0c\u4eca\u5929\u5f88\u597d\u3002";

Engine& CustomVoice() {
  static const auto engine = GoldenEngine("tiny-customvoice");
  return *engine;
}
Engine& Base() {
  static const auto engine = GoldenEngine("tiny-base");
  return *engine;
}

// Drawn, not greedy: chance shows every difference.
SpeechRequest Drawn(uint64_t seed) {
  SpeechRequest request;
  request.text = kText;
  request.language = "english";
  request.speaker = "vivian";
  request.seed = seed;
  request.max_new_tokens = 11;
  return request;
}

SpeechRequest WithVoice(const std::string& recording, const std::string& says, uint64_t seed) {
  SpeechRequest request = Drawn(seed);
  request.speaker.clear();
  request.recording = GoldenRecording(recording, says);
  return request;
}

void ASeedGivesTheSameSoundAndAnotherAnother() {
  const Said first = Say(CustomVoice(), Drawn(7));
  CHECK_EQ(first.samples.size(), size_t{10 * 1920});
  CHECK(Say(CustomVoice(), Drawn(7)).samples == first.samples);
  CHECK(Say(CustomVoice(), Drawn(8)).samples != first.samples);
}

void CompanyChangesNothing() {
  for (Engine* const engine : {&CustomVoice(), &Base()}) {
    std::vector<SpeechRequest> requests;
    for (uint64_t n = 0; n < 6; n++) {
      SpeechRequest request =
          engine == &Base() ? WithVoice("short", n % 2 == 0 ? "A voice." : "", n) : Drawn(n);
      request.text = std::string(kText).substr(0, 20 + 5 * n);
      request.max_new_tokens = 5 + 2 * n;
      if (n % 3 == 0) request.due = Clock::now();
      requests.push_back(request);
    }
    std::vector<std::shared_ptr<Listener>> together;
    for (const SpeechRequest& request : requests) {
      together.push_back(std::make_shared<Listener>());
      engine->Start(request, together.back());
    }
    for (size_t n = 0; n < requests.size(); n++) {
      CHECK_EQ(std::string(NameOf(together[n]->AwaitEnd().outcome)), "budget");
      CHECK(together[n]->samples().size() == (4 + 2 * n) * 1920);
      CHECK(Say(*engine, requests[n]).samples == together[n]->samples());
    }
  }
}

std::vector<float> SpokenInParts(Engine& engine, SpeechRequest request, size_t part) {
  const std::string text = request.text;
  request.text.clear();
  request.more_text = true;
  const auto listener = std::make_shared<Listener>();
  const StreamId id = engine.Start(request, listener);
  for (size_t at = 0; at < text.size(); at += part)
    engine.AddText(id, text.substr(at, part), at + part >= text.size());
  const StreamEnd end = listener->AwaitEnd();
  CHECK_EQ(end.problem.substr(0, 13), end.outcome == Outcome::kDone ? "" : "no end after ");
  return listener->samples();
}

void TextThatComesInPartsIsSpokenAsTheWhole() {
  const std::vector<float> custom = SpokenInParts(CustomVoice(), Drawn(3), 1000);
  for (const size_t part : {1, 3, 11}) CHECK(SpokenInParts(CustomVoice(), Drawn(3), part) == custom);
  // A voice by example reads its text frame by frame in any case.
  for (const char* const says : {"", "A voice."}) {
    const SpeechRequest request = WithVoice("short", says, 4);
    const std::vector<float> whole = Say(Base(), request).samples;
    for (const size_t part : {1, 7, 1000}) CHECK(SpokenInParts(Base(), request, part) == whole);
  }
}

void TextThatIsLateParksTheStream() {
  SpeechRequest request = Drawn(5);
  const std::vector<float> whole = SpokenInParts(CustomVoice(), request, 1000);
  request.text = "We're open ";
  request.more_text = true;
  const auto listener = std::make_shared<Listener>();
  const StreamId id = CustomVoice().Start(request, listener);
  while (CustomVoice().stats().parked == 0) std::this_thread::yield();
  CustomVoice().AddText(id, std::string(kText).substr(11), true);
  listener->AwaitEnd();
  CHECK(listener->samples() == whole);
}

void AVoiceIsKeptWithItsPrefixAndSpeaksTheSame() {
  const auto engine = GoldenEngine("tiny-base");
  const SpeechRequest request = WithVoice("exact", "A voice.", 1);
  const Said first = Say(*engine, request);
  const EngineStats cold = engine->stats();
  CHECK_EQ(cold.voices, size_t{1});
  CHECK(cold.voice_ms > 0);
  const Said second = Say(*engine, request);
  const EngineStats warm = engine->stats();
  CHECK(first.samples == second.samples);
  CHECK_EQ(warm.voice_ms, cold.voice_ms);
  CHECK_EQ(warm.memory_in_use, cold.memory_in_use);  // the prefix is there since the first
  SpeechRequest german = request;
  german.language = "German";
  CHECK(Say(*engine, german).samples != first.samples);
  CHECK(engine->stats().memory_in_use > warm.memory_in_use);
  CHECK(Say(*engine, request).samples == first.samples);
}

void VoicesBeyondTheMostAreEncodedAgain() {
  EngineOptions options;
  options.max_voices = 1;
  const auto engine = GoldenEngine("tiny-base", options);
  const std::vector<float> alone = Say(*engine, WithVoice("short", "", 1)).samples;
  Say(*engine, WithVoice("exact", "", 1));
  CHECK_EQ(engine->stats().voices, size_t{1});
  CHECK(Say(*engine, WithVoice("short", "", 1)).samples == alone);
  options.max_voices = 0;
  const auto none = GoldenEngine("tiny-base", options);
  CHECK(Say(*none, WithVoice("short", "", 1)).samples == alone);
  CHECK_EQ(none->stats().voices, size_t{0});
}

void WhatStreamsTakeIsGivenBack() {
  const auto engine = GoldenEngine("tiny-customvoice");
  for (uint64_t n = 0; n < 3; n++) Say(*engine, Drawn(n));
  CHECK_EQ(engine->stats().memory_in_use, size_t{0});
  CHECK(engine->stats().memory_limit > 0);
  CHECK_EQ(engine->stats().done, uint64_t{3});
}

// Bytes that this process has allocated, as its allocator reports them.
size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void ManyGenerationsLeaveNothingBehind() {
  const auto engine = GoldenEngine("tiny-base");
  const auto speak = [&](uint64_t from, uint64_t to) {
    for (uint64_t n = from; n < to; n++) {
      SpeechRequest request = WithVoice("exact", "A voice.", n);
      request.max_new_tokens = 2 + n % 3;
      Say(*engine, request);
    }
  };
  speak(0, 10);
  const size_t before = AllocatedBytes();
  speak(10, 60);
  const size_t after = AllocatedBytes();
  CHECK(after < before + (size_t{64} << 10));
}

void ARunawayIsReported() {
  SpeechRequest request = Drawn(1);
  request.text = "Yes.";
  request.max_new_tokens = 0;
  request.repetition_penalty = 1;
  request.greedy = true;
  const Said said = Say(CustomVoice(), request);
  // Random weights hardly ever end; if these did, the test would show nothing.
  CHECK_EQ(std::string(NameOf(said.end.outcome)), "runaway");
  CHECK_EQ(said.samples.size(), said.end.samples);
  CHECK_EQ(said.end.samples, said.end.frames * 1920);
}

std::string ProblemOf(Engine& engine, const SpeechRequest& request) {
  const Said said = Say(engine, request);
  CHECK_EQ(said.samples.size(), size_t{0});
  return std::string(NameOf(said.end.outcome)) + ": " + said.end.problem;
}

template <class Value>
SpeechRequest With(Value SpeechRequest::* field, Value value) {
  SpeechRequest request = Drawn(1);
  request.*field = value;
  return request;
}

void RequestsThatDoNotFitAreRefusedByName() {
  Engine& custom = CustomVoice();
  CHECK_EQ(
      ProblemOf(custom, With(&SpeechRequest::speaker, std::string("nobody"))),
      "bad request: there is no speaker \"nobody\"; there are: serena, vivian, uncle_fu, ryan, aiden, ono_anna, sohee, "
      "eric, dylan");
  CHECK_EQ(
      ProblemOf(custom, With(&SpeechRequest::language, std::string("klingon"))),
      "bad request: there is no language \"klingon\"; there are: chinese, english, german, italian, portuguese, spanish, "
      "japanese, korean, french, russian");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::text, std::string(" \n"))),
           "bad request: the text is empty");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::text, std::string("\xff"))),
           "bad request: the text is not UTF-8");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::temperature, 0.0f)),
           "bad request: temperature must be 0.0001 or more");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::temperature, NAN)),
           "bad request: temperature must be 0.0001 or more");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::top_p, 1.5f)), "bad request: top_p must be in (0, 1]");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::repetition_penalty, 0.0f)),
           "bad request: repetition_penalty must be above 0");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::recording, GoldenRecording("short", ""))),
           "bad request: a custom_voice model takes no recording");
  SpeechRequest digits = Drawn(1);
  digits.text = std::string(40'000, '7');
  CHECK_EQ(ProblemOf(custom, digits), "too large: the prompt takes 40011 positions of 32768");
  CHECK_EQ(ProblemOf(custom, With(&SpeechRequest::max_new_tokens, size_t{32768})).substr(0, 54),
           "too large: max_new_tokens is 32768; the prompt leaves ");
}

void RecordingsThatCannotBeUsedAreRefusedByName() {
  const size_t voices = Base().stats().voices;
  SpeechRequest request = Drawn(1);
  request.speaker.clear();
  CHECK_EQ(ProblemOf(Base(), request), "bad request: a base model needs a recording to speak like");
  const auto refused = [&](std::vector<float> samples, uint32_t rate) {
    auto recording = std::make_shared<Recording>();
    recording->hash = "bad";
    recording->samples = std::move(samples);
    recording->rate = rate;
    request.recording = recording;
    return ProblemOf(Base(), request);
  };
  CHECK_EQ(refused({}, 24000), "bad request: the recording is empty");
  CHECK_EQ(refused(std::vector<float>(24000), 24000), "bad request: the recording is silent");
  CHECK_EQ(refused(std::vector<float>(24000, 0.1f), 0).substr(0, 44),
           "bad request: the recording's sample rate is ");
  CHECK_EQ(refused(std::vector<float>(500, 0.1f), 24000).substr(0, 33), "bad request: the recording lasts ");
  CHECK_EQ(Base().stats().voices, voices);
}

std::string OpenProblem(EngineOptions options) {
  if (options.directory.empty()) options.directory = kGolden + "/tiny-customvoice";
  return ProblemIn(Engine::Open(options));
}

void OptionsThatCannotBeAreRefusedByName() {
  EngineOptions options;
  options.quantize = "int4";
  CHECK_EQ(OpenProblem(options), "quantize is \"int4\"; it can be none, int8-talker, int8, fp8");
  options = {};
  options.codec_format = "int4";
  CHECK_EQ(OpenProblem(options), "codec_format is \"int4\"; it can be f32, f16, bf16");
  options = {};
  options.cache_format = "f8";
  CHECK_EQ(OpenProblem(options), "cache_format is \"f8\"; it can be f32, bf16");
  options = {};
  options.device = "cuda:x";
  CHECK_EQ(OpenProblem(options), "device is \"cuda:x\"; it can be auto, cpu, cuda, cuda:<number>");
  if (!cuda::WhyNoCuda().empty()) {
    options.device = "cuda";
    CHECK_EQ(OpenProblem(options), "cuda: " + cuda::WhyNoCuda());
  }
  options = {};
  options.threads = 2;
  options.cores = {0};
  CHECK_EQ(OpenProblem(options), "1 cores are named for 2 threads");
  options = {};
  options.threads = 257;
  CHECK_EQ(OpenProblem(options), "1 to 256 threads can share the work");
  options = {};
  options.cores = {1023};
  CHECK_EQ(OpenProblem(options), "the engine cannot run on core 1023");
  options = {};
  options.max_streams = 0;
  CHECK_EQ(OpenProblem(options), "max_streams must be 1 or more");
  options = {};
  options.directory = "/nowhere";
  CHECK_EQ(OpenProblem(options).substr(0, 9), "/nowhere/");
}

void EveryKindOfModelWarmsUpAndSaysWhatItIs() {
  for (const char* const name : {"tiny-customvoice", "tiny-voicedesign", "tiny-base"}) {
    EngineOptions options;
    options.directory = kGolden + "/" + name;
    options.threads = 2;
    const auto engine = ValueOf(Engine::Open(options));
    const EngineFacts& facts = engine->facts();
    CHECK(facts.warm_up_ms > 0 && facts.load_ms > 0 && facts.weight_bytes > 0 && facts.stream_bytes > 0);
    CHECK_EQ(facts.sample_rate, 24000u);
    CHECK_EQ(facts.languages.size(), size_t{10});
    CHECK_EQ(facts.speakers.empty(), facts.model_type != "custom_voice");
    CHECK_EQ(facts.takes_instruction, facts.model_size == "1b7");
    CHECK_EQ(engine->stats().memory_in_use, size_t{0});
    CHECK_EQ(engine->stats().frames, uint64_t{0});
    CHECK_EQ(engine->stats().talker_ms + engine->stats().voice_ms, 0.0);
  }
}

// Every value of a tensor of the file becomes this.
void Fill(CheckpointCopy* copy, const std::string& file, const std::string& tensor, float value,
          size_t most = SIZE_MAX) {
  std::string bytes = copy->Read(file), problem;
  uint64_t length = 0;
  for (int n = 7; n >= 0; n--) length = length << 8 | static_cast<uint8_t>(bytes[static_cast<size_t>(n)]);
  const auto header = model::JsonDocument::Parse(std::string_view(bytes).substr(8, length), &problem);
  const model::Json entry = header->root().Find(tensor);
  CHECK(entry.present());
  const Format format = entry.Find("dtype").text() == "F32" ? Format::kF32 : Format::kBf16;
  const std::vector<uint8_t> one = model::Rounded(&value, 1, format);
  const model::Json offsets = entry.Find("data_offsets");
  const auto begin = static_cast<size_t>(offsets.first().integer().value_or(0)),
             end = static_cast<size_t>(offsets.first().next().integer().value_or(0));
  for (size_t at = begin, n = 0; at < end && n < most; at += one.size(), n++) {
    for (size_t i = 0; i < one.size(); i++) bytes[8 + length + at + i] = static_cast<char>(one[i]);
  }
  copy->Write(file, bytes);
}

constexpr char kModelFile[] = "model.safetensors";
constexpr char kCodecFile[] = "speech_tokenizer/model.safetensors";

void WeightsThatAreNotFiniteAreNotLoaded() {
  const struct {
    const char *model, *file, *tensor;
  } cases[] = {
      {"tiny-customvoice", kCodecFile, "decoder.quantizer.rvq_rest.vq.layers.3._codebook.embedding_sum"},
      {"tiny-customvoice", kCodecFile, "decoder.quantizer.rvq_first.vq.layers.0._codebook.cluster_usage"},
      {"tiny-customvoice", kCodecFile, "decoder.pre_conv.conv.bias"},
      {"tiny-customvoice", kCodecFile, "decoder.decoder.1.block.0.alpha"},
      {"tiny-customvoice", kCodecFile, "decoder.upsample.0.1.dwconv.conv.weight"},
      {"tiny-customvoice", kModelFile, "talker.model.text_embedding.weight"},
      {"tiny-customvoice", kModelFile, "talker.model.layers.0.mlp.up_proj.weight"},
      {"tiny-customvoice", kModelFile, "talker.code_predictor.lm_head.0.weight"},
      {"tiny-base", kModelFile, "speaker_encoder.blocks.0.conv.weight"},
      {"tiny-base", kCodecFile, "encoder.encoder.layers.0.conv.weight"},
  };
  for (const auto& one : cases) {
    for (const float value : {NAN, INFINITY, 3e38f}) {
      CheckpointCopy copy(one.model);
      Fill(&copy, one.file, one.tensor, value, 1);
      EngineOptions options;
      options.directory = copy.path();
      options.threads = 1;
      options.warm_up = false;
      const std::string wanted = copy.path() + ": " + one.tensor + ": holds a weight of ";
      CHECK_EQ(OpenProblem(options).substr(0, wanted.size()), wanted);
    }
  }
}

// Each weight is a number, what is computed of them is none.
void WeightsWhoseProductsOverflowAreNotLoaded() {
  CheckpointCopy talker("tiny-customvoice"), codec("tiny-customvoice");
  Fill(&talker, kModelFile, "talker.model.layers.0.post_attention_layernorm.weight", 9e8f);
  for (const char* const name : {"gate_proj", "up_proj", "down_proj"}) {
    Fill(&talker, kModelFile, std::string("talker.model.layers.0.mlp.") + name + ".weight", 9e8f);
  }
  Fill(&codec, kCodecFile, "decoder.decoder.1.block.0.alpha", 300);
  const std::pair<CheckpointCopy*, const char*> cases[] = {
      {&talker, "the model computed what is not a number"},
      {&codec, "the codec computed sound that is not finite"}};
  for (const auto& [copy, problem] : cases) {
    EngineOptions options;
    options.directory = copy->path();
    options.threads = 1;
    CHECK_EQ(OpenProblem(options), copy->path() + ": warming up: " + problem);
    options.warm_up = false;
    const auto engine = ValueOf(Engine::Open(options));
    const Said said = Say(*engine, Drawn(1));
    CHECK_EQ(std::string(NameOf(said.end.outcome)) + ": " + said.end.problem,
             std::string("failed: ") + problem);
    CHECK(said.samples.empty());
  }
}

// The process lives, other engines speak on, and the streams of this one end with an error that names the
// file.
void AFileThatChangesUnderAnEngineEndsTheEngineAlone() {
  for (const char* const file : {kModelFile, kCodecFile}) {
    for (const bool is_cut : {true, false}) {
      CheckpointCopy copy("tiny-customvoice");
      const std::string whole = copy.Read(file);
      copy.Write(file, whole);
      const auto engine = OpenedEngine(copy.path());
      CHECK(!Say(*engine, Drawn(1)).samples.empty());
      SpeechRequest endless = Drawn(2);
      endless.max_new_tokens = 20'000;
      const auto listener = std::make_shared<Listener>();
      const uint64_t frames = engine->stats().frames;
      CHECK(engine->Start(endless, listener) != 0);
      while (engine->stats().frames < frames + 3) std::this_thread::yield();
      if (is_cut) std::filesystem::resize_file(copy.path() + "/" + file, 4096);
      else std::fstream(copy.path() + "/" + file, std::ios::in | std::ios::out | std::ios::binary) << whole;
      const StreamEnd end = listener->AwaitEnd();
      CHECK_EQ(std::string(NameOf(end.outcome)), "lost");
      CHECK_EQ(end.problem.substr(0, copy.path().size() + 1 + std::strlen(file)), copy.path() + "/" + file);
      for (const float sample : listener->samples()) CHECK(std::isfinite(sample));
      CHECK_EQ(std::string(NameOf(Say(*engine, Drawn(3)).end.outcome)), "lost");
      CHECK(!Say(CustomVoice(), Drawn(1)).samples.empty());
    }
  }
}

// As downloaders do: the engine speaks on with the file that it has.
void AFileThatIsReplacedByRenamingChangesNothing() {
  CheckpointCopy copy("tiny-customvoice");
  copy.Write(kModelFile, copy.Read(kModelFile));
  const auto engine = OpenedEngine(copy.path());
  const std::vector<float> before = Say(*engine, Drawn(1)).samples;
  copy.Write("other", "another file");
  std::filesystem::rename(copy.path() + "/other", copy.path() + "/" + kModelFile);
  CHECK(Say(*engine, Drawn(1)).samples == before);
}

void AModelOfFewPositionsLoadsAndSpeaksWhatFits() {
  CheckpointCopy copy("tiny-customvoice");
  copy.Edit("config.json", "\"max_position_embeddings\": 32768", "\"max_position_embeddings\": 64");
  EngineOptions options;
  options.directory = copy.path();
  options.threads = 1;
  const auto engine = ValueOf(Engine::Open(options));
  SpeechRequest request = Drawn(1);
  request.text = "Hello.";
  request.max_new_tokens = 8;
  CHECK(!Say(*engine, request).samples.empty());
  request.text = std::string(200, '7');
  CHECK_EQ(ProblemOf(*engine, request).substr(0, 34), "too large: the prompt takes 211 po");
}

void SmallerFormatsSpeakToo() {
  const std::vector<float> exact = Say(CustomVoice(), Drawn(1)).samples;
  for (const char* const quantize : {"none", "int8-talker", "int8", "fp8"}) {
    EngineOptions options;
    options.quantize = quantize;
    options.codec_format = "f16";
    options.cache_format = "bf16";
    const auto engine = GoldenEngine("tiny-customvoice", options);
    const Said said = Say(*engine, Drawn(1));
    CHECK_EQ(said.samples.size(), exact.size());
    CHECK(said.samples != exact);
  }
}

void EveryGoldenRequestGivesItsWaveform() {
  CheckGoldenRequests([](const std::string& model) { return GoldenEngine(model); });
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_qwen) {
  using namespace parley::test;
  return Run({
      {"a seed gives the same sound and another another", ASeedGivesTheSameSoundAndAnotherAnother},
      {"company changes nothing", CompanyChangesNothing},
      {"text that comes in parts is spoken as the whole", TextThatComesInPartsIsSpokenAsTheWhole},
      {"text that is late parks the stream", TextThatIsLateParksTheStream},
      {"a voice is kept with its prefix and speaks the same", AVoiceIsKeptWithItsPrefixAndSpeaksTheSame},
      {"voices beyond the most are encoded again", VoicesBeyondTheMostAreEncodedAgain},
      {"what streams take is given back", WhatStreamsTakeIsGivenBack},
      {"many generations leave nothing behind", ManyGenerationsLeaveNothingBehind},
      {"a runaway is reported", ARunawayIsReported},
      {"requests that do not fit are refused by name", RequestsThatDoNotFitAreRefusedByName},
      {"recordings that cannot be used are refused by name", RecordingsThatCannotBeUsedAreRefusedByName},
      {"options that cannot be are refused by name", OptionsThatCannotBeAreRefusedByName},
      {"every kind of model warms up and says what it is", EveryKindOfModelWarmsUpAndSaysWhatItIs},
      {"a model of few positions loads and speaks what fits", AModelOfFewPositionsLoadsAndSpeaksWhatFits},
      {"smaller formats speak too", SmallerFormatsSpeakToo},
      {"a file that changes under an engine ends the engine alone",
       AFileThatChangesUnderAnEngineEndsTheEngineAlone},
      {"a file that is replaced by renaming changes nothing", AFileThatIsReplacedByRenamingChangesNothing},
      {"weights that are not finite are not loaded", WeightsThatAreNotFiniteAreNotLoaded},
      {"weights whose products overflow are not loaded", WeightsWhoseProductsOverflowAreNotLoaded},
      {"every golden request gives its waveform", EveryGoldenRequestGivesItsWaveform},
  });
}
