// Generations of Pocket TTS against the official package's, with its recorded noise: chunks, latents, ends
// and sound.
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "kernels/cpu/cpu_kernels.h"
#include "model/files/json.h"
#include "model/pocket/latent_decoder.h"
#include "model/pocket/pocket_model.h"
#include "test/golden_vectors.h"
#include "test/kernel_inputs.h"
#include "test/recorded_noise.h"

namespace parley::test {
namespace {

using namespace model;

using Values = std::vector<float>;

constexpr double kForced = 2e-5;                          // relative to the peak, with recorded latents
constexpr double kFreeLatents = 2e-3, kFreeAudio = 1e-3;  // with the recorded noise only
constexpr size_t kEvery = 8;                              // samples of the recorded audio
constexpr size_t kUnset = std::numeric_limits<size_t>::max();

const std::string kPocket = kGolden + "/pocket";

// A generation of the package, and how each of its chunks ended.
struct Case {
  const char *model, *name, *text, *voice;
  struct Ended {
    size_t frames, first_end;
  };
  std::vector<Ended> chunks;
  Activation activation = Activation::kGeluTanh;
  size_t flow_steps = 1;
  size_t max_tokens = kChunkIds;
  size_t frames_after_eos = kUnset;  // the request's
  PocketStreamOptions options = {};
};

const PocketStreamOptions kNoEnd{1e9f, false}, kContinued{kEndThreshold, true};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases{
      {"tiny-current", "short", "Hello world.", "mono24k", {{19, 14}}},
      {"tiny-current", "long", "Please hold the line, your call is important to us.", "mono24k", {{9, 6}}},
      {"tiny-current", "steps3", "What time is it?", "stereo16k", {{22, 17}}, Activation::kGeluTanh, 3},
      {"tiny-current",
       "noeos",
       "Good morning.",
       "mono24k",
       {{63, kUnset}},
       Activation::kGeluTanh,
       1,
       kChunkIds,
       kUnset,
       kNoEnd},
      {"tiny-current",
       "after0",
       "Turn left.",
       "stereo16k",
       {{11, 11}},
       Activation::kGeluTanh,
       1,
       kChunkIds,
       0},
      {"tiny-current", "temp0", "Wait for noon!", "mono24k", {{16, 11}}},
      {"tiny-current", "erf", "Hello world.", "mono24k", {{19, 14}}, Activation::kGelu},
      {"tiny-current",
       "chunks",
       "What time is it? It is ten past eight.",
       "mono24k",
       {{11, 6}, {35, 32}},
       Activation::kGeluTanh,
       1,
       12},
      {"tiny-first", "short", "Hola mundo", "mono24k", {{40, 32}}, Activation::kGelu},
      {"tiny-first",
       "long",
       "Das Wetter bleibt sch\u00F6n; wie bitte? Ja, nat\u00FCrlich!",
       "mono44k",
       {{28, 20}},
       Activation::kGelu},
      {"tiny-first", "after2", "Obrigado.", "mono24k", {{33, 31}}, Activation::kGelu, 1, kChunkIds, 2},
      {"tiny-first",
       "continued",
       "Uno, due, tre. Merci. \u00C7a va bien.",
       "mono24k",
       {{35, 27}, {24, 16}, {16, 8}},
       Activation::kGelu,
       1,
       8,
       kUnset,
       kContinued},
  };
  return cases;
}

const Case& CaseOf(const std::string& model, const std::string& name) {
  for (const Case& one : Cases()) {
    if (one.model == model && one.name == name) return one;
  }
  throw std::invalid_argument(name);
}

GoldenVectors VectorsOf(const Case& one) {
  return GoldenVectors(std::string(one.model) + "__gen_" + one.name, "pocket");
}

std::string Prefix(size_t chunk) { return "c" + std::to_string(chunk) + "_"; }

struct Opened {
  std::unique_ptr<const PocketCheckpoint> checkpoint;
  std::unique_ptr<cpu::CpuKernels> kernels;
  std::unique_ptr<PocketModel> model;
  std::unique_ptr<LatentDecoder> decoder;

  explicit Opened(const std::string& folder, Activation activation = Activation::kGeluTanh,
                  size_t flow_steps = 1)
      : kernels(MakeKernels(cpu::ChooseVariant(), 2)) {
    std::string problem;
    checkpoint = PocketCheckpoint::Open(kPocket + "/" + folder, &problem);
    CHECK_EQ(problem, "");
    PocketModelOptions options;
    options.activation = activation;
    options.flow_steps = flow_steps;
    model = std::make_unique<PocketModel>(*kernels, *checkpoint, options);
    decoder = std::make_unique<LatentDecoder>(*kernels, *checkpoint, activation);
  }
  explicit Opened(const Case& one) : Opened(one.model, one.activation, one.flow_steps) {}

  std::shared_ptr<const KvState> VoiceOf(const std::string& name) const {
    std::string problem;
    const std::string folder = kPocket + "/" + (model->latent() == 12 ? "tiny-current" : "tiny-first");
    const auto voice = PocketVoice::Open(folder + "/embeddings/" + name + ".safetensors",
                                         checkpoint->config().backbone, &problem);
    CHECK_EQ(problem, "");
    return model->LoadVoice(*voice);
  }

  std::vector<TextChunk> ChunksOf(const Case& one) const {
    PocketTextConfig config = checkpoint->config().text;
    config.rules = std::string(one.model) == "tiny-first" ? PocketRules::k21 : PocketRules::k33;
    auto chunks = model::ChunksOf(one.text, checkpoint->pieces(), config, one.max_tokens);
    for (TextChunk& chunk : chunks) {
      if (one.frames_after_eos != kUnset) chunk.frames_after_eos = one.frames_after_eos;
    }
    return chunks;
  }
};

struct Spoken {
  std::vector<Values> latents;  // of each chunk
  std::vector<Case::Ended> ends;
  Values audio;
  LatentResult last = LatentResult::kFrame;
};

// Speaks one chunk, and decodes each latent at once.
void SpeakChunk(const Opened& opened, PocketStream* stream, Spoken* spoken) {
  opened.model->Prefill(&stream, 1);
  const auto codec = opened.decoder->NewState();
  Values latents, latent(opened.model->latent());
  for (;;) {
    opened.model->Step(&stream, 1, &spoken->last, latent.data());
    if (spoken->last != LatentResult::kFrame) break;
    latents.insert(latents.end(), latent.begin(), latent.end());
    const size_t at = spoken->audio.size();
    spoken->audio.resize(at + opened.decoder->frame_samples());
    const LatentDecoder::Job job{codec.get(), latent.data(), 1, spoken->audio.data() + at};
    opened.decoder->Decode(&job, 1);
  }
  spoken->latents.push_back(latents);
  spoken->ends.push_back({stream->frames(), stream->rule().first_end().value_or(kUnset)});
}

std::unique_ptr<PocketStream> StreamOf(const Opened& opened, const Case& one) {
  return opened.model->BeginStream(*opened.VoiceOf(one.voice), 500, one.options);
}

std::shared_ptr<const Noise> NoiseOf(const Case& one, size_t chunk) {
  return std::make_shared<RecordedNoise>(VectorsOf(one).Read(Prefix(chunk) + "noise"));
}

Spoken Speak(const Opened& opened, const Case& one) {
  const auto stream = StreamOf(opened, one);
  Spoken spoken;
  const auto chunks = opened.ChunksOf(one);
  for (size_t n = 0; n < chunks.size(); n++) {
    stream->BeginChunk(chunks[n], NoiseOf(one, n));
    SpeakChunk(opened, stream.get(), &spoken);
  }
  return spoken;
}

Values FirstOf(const Values& values, size_t count) {
  return Values(values.begin(), values.begin() + static_cast<ptrdiff_t>(count));
}

void SpeechIsThatOfThePackage() {
  for (const Case& one : Cases()) {
    const Opened opened(one);
    const GoldenVectors golden = VectorsOf(one);
    const Spoken spoken = Speak(opened, one);
    CHECK_EQ(spoken.ends.size(), one.chunks.size());
    const auto chunks = opened.ChunksOf(one);
    for (size_t n = 0; n < one.chunks.size(); n++) {
      CHECK(chunks[n].ids == golden.Read<int32_t>(Prefix(n) + "ids"));
      CHECK_EQ(spoken.ends[n].frames, one.chunks[n].frames);
      CHECK_EQ(spoken.ends[n].first_end, one.chunks[n].first_end);
      const Values& latents = spoken.latents[n];
      CHECK(PeakError(latents, FirstOf(golden.Read(Prefix(n) + "latents"), latents.size())) < kFreeLatents);
    }
    CHECK(spoken.last == (one.options.end_threshold > 0 ? LatentResult::kBudget : LatentResult::kEnd));
    const bool has_audio = golden.Has("audio") || golden.Has("audio_every_8th");
    if (!has_audio) continue;
    Values seen;
    for (size_t n = 0; n < spoken.audio.size(); n += kEvery) seen.push_back(spoken.audio[n]);
    CHECK(golden.Has("audio") ? PeakError(spoken.audio, golden.Read("audio")) < kFreeAudio
                              : PeakError(seen, golden.Read("audio_every_8th")) < kFreeAudio);
  }
}

// Feeds the recorded latents: nothing that one step rounds reaches the next.
double ForcedError(const Case& one, Activation activation) {
  const Opened opened(one.model, activation, one.flow_steps);
  const GoldenVectors golden = VectorsOf(one);
  FlowNet flow(*opened.kernels, *opened.checkpoint, one.flow_steps);
  Backbone& backbone = opened.model->backbone();
  const auto voice = opened.VoiceOf(one.voice);
  const auto state = backbone.NewState(500, Format::kF32);
  state->CopyFrom(*voice, voice->position());
  KvState* const states[] = {state.get()};
  Values hidden(backbone.width());
  double worst = 0;
  for (size_t n = 0; n < one.chunks.size(); n++) {
    if (!one.options.continues) state->Rewind(voice->position());
    const auto ids = golden.Read<int32_t>(Prefix(n) + "ids");
    const Values recorded = golden.Read(Prefix(n) + "latents");
    Values made = golden.Read(Prefix(n) + "noise"), eos(made.size() / opened.model->latent());
    const Transformer::Stream text{state.get(), ids.size()};
    backbone.AppendText(&text, 1, ids);
    for (size_t step = 0; step < eos.size(); step++) {
      const size_t latent = opened.model->latent();
      const float* const last = step > 0 ? recorded.data() + (step - 1) * latent : backbone.BosLatent();
      backbone.Step(states, 1, last, hidden.data(), &eos[step]);
      flow.Sample(hidden.data(), 1, made.data() + step * latent);
    }
    worst = std::max({worst, PeakError(eos, golden.Read(Prefix(n) + "eos")), PeakError(made, recorded)});
  }
  return worst;
}

void StepsAreThoseOfThePackage() {
  for (const Case& one : Cases()) CHECK(ForcedError(one, one.activation) < kForced);
}

void TheFormOfGeluMatters() {
  CHECK(ForcedError(CaseOf("tiny-current", "erf"), Activation::kGeluTanh) > kForced);
  CHECK(ForcedError(CaseOf("tiny-current", "short"), Activation::kGelu) > kForced);
}

size_t FramesBy(const EndLimits& limits, Json ends) {
  EndRule rule(limits);
  Json end = ends.first();
  while (!rule.Ended() && rule.Take(end.integer().value_or(0) == 1)) end = end.next();
  return rule.frames();
}

void EndsAreThoseOfTheTable() {
  std::string problem;
  const auto table = JsonDocument::Parse(ReadAll(kPocket + "/end_rule.json"), &problem);
  CHECK_EQ(problem, "");
  size_t rows = 0;
  for (Json row = table->root().first(); row.present(); row = row.next(), rows++) {
    const auto whole = [&](const char* key) {
      return static_cast<size_t>(row.Find(key).integer().value_or(-1));
    };
    const EndLimits older{0, whole("frames_after_eos"), whole("max_frames")};
    const EndLimits newer{6, whole("frames_after_eos"), whole("max_frames")};
    CHECK_EQ(FramesBy(older, row.Find("eos")), whole("2.1"));
    CHECK_EQ(FramesBy(newer, row.Find("eos")), whole("3.3"));
  }
  CHECK_EQ(rows, size_t{28});
}

void AnEarlyEndCountsSinceStepSix() {
  const Opened opened("tiny-current");
  const Case& one = CaseOf("tiny-current", "short");
  PocketTextConfig config;
  const auto newer = ChunksOf(one.text, opened.checkpoint->pieces(), config);
  config.rules = PocketRules::k21;
  const auto older = ChunksOf(one.text, opened.checkpoint->pieces(), config);
  CHECK_EQ(newer[0].earliest_end, size_t{6});
  CHECK_EQ(older[0].earliest_end, size_t{0});
  const auto stream = opened.model->BeginStream(*opened.VoiceOf(one.voice), 500, {-1e9f, false});
  for (const auto& [chunk, frames] : {std::pair(newer[0], size_t{11}), std::pair(older[0], size_t{5})}) {
    stream->BeginChunk(chunk, NoiseOf(one, 0));
    Spoken spoken;
    SpeakChunk(opened, stream.get(), &spoken);
    CHECK_EQ(spoken.ends[0].frames, frames);
  }
}

void EachChunkBeginsWithTheVoice() {
  const Opened opened("tiny-current");
  const Case& one = CaseOf("tiny-current", "chunks");
  const Spoken both = Speak(opened, one);
  const auto stream = StreamOf(opened, one);
  Spoken second;
  stream->BeginChunk(opened.ChunksOf(one)[1], NoiseOf(one, 1));
  SpeakChunk(opened, stream.get(), &second);
  CHECK(second.latents[0] == both.latents[1]);
  const size_t first = both.ends[0].frames * opened.decoder->frame_samples();
  CHECK(second.audio == Values(both.audio.begin() + static_cast<ptrdiff_t>(first), both.audio.end()));
}

void SoundIsThatOfAllLatentsAtOnce() {
  const Opened opened("tiny-current");
  const Spoken streamed = Speak(opened, CaseOf("tiny-current", "short"));
  Values whole(streamed.audio.size());
  const auto codec = opened.decoder->NewState();
  const LatentDecoder::Job job{codec.get(), streamed.latents[0].data(), streamed.ends[0].frames,
                               whole.data()};
  opened.decoder->Decode(&job, 1);
  CHECK(streamed.audio == whole);
}

// Streams that begin at different times, with texts that are computed in odd pieces.
void BatchedIsAlone() {
  const Opened opened("tiny-current");
  const std::array<const char*, 4> names{"short", "long", "after0", "temp0"};
  std::vector<std::unique_ptr<PocketStream>> streams;
  std::vector<Values> together(names.size());
  std::vector<PocketStream*> live;
  std::vector<size_t> of;  // the case of each live stream
  Values latents(names.size() * opened.model->latent());
  for (size_t n = 0; n < names.size() || !live.empty();) {
    if (n < names.size()) {
      const Case& one = CaseOf("tiny-current", names[n]);
      streams.push_back(StreamOf(opened, one));
      streams[n]->BeginChunk(opened.ChunksOf(one)[0], NoiseOf(one, 0));
      live.push_back(streams[n].get());
      of.push_back(n++);
    }
    while (live.back()->prompt_left() > 0) opened.model->Prefill(live.data(), live.size(), 3);
    std::vector<LatentResult> results(live.size());
    opened.model->Step(live.data(), live.size(), results.data(), latents.data());
    for (size_t i = live.size(); i-- > 0;) {
      const float* const latent = latents.data() + i * opened.model->latent();
      if (results[i] == LatentResult::kFrame) {
        together[of[i]].insert(together[of[i]].end(), latent, latent + opened.model->latent());
      } else {
        live.erase(live.begin() + static_cast<ptrdiff_t>(i));
        of.erase(of.begin() + static_cast<ptrdiff_t>(i));
      }
    }
  }
  for (size_t n = 0; n < names.size(); n++)
    CHECK(together[n] == Speak(opened, CaseOf("tiny-current", names[n])).latents[0]);
}

void TemperatureIsAVariance() {
  constexpr size_t kSteps = 2000, kWidth = 15;
  const DrawnNoise noise(0.49f, 7, 0);
  double sum = 0, squares = 0, fourth = 0;
  for (size_t step = 0; step < kSteps; step++) {
    Values x(kWidth);
    noise.Draw(step, x.data(), kWidth);
    for (const float value : x) {
      sum += value;
      squares += value * value;
      fourth += std::pow(value, 4);
    }
  }
  constexpr double kCount = kSteps * kWidth;
  CHECK(std::fabs(sum / kCount) < 0.02);
  CHECK(std::fabs(squares / kCount - 0.49) < 0.02);
  CHECK(std::fabs(fourth / kCount - 3 * 0.49 * 0.49) < 0.05);  // as a normal distribution has it
}

Values Drawn(const DrawnNoise& noise, size_t step) {
  Values x(12);
  noise.Draw(step, x.data(), x.size());
  return x;
}

void NoiseFollowsItsSeed() {
  const DrawnNoise noise(0.3f, 1, 0);
  CHECK(Drawn(noise, 5) == Drawn(DrawnNoise(0.3f, 1, 0), 5));
  CHECK(Drawn(noise, 5) != Drawn(noise, 6));
  CHECK(Drawn(noise, 5) != Drawn(DrawnNoise(0.3f, 2, 0), 5));
  CHECK(Drawn(noise, 5) != Drawn(DrawnNoise(0.3f, 1, 1), 5));
  CHECK(Drawn(DrawnNoise(0, 1, 0), 5) == Values(12, 0.0f));
  for (const float wrong : {-0.1f, 100.5f, std::nanf("")}) {
    CHECK_EQ(RefusalOf([&] { DrawnNoise(wrong, 1, 0); }),
             "temperature must be 0 to 100, not " + std::to_string(wrong));
  }
}

template <class Call>
std::string MistakeOf(Call&& call) {
  try {
    call();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "none";
}

void AStreamIsUsedInItsOrder() {
  const Opened opened("tiny-current");
  const Case& one = CaseOf("tiny-current", "short");
  const TextChunk chunk = opened.ChunksOf(one)[0];
  const auto stream = opened.model->BeginStream(*opened.VoiceOf(one.voice), PocketStream::PositionsOf(chunk));
  PocketStream* const streams[] = {stream.get()};
  LatentResult result;
  Values latent(12);
  const auto step = [&] { opened.model->Step(streams, 1, &result, latent.data()); };
  CHECK_EQ(MistakeOf(step), "a stream cannot step before its chunk began");
  CHECK_EQ(MistakeOf([&] { stream->BeginChunk({}, NoiseOf(one, 0)); }), "a chunk needs one id or more");
  CHECK_EQ(MistakeOf([&] { stream->BeginChunk(chunk, nullptr); }), "a chunk needs noise");
  TextChunk longer = chunk;
  longer.max_frames++;
  CHECK_EQ(MistakeOf([&] { stream->BeginChunk(longer, NoiseOf(one, 0)); }),
           "a chunk needs 57 positions; the stream has room for 56");
  stream->BeginChunk(chunk, NoiseOf(one, 0));
  CHECK_EQ(MistakeOf(step), "a stream cannot step before its text was computed");
  opened.model->Prefill(streams, 1);
  do {
    step();
  } while (result == LatentResult::kFrame);
  step();  // nothing is computed any more
  CHECK(result == LatentResult::kEnd);
  CHECK_EQ(stream->frames(), size_t{19});
}

// A file with one tensor.
void WriteTensor(const std::string& path, const std::string& name, const std::string& shape,
                 const Values& values) {
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  std::string header = "{\"" + name + "\":{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[0," +
                       std::to_string(bytes.size()) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  WriteAll(path, std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + bytes);
}

// As the first release has its voices: the rows are those that the published state was made of.
void RowsOfAVoiceSpeakAsItsState() {
  const Opened opened("tiny-current");
  const TempFolder folder;
  const std::string path = folder / "voice.safetensors";
  Values rows = GoldenVectors("tiny-current__voice_tiny24k", "pocket").Read("layer_in");
  const std::string positions = std::to_string(rows.size() / 64);
  const auto read = [&](const std::string& shape, std::string* problem) {
    WriteTensor(path, "audio_prompt", shape, rows);
    return PocketVoice::Open(path, opened.checkpoint->config().backbone, problem);
  };
  std::string problem;
  const auto voice = read("[1," + positions + ",64]", &problem);
  CHECK_EQ(problem, "");
  const Case& one = CaseOf("tiny-current", "short");
  Spoken of[2];
  for (const size_t n : {0, 1}) {
    const auto state = n == 0 ? opened.model->LoadVoice(*voice) : opened.VoiceOf("tiny24k");
    const auto stream = opened.model->BeginStream(*state, 100, kNoEnd);
    TextChunk chunk = opened.ChunksOf(one)[0];
    chunk.max_frames = 5;
    stream->BeginChunk(chunk, NoiseOf(one, 0));
    SpeakChunk(opened, stream.get(), &of[n]);
  }
  CHECK(PeakError(of[0].latents[0], of[1].latents[0]) < kFreeLatents);
  CHECK_EQ(MistakeOf([&] { voice->CopyTo(*opened.kernels, nullptr); }),
           "the backbone has not seen the rows of this voice");
  CHECK(read("[1,64," + positions + "]", &problem) == nullptr);
  CHECK_EQ(problem, path +
                        ": audio_prompt: expected F32 [1, 1 to 4096, 64]: this may be a voice of another "
                        "model");
  rows[7] = NAN;
  CHECK(read("[1," + positions + ",64]", &problem) == nullptr);
  CHECK_EQ(problem, path + ": audio_prompt: expected finite numbers");
}

void WhatIsNoNumberEndsItsStreamOnly() {
  const Opened opened("tiny-current");
  const Case& one = CaseOf("tiny-current", "short");
  const auto good = StreamOf(opened, one), bad = StreamOf(opened, one);
  good->BeginChunk(opened.ChunksOf(one)[0], NoiseOf(one, 0));
  bad->BeginChunk(opened.ChunksOf(one)[0], std::make_shared<RecordedNoise>(Values(240, std::nanf(""))));
  PocketStream* const both[] = {bad.get(), good.get()};
  opened.model->Prefill(both, 2);
  Values latents(24), seen;
  LatentResult results[2];
  for (size_t n = 0; n < 19; n++) {
    opened.model->Step(both, 2, results, latents.data());
    CHECK(results[0] == LatentResult::kBroken);
    CHECK(results[1] == LatentResult::kFrame);
    seen.insert(seen.end(), latents.begin() + 12, latents.end());
  }
  CHECK(seen == Speak(opened, one).latents[0]);
}

}  // namespace

TEST_GROUP(pocket_generation) {
  return Run({
      {"speech is that of the package", SpeechIsThatOfThePackage},
      {"steps are those of the package", StepsAreThoseOfThePackage},
      {"the form of GELU matters", TheFormOfGeluMatters},
      {"ends are those of the table", EndsAreThoseOfTheTable},
      {"an early end counts since step six", AnEarlyEndCountsSinceStepSix},
      {"each chunk begins with the voice", EachChunkBeginsWithTheVoice},
      {"sound is that of all latents at once", SoundIsThatOfAllLatentsAtOnce},
      {"batched is alone", BatchedIsAlone},
      {"temperature is a variance", TemperatureIsAVariance},
      {"noise follows its seed", NoiseFollowsItsSeed},
      {"a stream is used in its order", AStreamIsUsedInItsOrder},
      {"rows of a voice speak as its state", RowsOfAVoiceSpeakAsItsState},
      {"what is no number ends its stream only", WhatIsNoNumberEndsItsStreamOnly},
  });
}

}  // namespace parley::test
