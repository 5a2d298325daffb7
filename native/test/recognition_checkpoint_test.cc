// Checks that the checkpoints of recogniser and aligner open, and that every defect is refused with a text
// that names file, key or tensor, expected and found value.
#include "model/recognition/recognition_checkpoint.h"

#include "model/speech/speech_checkpoint.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"
#include "test/recognition_golden.h"
#include "tools/checkpoint_writer.h"
#include "tools/recognition_writer.h"

namespace parley {
namespace {

using namespace model;
using test::CheckpointCopy;
using test::OpenedRecognition;

constexpr RecognitionKind kRecogniser = RecognitionKind::kRecogniser;
constexpr RecognitionKind kAligner = RecognitionKind::kAligner;

// The problem, without the folder that it begins with.
std::string ProblemOf(const CheckpointCopy& copy, RecognitionKind kind = kRecogniser) {
  std::string problem;
  CHECK(RecognitionCheckpoint::Open(copy.path(), kind, &problem) == nullptr);
  CHECK_EQ(problem.substr(0, copy.path().size() + 1), copy.path() + "/");
  return problem.substr(std::min(problem.size(), copy.path().size() + 1));
}

struct Golden {
  const char* name;
  RecognitionKind kind;
};
constexpr Golden kGoldens[] = {
    {"tiny-asr-a", kRecogniser}, {"tiny-asr-b", kRecogniser}, {"tiny-aligner", kAligner}};

void ConfigurationsAreRead() {
  const auto a = test::OpenRecognition("tiny-asr-a");
  const RecognitionConfig& config = a->config();
  CHECK_EQ(config.encoder.transformer.head_dim, 12);
  CHECK_EQ(config.encoder.block_tokens, 104);
  CHECK_EQ(config.encoder.bands_left(), 16);
  CHECK_EQ(config.encoder.output, 64);
  CHECK_EQ(config.decoder.query_width(), 96);
  CHECK_EQ(config.decoder.rope_theta, 1e6);
  CHECK(config.tied_head && config.head_rows == 576 && config.positions == 65536);
  CHECK_EQ(config.audio_pad, 503);
  CHECK_EQ(config.timestamp, -1);
  CHECK_EQ(config.languages.size(), size_t{30});
  CHECK_EQ(config.languages.front(), "Chinese");
  CHECK((a->ends() == std::vector<int32_t>{472, 470}));
  CHECK(!test::OpenRecognition("tiny-asr-b")->config().tied_head);

  const auto aligner = test::OpenRecognition("tiny-aligner", kAligner);
  CHECK_EQ(aligner->config().head_rows, 420);
  CHECK_EQ(aligner->config().timestamp, 512);
  CHECK_EQ(aligner->config().class_milliseconds, 80);
  CHECK(aligner->ends().empty());
}

void PublishedSizesAreMetToTheByte() {
  const struct {
    const char* size;
    RecognitionKind kind;
    size_t tensors;
    uint64_t bytes;
  } published[] = {
      {"0.6b", kRecogniser, 612, 1'876'017'152},
      {"1.7b", kRecogniser, 708, 4'698'434'816},
      {"0.6b", kAligner, 708, 1'835'457'792},
  };
  for (const auto& one : published) {
    const tools::RecognitionPlan plan = PlanOf(tools::RecognitionSizesNamed(one.size, one.kind));
    CHECK_EQ(plan.tensors.size(), one.tensors);
    CHECK_EQ(tools::BytesOf(plan.tensors), one.bytes);
  }
}

int64_t IdOf(Json tokens, std::string_view literal) {
  for (Json one = tokens.first(); one.present(); one = one.next())
    if (one.Find("content").text() == literal) return std::stoll(std::string(one.key()));
  return -1;
}

void PublishedIdsStandInThePlans() {
  for (const RecognitionKind kind : {kRecogniser, kAligner}) {
    const tools::RecognitionPlan plan = PlanOf(tools::RecognitionSizesNamed("0.6b", kind));
    std::string problem;
    const auto model = JsonDocument::Parse(plan.model_config, &problem);
    const auto tokenizer = JsonDocument::Parse(plan.tokenizer_config, &problem);
    const RecognitionConfig config =
        ReadRecognitionConfig(ConfigReader("config.json", model->root(), &problem));
    CHECK_EQ(problem, "");
    CHECK_EQ(config.audio_pad, 151676);
    CHECK_EQ(config.audio_start, 151669);
    CHECK_EQ(config.audio_end, 151670);
    CHECK_EQ(config.timestamp, kind == kAligner ? 151705 : -1);
    const Json tokens = tokenizer->root().Find("added_tokens_decoder");
    CHECK_EQ(IdOf(tokens, "<|audio_pad|>"), 151676);
    CHECK_EQ(IdOf(tokens, "<|audio_start|>"), 151669);
    CHECK_EQ(IdOf(tokens, "<|audio_end|>"), 151670);
    CHECK_EQ(IdOf(tokens, "<asr_text>"), 151704);
    CHECK_EQ(IdOf(tokens, "<timestamp>"), kind == kAligner ? 151705 : -1);
    CHECK_EQ(IdOf(tokens, "<|endoftext|>"), 151643);
    CHECK_EQ(IdOf(tokens, "<|im_end|>"), 151645);
  }
}

// --- config.json, key by key

constexpr char kThinker[] = "thinker_config.", kAudio[] = "thinker_config.audio_config.",
               kText[] = "thinker_config.text_config.";

// A key that has to be there, its value in the golden checkpoint, and values that are out of its range.
struct Key {
  const char* object;
  const char* key;
  const char* value;
  const char* expected;
  std::vector<const char*> out_of_range;
};

constexpr char kWidth[] = "a whole number from 1 to 65536";
constexpr char kLayers[] = "a whole number from 1 to 512";
constexpr char kHeads[] = "a whole number from 1 to 1024";
constexpr char kMillion[] = "a whole number from 1 to 1048576";
constexpr char kPositions[] = "a whole number from 1 to 16777216";

const Key kRecogniserKeys[] = {
    {kAudio, "d_model", "48", "a whole number from 4 to 65536", {"3", "65537", "-48"}},
    {kAudio, "encoder_ffn_dim", "112", kWidth, {"0", "65537"}},
    {kAudio, "encoder_layers", "3", kLayers, {"0", "513"}},
    {kAudio, "encoder_attention_heads", "4", kHeads, {"0", "1025"}},
    {kAudio, "num_mel_bins", "128", kHeads, {"0", "1025"}},
    {kAudio, "downsample_hidden_size", "20", kWidth, {"0", "65537"}},
    {kAudio, "output_dim", "64", kWidth, {"0", "65537"}},
    {kAudio, "n_window_infer", "800", "a whole number from 100 to 30000", {"99", "30001", "16777216"}},
    {kText, "hidden_size", "64", kWidth, {"0", "65537"}},
    {kText, "intermediate_size", "144", kWidth, {"0", "65537"}},
    {kText, "num_hidden_layers", "3", kLayers, {"0", "513"}},
    {kText, "num_attention_heads", "6", kHeads, {"0", "1025"}},
    {kText, "num_key_value_heads", "2", kHeads, {"0", "1025"}},
    {kText, "head_dim", "16", "a whole number from 2 to 1024", {"1", "1025"}},
    {kText, "vocab_size", "576", kMillion, {"0", "1048577", "9223372036854775807"}},
    {kText, "max_position_embeddings", "65536", kPositions, {"0", "16777217"}},
    {kThinker, "audio_token_id", "503", "a whole number from 0 to 575", {"-1", "576"}},
    {kThinker, "audio_start_token_id", "496", "a whole number from 0 to 575", {"-1", "576"}},
    {kThinker, "audio_end_token_id", "497", "a whole number from 0 to 575", {"-1", "576"}},
};

const Key kAlignerKeys[] = {
    {kThinker, "classify_num", "420", kMillion, {"0", "1048577"}},
    {"", "timestamp_token_id", "512", "a whole number from 0 to 543", {"-1", "544"}},
    {"", "timestamp_segment_time", "80", "a whole number from 1 to 10000", {"0", "10001"}},
};

const Key kRealKeys[] = {
    {kText, "rms_norm_eps", "1e-06", "a number from 1e-12 to 0.1", {"0", "1", "-1"}},
    {kText, "rope_theta", "1000000", "a number from 1 to 1e+12", {"0", "-5", "10000000000000"}},
};

// `from` becomes `to` in the text config, which holds keys of the audio config as well, or anywhere else.
void EditConfig(CheckpointCopy* copy, const std::string& object, const std::string& from,
                const std::string& to) {
  std::string text = copy->Read("config.json");
  const size_t at = text.find(from, object == kText ? text.find("\"text_config\"") : 0);
  CHECK(at != std::string::npos);
  if (at != std::string::npos) copy->Write("config.json", text.replace(at, from.size(), to));
}

void CheckKey(const char* golden, RecognitionKind kind, const Key& key, std::vector<const char*> misfits) {
  const std::string name = std::string("\"") + key.key + "\": ",
                    expected = "config.json: " + std::string(key.object) + key.key + ": expected " +
                               key.expected + ", found ";
  CheckpointCopy missing(golden);
  EditConfig(&missing, key.object, name + key.value, std::string("\"unknown\": ") + key.value);
  CHECK_EQ(ProblemOf(missing, kind), expected + "nothing");
  misfits.insert(misfits.end(), {"null", "true", "\"12\"", "[1]"});
  misfits.insert(misfits.end(), key.out_of_range.begin(), key.out_of_range.end());
  for (const char* const value : misfits) {
    CheckpointCopy copy(golden);
    EditConfig(&copy, key.object, name + key.value, name + value);
    CHECK_EQ(ProblemOf(copy, kind), expected + value);
  }
}

void EachKeyMissingMistypedOrOutOfRangeIsNamed() {
  for (const Key& key : kRecogniserKeys) CheckKey("tiny-asr-a", kRecogniser, key, {"1.5"});
  for (const Key& key : kAlignerKeys) CheckKey("tiny-aligner", kAligner, key, {"1.5"});
  for (const Key& key : kRealKeys) CheckKey("tiny-asr-a", kRecogniser, key, {});
}

// A file and a part of it, what is put in its place, and the problem.
struct Misfit {
  const char* file;
  const char* from;
  const char* to;
  const char* problem;
};

const Misfit kRecogniserMisfits[] = {
    {"config.json", "\"model_type\": \"qwen3_asr\"", "\"model_type\": \"qwen3_asq\"",
     "config.json: model_type: expected \"qwen3_asr\", the only one supported, found \"qwen3_asq\""},
    {"config.json", "\"thinker_config\"", "\"talker_config\"",
     "config.json: thinker_config: expected an object: the configuration of Qwen3-ASR or Qwen3-ForcedAligner, found nothing"},
    {"config.json", "\"thinker_config\": {", "\"thinker_config\": 7, \"old\": {",
     "config.json: thinker_config: expected an object, found 7"},
    {"config.json", "0.02,\n    \"model_type\": \"qwen3_asr\"", "0.02,\n    \"model_type\": \"qwen3_omni\"",
     "config.json: thinker_config.model_type: expected \"qwen3_asr\" or \"qwen3_forced_aligner\", found \"qwen3_omni\""},
    {"config.json", "\"audio_config\"", "\"vision_config\"",
     "config.json: thinker_config.audio_config: expected an object, found nothing"},
    {"config.json", "\"text_config\"", "\"texts_config\"",
     "config.json: thinker_config.text_config: expected an object, found nothing"},
    {"config.json", "\"d_model\": 48", "\"d_model\": 47",
     "config.json: thinker_config.audio_config.d_model: expected an even number, found 47"},
    {"config.json", "\"encoder_attention_heads\": 4", "\"encoder_attention_heads\": 5",
     "config.json: thinker_config.audio_config.encoder_attention_heads: expected a divisor of d_model, which is 48, found 5"},
    {"config.json", "\"output_dim\": 64", "\"output_dim\": 63",
     "config.json: thinker_config.audio_config.output_dim: expected the decoder's hidden_size, 64, found 63"},
    {"config.json", "\"n_window\": 50", "\"n_window\": 100",
     "config.json: thinker_config.audio_config.n_window: expected 50, the only one supported, found 100"},
    {"config.json", "\"activation_function\": \"gelu\"", "\"activation_function\": \"relu\"",
     "config.json: thinker_config.audio_config.activation_function: expected \"gelu\", the only one supported, found \"relu\""},
    {"config.json", "\"scale_embedding\": false", "\"scale_embedding\": true",
     "config.json: thinker_config.audio_config.scale_embedding: expected false, the only one supported, found true"},
    {"config.json", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 4",
     "config.json: thinker_config.text_config.num_key_value_heads: expected a divisor of num_attention_heads, which is 6, found 4"},
    {"config.json", "\"head_dim\": 16", "\"head_dim\": 15",
     "config.json: thinker_config.text_config.head_dim: expected an even number, found 15"},
    {"config.json", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"",
     "config.json: thinker_config.text_config.hidden_act: expected \"silu\", the only one supported, found \"gelu\""},
    {"config.json", "\"attention_bias\": false", "\"attention_bias\": true",
     "config.json: thinker_config.text_config.attention_bias: expected false, the only one supported, found true"},
    {"config.json", "\"use_cache\": true", "\"sliding_window\": 4096",
     "config.json: thinker_config.text_config.sliding_window: expected null, the only one supported, found 4096"},
    {"config.json", "\"rope_type\": \"default\"", "\"rope_type\": \"yarn\"",
     "config.json: thinker_config.text_config.rope_scaling.rope_type: expected \"default\", the only one supported, found \"yarn\""},
    {"config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": 1",
     "config.json: thinker_config.text_config.tie_word_embeddings: expected true or false, found 1"},
    {"config.json", "\"tie_word_embeddings\": true", "\"tied\": true",
     "config.json: thinker_config.text_config.tie_word_embeddings: expected true or false, found nothing"},
    {"config.json", "\"support_languages\"", "\"languages\"",
     "config.json: support_languages: expected a list of names, found nothing"},
    {"config.json", "\"support_languages\": [", "\"support_languages\": [], \"others\": [",
     "config.json: support_languages: expected a list of names, found []"},
    {"config.json", "\"support_languages\": [", "\"support_languages\": {\"a\": \"b\"}, \"others\": [",
     "config.json: support_languages: expected a list of names, found an object"},
    {"config.json", "\"support_languages\": [", "\"support_languages\": [\"\"], \"others\": [",
     "config.json: support_languages: expected names of 1 to 64 bytes, found [\"\"]"},
    {"config.json", "\"support_languages\": [", "\"support_languages\": [5], \"others\": [",
     "config.json: support_languages: expected names of 1 to 64 bytes, found [5]"},
    {"config.json", "{", "[", "config.json: line 2, column 18: expected ',' or ']'"},
    {"preprocessor_config.json", "\"feature_size\": 128", "\"feature_size\": 80",
     "preprocessor_config.json: feature_size: expected 128, the only one supported, found 80"},
    {"preprocessor_config.json", "\"hop_length\": 160", "\"hop_length\": \"160\"",
     "preprocessor_config.json: hop_length: expected 160, the only one supported, found \"160\""},
    {"preprocessor_config.json", "\"n_fft\": 400", "\"n_fft\": 512",
     "preprocessor_config.json: n_fft: expected 400, the only one supported, found 512"},
    {"preprocessor_config.json", "{", "{\"sampling_rate\": 8000,",
     "preprocessor_config.json: sampling_rate: expected 16000, the only one supported, found 8000"},
    {"preprocessor_config.json", "\"dither\": 0.0", "\"dither\": 0.1",
     "preprocessor_config.json: dither: expected 0, the only one supported, found 0.1"},
    {"config.json", "\"audio_token_id\": 503", "\"audio_token_id\": 472",
     "config.json: thinker_config.audio_token_id: expected the id of \"<|audio_pad|>\" in tokenizer_config.json, found 472, which is \"<|im_end|>\""},
    {"config.json", "\"audio_start_token_id\": 496", "\"audio_start_token_id\": 497",
     "config.json: thinker_config.audio_start_token_id: expected the id of \"<|audio_start|>\" in tokenizer_config.json, found 497, which is \"<|audio_end|>\""},
    {"config.json", "\"audio_end_token_id\": 497", "\"audio_end_token_id\": 7",
     "config.json: thinker_config.audio_end_token_id: expected the id of \"<|audio_end|>\" in tokenizer_config.json, found 7, which is no added token"},
    {"tokenizer_config.json", "\"content\": \"<asr_text>\"", "\"content\": \"<asr_test>\"",
     "tokenizer_config.json: added_tokens_decoder: lacks \"<asr_text>\""},
    {"tokenizer_config.json", "\"content\": \"<|im_start|>\"", "\"content\": \"<|im_begin|>\"",
     "tokenizer_config.json: added_tokens_decoder: lacks \"<|im_start|>\""},
    {"tokenizer_config.json", "\"content\": \"<|im_end|>\"", "\"content\": \"<|im_stop|>\"",
     "tokenizer_config.json: added_tokens_decoder: lacks \"<|im_end|>\""},
    {"tokenizer_config.json", "\"content\": \"<|endoftext|>\"", "\"content\": \"<|end|>\"",
     "tokenizer_config.json: added_tokens_decoder: lacks \"<|endoftext|>\""},
    {"tokenizer_config.json", "\"added_tokens_decoder\"", "\"added\"",
     "tokenizer_config.json: added_tokens_decoder: expected an object, found nothing"},
    {"vocab.json", "\"!\": 0", "\"!!\": 0", "vocab.json: lacks a symbol for the byte 33"},
};

const Misfit kAlignerMisfits[] = {
    {"config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true",
     "config.json: thinker_config.text_config.tie_word_embeddings: expected false: an aligner's head has classes of time, found true"},
    {"config.json", "\"timestamp_token_id\": 512", "\"timestamp_token_id\": 511",
     "config.json: timestamp_token_id: expected the id of \"<timestamp>\" in tokenizer_config.json, found 511, which is \"<asr_text>\""},
    {"tokenizer_config.json", "\"content\": \"<timestamp>\"", "\"content\": \"<time>\"",
     "config.json: timestamp_token_id: expected the id of \"<timestamp>\" in tokenizer_config.json, found 512, which is \"<time>\""},
    {"config.json", "\"classify_num\": 420", "\"classify_num\": 421",
     "model.safetensors: tensor \"thinker.lm_head.weight\": expected F32, F16 or BF16 [421, 56], found BF16 [420, 56]"},
};

void MisfitsAreNamed() {
  for (const Misfit& misfit : kRecogniserMisfits) {
    CheckpointCopy copy("tiny-asr-a");
    copy.Edit(misfit.file, misfit.from, misfit.to);
    CHECK_EQ(ProblemOf(copy), misfit.problem);
  }
  for (const Misfit& misfit : kAlignerMisfits) {
    CheckpointCopy copy("tiny-aligner");
    copy.Edit(misfit.file, misfit.from, misfit.to);
    CHECK_EQ(ProblemOf(copy, kAligner), misfit.problem);
  }
  for (const char* const file : {"config.json", "preprocessor_config.json"}) {
    CheckpointCopy copy("tiny-asr-a");
    copy.Write(file, "[]");
    CHECK_EQ(ProblemOf(copy), std::string(file) + ": expected a JSON object");
  }
  CheckpointCopy many("tiny-asr-a");
  std::string names = "\"one\"";
  for (size_t n = 1; n <= 1000; n++) names += ",\"one\"";
  many.Edit("config.json", "\"support_languages\": [",
            "\"support_languages\": [" + names + "], \"others\": [");
  CHECK(ProblemOf(many).find("config.json: support_languages: expected a list of names, found [\"one\"") ==
        0);
}

// These are what the engine assumes where a file does not tell.
void KeysWithOneSupportedValueMayBeAbsent() {
  for (const char* const key : {"\"n_window\"", "\"activation_function\"", "\"scale_embedding\"",
                                "\"hidden_act\"", "\"attention_bias\"", "\"rope_scaling\""}) {
    CheckpointCopy copy("tiny-asr-a");
    copy.Edit("config.json", key, "\"unknown\"");
    OpenedRecognition(copy.path());
  }
  CheckpointCopy copy("tiny-asr-a");
  copy.Write("preprocessor_config.json", "{}");
  OpenedRecognition(copy.path());
  // A recogniser has no marker of time, and an aligner needs none of text.
  CheckpointCopy aligner("tiny-aligner");
  aligner.Edit("tokenizer_config.json", "\"content\": \"<asr_text>\"", "\"content\": \"<asr_test>\"");
  OpenedRecognition(aligner.path(), kAligner);
}

// --- files and tensors

void MissingFilesAreNamed() {
  for (const Golden& golden : kGoldens) {
    const bool sharded = golden.name == std::string("tiny-asr-b");
    std::vector<std::string> names = {"config.json", "preprocessor_config.json", "vocab.json", "merges.txt",
                                      "tokenizer_config.json"};
    if (sharded)
      names.insert(names.end(), {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"});
    if (!sharded) names.push_back("model.safetensors");
    for (const std::string& name : names) {
      CheckpointCopy copy(golden.name);
      copy.Remove(name);
      CHECK_EQ(ProblemOf(copy, golden.kind), name + ": cannot be opened: No such file or directory");
    }
  }
  CheckpointCopy unlisted("tiny-asr-b");
  unlisted.Remove("model.safetensors.index.json");
  CHECK_EQ(ProblemOf(unlisted), "model.safetensors: cannot be opened: No such file or directory");
  CheckpointCopy lean("tiny-asr-a");
  for (const char* const unused : {"generation_config.json", "chat_template.json"}) lean.Remove(unused);
  OpenedRecognition(lean.path());
}

void ACheckpointOfTheOtherKindIsNamed() {
  CHECK_EQ(ProblemOf(CheckpointCopy("tiny-customvoice")),
           "config.json: model_type: expected \"qwen3_asr\", the only one supported, found \"qwen3_tts\"");
  std::string problem;
  for (const Golden& golden : kGoldens) {
    const std::string path = test::kGolden + "/" + golden.name;
    const bool aligns = golden.kind == kAligner;
    CHECK(RecognitionCheckpoint::Open(path, aligns ? kRecogniser : kAligner, &problem) == nullptr);
    CHECK_EQ(problem,
             path + (aligns ? ": expected a checkpoint of a recogniser, found one of a forced aligner"
                            : ": expected a checkpoint of a forced aligner, found one of a recogniser"));
    CHECK(SpeechCheckpoint::Open(path, PieceRule::kNative, &problem) == nullptr);
    CHECK_EQ(problem,
             path + "/config.json: tokenizer_type: expected \"qwen3_tts_tokenizer_12hz\", found nothing");
  }
}

void WrongTensorsAreNamed() {
  const std::string weights = "model.safetensors", q = "thinker.model.layers.1.self_attn.q_proj.weight";
  const std::string place = weights + ": tensor \"" + q + "\": expected F32, F16 or BF16 [96, 64], found ";
  const std::string stored = "\"" + q + "\":{\"dtype\":\"BF16\",\"shape\":[96,64]";
  const auto problem = [&](const std::string& from, const std::string& to) {
    CheckpointCopy copy("tiny-asr-a");
    copy.Edit(weights, from, to);
    return ProblemOf(copy);
  };
  // Names and shapes of the same length, so that the header stays as long.
  CHECK_EQ(problem(q, "thinker.model.layers.1.self_attn.x_proj.weight"), place + "no such tensor");
  CHECK_EQ(problem(stored, "\"" + q + "\":{\"dtype\":\"BF16\",\"shape\":[64,96]"), place + "BF16 [64, 96]");
  CHECK_EQ(problem(stored, "\"" + q + "\":{\"dtype\": \"I16\",\"shape\":[96,64]"), place + "I16 [96, 64]");
  CheckpointCopy cut("tiny-asr-a");
  cut.Write(weights, cut.Read(weights).substr(0, 100'000));
  CHECK(ProblemOf(cut).find("but the file holds") != std::string::npos);
  cut.Write(weights, "");
  CHECK_EQ(ProblemOf(cut), "model.safetensors: is empty");
}

// Every tensor that the engine reads, each of the golden checkpoints.
void EachTensorMissingOrOfAnotherDtypeIsNamed() {
  for (const Golden& golden : kGoldens) {
    const RecognitionConfig config = test::OpenRecognition(golden.name, golden.kind)->config();
    const auto keeps = [](const Tensor& tensor, size_t) { return tensor.dtype; };
    const test::RetypedCheckpoint whole(golden.name, keeps);
    std::string problem;
    const auto file = SafetensorsFile::Open(whole.path() + "/model.safetensors", &problem);
    for (const ExpectedTensor& wanted : TensorsOf(config)) {
      CheckpointCopy copy(golden.name);
      test::SafetensorsParts without, retyped;
      for (const Tensor& tensor : file->tensors()) {
        const bool meant = tensor.name == wanted.name;
        if (!meant) without.Add(tensor);
        meant ? retyped.Add(tensor.name, Dtype::kI16, tensor.shape, std::string(tensor.bytes, '\0'))
              : retyped.Add(tensor);
      }
      const std::string expected = "model.safetensors: tensor \"" + wanted.name +
                                   "\": expected F32, F16 or BF16 " + ToString(wanted.shape) + ", found ";
      copy.Write("model.safetensors", without.File());
      CHECK_EQ(ProblemOf(copy, golden.kind), expected + "no such tensor");
      copy.Write("model.safetensors", retyped.File());
      CHECK_EQ(ProblemOf(copy, golden.kind), expected + "I16 " + ToString(wanted.shape));
    }
  }
}

// The files of a larger model beside the configuration of a smaller one.
void LayersBeyondTheConfigurationAreNamed() {
  const std::string holds = "model.safetensors: holds layers that the configuration does not have: ";
  CheckpointCopy decoder("tiny-asr-a");
  EditConfig(&decoder, kText, "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 2");
  CHECK_EQ(ProblemOf(decoder), holds + "thinker.model.layers.2");
  CheckpointCopy encoder("tiny-aligner");
  encoder.Edit("config.json", "\"encoder_layers\": 2", "\"encoder_layers\": 1");
  CHECK_EQ(ProblemOf(encoder, kAligner), holds + "thinker.audio_tower.layers.1");
}

void DamagedShardsAreNamed() {
  const std::string index = "model.safetensors.index.json", first = "model-00001-of-00002.safetensors",
                    second = "model-00002-of-00002.safetensors", head = "\"thinker.lm_head.weight\": ";
  CheckpointCopy elsewhere("tiny-asr-b");
  elsewhere.Edit(index, head + "\"" + second, head + "\"../" + second);
  CHECK_EQ(
      ProblemOf(elsewhere),
      index +
          ": weight_map: \"thinker.lm_head.weight\" must name one of at most 1000 .safetensors files in the same folder");
  CheckpointCopy wrong("tiny-asr-b");
  wrong.Edit(index, head + "\"" + second, head + "\"" + first);
  CHECK_EQ(ProblemOf(wrong),
           first + ": lacks the tensor \"thinker.lm_head.weight\" that " + index + " promises");
  CheckpointCopy twice("tiny-asr-b");
  twice.Write(first, twice.Read(second));
  CHECK(ProblemOf(twice).find(first + ": lacks the tensor \"thinker.") == 0);
  CheckpointCopy none("tiny-asr-b");
  none.Write(index, "{}");
  CHECK_EQ(ProblemOf(none), index + ": has no weight_map");
  // The second shard lies there, but the index does not know it.
  CheckpointCopy unknown("tiny-asr-b");
  unknown.Write(index, "{\"weight_map\": {\"thinker.audio_tower.layers.0.fc1.bias\": \"" + first + "\"}}");
  CHECK_EQ(ProblemOf(unknown),
           index +
               ": tensor \"thinker.audio_tower.conv2d1.bias\": expected F32, F16 or BF16 [12], "
               "found no such tensor");
}

void AStrangerBesideTheShardsIsIgnored() {
  CheckpointCopy copy("tiny-asr-b");
  copy.Write("model-00003-of-00003.safetensors", "not a file of tensors");
  OpenedRecognition(copy.path());
}

}  // namespace
}  // namespace parley

TEST_GROUP(recognition_checkpoint) {
  using namespace parley;
  return test::Run({
      {"configurations are read", ConfigurationsAreRead},
      {"published sizes are met to the byte", PublishedSizesAreMetToTheByte},
      {"published ids stand in the plans", PublishedIdsStandInThePlans},
      {"each key missing, mistyped or out of range is named", EachKeyMissingMistypedOrOutOfRangeIsNamed},
      {"misfits are named", MisfitsAreNamed},
      {"keys with one supported value may be absent", KeysWithOneSupportedValueMayBeAbsent},
      {"missing files are named", MissingFilesAreNamed},
      {"a checkpoint of the other kind is named", ACheckpointOfTheOtherKindIsNamed},
      {"wrong tensors are named", WrongTensorsAreNamed},
      {"each tensor missing or of another dtype is named", EachTensorMissingOrOfAnotherDtypeIsNamed},
      {"layers beyond the configuration are named", LayersBeyondTheConfigurationAreNamed},
      {"damaged shards are named", DamagedShardsAreNamed},
      {"a stranger beside the shards is ignored", AStrangerBesideTheShardsIsIgnored},
  });
}
