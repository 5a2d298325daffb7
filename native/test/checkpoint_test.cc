// Checks that the tiny checkpoints open whole, and that every kind of damage is refused with a text that
// names file, place, expected and found value. Checks the readers of safetensors and JSON, and files that
// shrink while they are mapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "model/files/json.h"
#include "model/files/safetensors.h"
#include "model/speech/speech_checkpoint.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley {
namespace {

using namespace model;
using test::CheckpointCopy;
using test::Opened;

// The problem, without the folder that it begins with.
// The published sizes are names; a described voice is an instruction whatever the size.
void AModelMayHaveAnySize() {
  for (const auto& [name, takes] :
       {std::pair("tiny-customvoice", false), std::pair("tiny-voicedesign", true)}) {
    CheckpointCopy copy(name);
    copy.Edit("config.json", "\"tts_model_size\": \"1b7\"", "\"tts_model_size\": \"0b6\"");
    CHECK_EQ(Opened(copy.path())->config().takes_instruction(), takes);
    copy.Edit("config.json", "\"tts_model_size\": \"0b6\"", "\"tts_model_size\": \"tiny\"");
    CHECK_EQ(Opened(copy.path())->config().size, "tiny");
    CHECK(Opened(copy.path())->config().takes_instruction());
  }
}

std::string ProblemOf(const CheckpointCopy& copy) {
  std::string problem;
  const auto checkpoint = SpeechCheckpoint::Open(copy.path(), PieceRule::kNative, &problem);
  CHECK(checkpoint == nullptr);
  CHECK_EQ(problem.substr(0, copy.path().size() + 1), copy.path() + "/");
  return problem.substr(std::min(problem.size(), copy.path().size() + 1));
}

void OtherGraphsAreNamed() {
  const std::string expected =
      "config.json: expected \"tts_model_type\" of Qwen3-TTS; a folder of Pocket TTS has no config.json. "
      "Phonon has one, and another graph than Pocket TTS, which no engine here runs";
  CheckpointCopy copy("tiny-base");
  copy.Write("tokenizer.json", "{}");
  CHECK(Opened(copy.path()) != nullptr);
  copy.Write("config.json", "{\"model_type\": \"phonon\", \"hidden_size\": 512}");
  CHECK(ProblemOf(copy) != expected);
  std::filesystem::remove_all(copy.path() + "/speech_tokenizer");
  CHECK_EQ(ProblemOf(copy), expected);
  copy.Remove("tokenizer.json");
  copy.Write("tokenizer.model", "");
  CHECK_EQ(ProblemOf(copy), expected);
  copy.Remove("tokenizer.model");
  CHECK(ProblemOf(copy) != expected);
}

void ConfigurationsAreRead() {
  const auto custom = Opened(test::kGolden + "/tiny-customvoice");
  const ModelConfig& config = custom->config();
  CHECK(config.type == ModelType::kCustomVoice && config.takes_instruction() && config.has_projection());
  CHECK_EQ(config.talker.transformer.hidden, 64);
  CHECK_EQ(config.talker.transformer.query_width(), 64);
  CHECK_EQ(config.talker.transformer.rope_theta, 1e6);
  CHECK_EQ(config.talker.vocabulary, 1152);
  CHECK_EQ(config.talker.ids.eos, 230);
  CHECK_EQ(config.predictor.transformer.intermediate, 96);
  CHECK_EQ(config.talker.speakers.size(), size_t{9});
  CHECK_EQ(config.FindSpeaker("Vivian")->id, 1145);
  CHECK_EQ(config.FindSpeaker("eric")->dialect, "sichuan_dialect");
  CHECK(config.FindSpeaker("nobody") == nullptr);
  CHECK_EQ(config.talker.languages.size(), size_t{12});
  CHECK(config.FindLanguage("beijing_dialect")->dialect && !config.FindLanguage("English")->dialect);
  CHECK(!custom->codec_config().encoder);
  CHECK_EQ(custom->codec_config().frame_samples, 1920);
  CHECK_EQ(custom->codec_config().decoder.window, 72);
  CHECK_EQ(custom->generation().max_new_tokens, 8192);
  CHECK_EQ(custom->generation().predictor.top_k, 50);

  const auto base = Opened(test::kGolden + "/tiny-base");
  CHECK(base->config().type == ModelType::kBase && !base->config().has_projection());
  CHECK_EQ(base->config().talker.transformer.query_width(), 512);
  CHECK_EQ(base->config().speaker_encoder->channels.back(), 96);
  CHECK_EQ(base->codec_config().decoder.window, 20);
  CHECK_EQ(base->codec_config().encoder->ratios.front(), 4);
  CHECK_EQ(base->codec_config().encoder->quantizers, 16);

  const auto design = Opened(test::kGolden + "/tiny-voicedesign");
  CHECK(design->config().type == ModelType::kVoiceDesign && design->config().takes_instruction());
  CHECK(design->config().talker.speakers.empty());
}

// The published sizes, so that the lists make the published numbers of
// tensors and bytes.
void ListsHaveThePublishedSizes() {
  ModelConfig config;
  config.talker.transformer = {1024, 3072, 28, 16, 8, 128, 1e-6, 1e6};
  config.predictor.transformer = {1024, 3072, 5, 16, 8, 128, 1e-6, 1e6};
  config.talker.vocabulary = 3072, config.talker.text_vocabulary = 151936, config.talker.text_hidden = 2048;
  config.talker.code_groups = 16, config.predictor.vocabulary = 2048;
  const auto bytes_of = [](const std::vector<ExpectedTensor>& list) {
    int64_t bytes = 0;
    for (const ExpectedTensor& tensor : list) {
      int64_t count = static_cast<int64_t>(FactsOf(tensor.dtype).bytes);
      for (const int64_t size : tensor.shape) count *= size;
      bytes += count;
    }
    return bytes;
  };
  CHECK_EQ(TensorsOf(config).size(), size_t{402});
  CHECK_EQ(bytes_of(TensorsOf(config)), 1'811'577'344);
  config.speaker_encoder = {128, 1024, 24000, {512, 512, 512, 512, 1536}, {5, 3, 3, 3, 1}, {1, 2, 3, 4, 1},
                            128, 8,    128};
  CHECK_EQ(TensorsOf(config).size(), size_t{478});
  CHECK_EQ(bytes_of(TensorsOf(config)), 1'829'286'016);
  config.talker.transformer.hidden = 2048, config.talker.transformer.intermediate = 6144;
  config.speaker_encoder->embedding = 2048;
  CHECK_EQ(TensorsOf(config).size(), size_t{480});
  CHECK_EQ(bytes_of(TensorsOf(config)), 3'857'354'880);
  CodecConfig codec;
  codec.decoder = {
      {512, 1024, 8, 16, 16, 64, 1e-5, 1e4}, 72, 1024, 512, 2048, 16, 1536, {2, 2}, {8, 5, 4, 3}};
  CHECK_EQ(TensorsOf(codec).size(), size_t{271 - 2});  // two input projections are in the file for nothing
}

void TensorsAreViewsOfTheFile() {
  const auto base = Opened(test::kGolden + "/tiny-base");
  const Tensor& embedding = base->ModelTensor("talker.model.text_embedding.weight");
  CHECK(embedding.dtype == Dtype::kBf16);
  CHECK_EQ(ToString(embedding.shape), "[576, 96]");
  CHECK_EQ(embedding.count(), size_t{576 * 96});
  const std::string file = test::ReadAll(test::kGolden + "/tiny-base/model.safetensors");
  CHECK(file.find(std::string(reinterpret_cast<const char*>(embedding.data), embedding.bytes)) !=
        std::string::npos);
  CHECK_EQ(ToString(base->CodecTensor("encoder.downsample.conv.weight").shape), "[32, 32, 4]");
  CHECK(base->model().Find("talker.model.none.weight") == nullptr);
}

// Two shards made of the single file: tensors by turns.
void Shard(CheckpointCopy* copy) {
  std::string problem;
  const auto file = SafetensorsFile::Open(copy->path() + "/model.safetensors", &problem);
  test::SafetensorsParts parts[2];
  std::string map;
  size_t turn = 0;
  for (const Tensor& tensor : file->tensors()) {
    const size_t n = turn++ % 2;
    parts[n].Add(tensor);
    map += (map.empty() ? "\"" : ",\"") + tensor.name + "\":\"part-" + std::to_string(n) + ".safetensors\"";
  }
  for (size_t n = 0; n < 2; n++) copy->Write("part-" + std::to_string(n) + ".safetensors", parts[n].File());
  copy->Write("model.safetensors.index.json",
              "{\"metadata\":{\"total_size\":1},\"weight_map\":{" + map + "}}");
  copy->Remove("model.safetensors");
}

void ShardsAreOneModel() {
  CheckpointCopy copy("tiny-customvoice");
  Shard(&copy);
  const auto whole = Opened(test::kGolden + "/tiny-customvoice"), sharded = Opened(copy.path());
  CHECK_EQ(sharded->model().tensors().size(), whole->model().tensors().size());
  for (const Tensor* tensor : whole->model().tensors()) {
    const Tensor& other = sharded->ModelTensor(tensor->name);
    CHECK(other.shape == tensor->shape && other.bytes == tensor->bytes);
    CHECK_EQ(std::memcmp(other.data, tensor->data, tensor->bytes), 0);
  }
}

void DamagedShardsAreNamed() {
  CheckpointCopy copy("tiny-customvoice");
  Shard(&copy);
  const std::string index = copy.Read("model.safetensors.index.json");
  copy.Edit("model.safetensors.index.json", "part-1.safetensors", "../part-1.safetensors");
  CHECK(ProblemOf(copy).find("must name one of at most 1000 .safetensors files in the same folder") !=
        std::string::npos);
  copy.Write("model.safetensors.index.json", index);
  copy.Edit("model.safetensors.index.json", "part-1.safetensors", "part-0.safetensors");
  CHECK_EQ(
      ProblemOf(copy),
      "part-0.safetensors: lacks the tensor \"talker.code_predictor.lm_head.1.weight\" that model.safetensors.index.json "
      "promises");
  copy.Write("model.safetensors.index.json", index);
  copy.Write("part-1.safetensors", copy.Read("part-0.safetensors"));
  CHECK_EQ(ProblemOf(copy).substr(0, 42), "part-1.safetensors: lacks the tensor \"talk");
  copy.Write("model.safetensors.index.json", "{}");
  CHECK_EQ(ProblemOf(copy), "model.safetensors.index.json: has no weight_map");
  copy.Remove("part-1.safetensors");
  copy.Write("model.safetensors.index.json", index);
  CHECK_EQ(ProblemOf(copy), "part-1.safetensors: cannot be opened: No such file or directory");
}

void MissingFilesAreNamed() {
  for (const char* const name :
       {"config.json", "generation_config.json", "vocab.json", "merges.txt", "tokenizer_config.json",
        "model.safetensors", "speech_tokenizer/config.json", "speech_tokenizer/model.safetensors"}) {
    CheckpointCopy copy("tiny-customvoice");
    copy.Remove(name);
    CHECK_EQ(ProblemOf(copy), std::string(name) + ": cannot be opened: No such file or directory");
  }
  CheckpointCopy copy("tiny-customvoice");
  copy.Write("model.safetensors", "");
  CHECK_EQ(ProblemOf(copy), "model.safetensors: is empty");
}

// The file of a larger model beside the configuration of a smaller one.
void LayersBeyondTheConfigurationAreNamed() {
  const std::string holds = ": holds layers that the configuration does not have: ";
  CheckpointCopy talker("tiny-customvoice");
  talker.Edit("config.json", "\"num_hidden_layers\": 3", "\"num_hidden_layers\": 2");
  CHECK_EQ(ProblemOf(talker), "model.safetensors" + holds + "talker.model.layers.2");
  CheckpointCopy predictor("tiny-customvoice");
  predictor.Edit("config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  CHECK_EQ(ProblemOf(predictor), "model.safetensors" + holds + "talker.code_predictor.model.layers.1");
  const std::string codec = "speech_tokenizer/config.json";
  CheckpointCopy decoder("tiny-customvoice");
  decoder.Edit(codec, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  CHECK_EQ(ProblemOf(decoder),
           "speech_tokenizer/model.safetensors" + holds + "decoder.pre_transformer.layers.1");
}

void WrongTensorsAreNamed() {
  CheckpointCopy copy("tiny-base");
  const std::string weights = "model.safetensors", q = "talker.model.layers.1.self_attn.q_proj.weight";
  const auto& name = "tensor \"" + q + "\"";
  // A name of the same length, so that the header stays as long.
  copy.Edit(weights, q, "talker.model.layers.1.self_attn.x_proj.weight");
  CHECK_EQ(ProblemOf(copy),
           weights + ": " + name + ": expected F32, F16 or BF16 [512, 128], found no such tensor");
  copy.Write(weights, test::ReadAll(test::kGolden + "/tiny-base/" + weights));
  copy.Edit(weights, "\"" + q + "\":{\"dtype\":\"BF16\"", "\"" + q + "\":{\"dtype\": \"I16\"");
  CHECK_EQ(ProblemOf(copy),
           weights + ": " + name + ": expected F32, F16 or BF16 [512, 128], found I16 [512, 128]");
  copy.Write(weights, test::ReadAll(test::kGolden + "/tiny-base/" + weights));
  copy.Edit(weights, "\"" + q + "\":{\"dtype\":\"BF16\",\"shape\":[512,128]",
            "\"" + q + "\":{\"dtype\":\"BF16\",\"shape\":[128,512]");
  CHECK_EQ(ProblemOf(copy),
           weights + ": " + name + ": expected F32, F16 or BF16 [512, 128], found BF16 [128, 512]");
  const std::string whole = test::ReadAll(test::kGolden + "/tiny-base/" + weights);
  copy.Write(weights, whole.substr(0, whole.size() - 1));
  CHECK(ProblemOf(copy).find("but the file holds") != std::string::npos);
  copy.Write(weights, whole.substr(0, 1000));
  CHECK_EQ(
      ProblemOf(copy),
      weights + ": is no safetensors file, or truncated: its header would be 18368 bytes of a file of 1000");
}

// The tensors have the published dtype or another, each its own.
void EveryFloatingPointDtypeIsTaken() {
  const test::DtypeRule dtypes[] = {test::Always(Dtype::kF32), test::Always(Dtype::kF16),
                                    test::Always(Dtype::kBf16), test::ByTurns};
  for (const test::DtypeRule& dtype : dtypes) {
    const test::RetypedCheckpoint copy("tiny-base", dtype, dtype);
    const auto checkpoint = Opened(copy.path());
    size_t n = 0;
    for (const Tensor* tensor : checkpoint->codec().tensors()) CHECK(tensor->dtype == dtype(*tensor, n++));
  }
}

void TensorsOfOtherDtypesAreNamed() {
  const std::string table =
      "encoder.quantizer.acoustic_residual_vector_quantizer.layers.0.codebook.embed_sum";
  for (const Dtype dtype : {Dtype::kI64, Dtype::kBool, Dtype::kF64}) {
    const auto one = [&](const Tensor& tensor, size_t) {
      return tensor.name == table ? dtype : tensor.dtype;
    };
    const test::RetypedCheckpoint copy("tiny-base", test::AsItIs, one);
    std::string problem;
    CHECK(SpeechCheckpoint::Open(copy.path(), PieceRule::kNative, &problem) == nullptr);
    CHECK_EQ(problem, copy.path() + "/speech_tokenizer/model.safetensors: tensor \"" + table +
                          "\": expected F32, F16 or BF16 [128, 16], found " + FactsOf(dtype).name +
                          " [128, 16]");
  }
}

// A file and key as JSON, what is put in the value's place, and the problem.
struct Misfit {
  const char* file;
  const char* from;
  const char* to;
  const char* problem;
};

const Misfit kMisfits[] = {
    {"config.json", "\"hidden_size\": 128", "\"hidden_size\": 1280000",
     "config.json: talker_config.hidden_size: expected a whole number from 1 to 65536, found 1280000"},
    {"config.json", "\"hidden_size\": 128", "\"hidden_size\": 128.5",
     "config.json: talker_config.hidden_size: expected a whole number from 1 to 65536, found 128.5"},
    {"config.json", "\"hidden_size\": 128,", "",
     "config.json: talker_config.hidden_size: expected a whole number from 1 to 65536, found nothing"},
    {"config.json", "\"num_key_value_heads\": 2", "\"num_key_value_heads\": 3",
     "config.json: talker_config.num_key_value_heads: expected a divisor of num_attention_heads, which is 4, found 3"},
    {"config.json", "\"head_dim\": 128", "\"head_dim\": 127",
     "config.json: talker_config.head_dim: expected an even number, found 127"},
    {"config.json", "\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": 0",
     "config.json: talker_config.rms_norm_eps: expected a number from 1e-12 to 0.1, found 0"},
    {"config.json", "\"rope_theta\": 1000000", "\"rope_theta\": \"big\"",
     "config.json: talker_config.rope_theta: expected a number from 1 to 1e+12, found \"big\""},
    {"config.json", "\"hidden_act\": \"silu\"", "\"hidden_act\": \"relu\"",
     "config.json: talker_config.hidden_act: expected \"silu\", the only one supported, found \"relu\""},
    {"config.json", "\"vocab_size\": 128", "\"vocab_size\": 256",
     "config.json: talker_config.code_predictor_config.vocab_size: expected 128, the talker's without its control ids, found 256"},
    {"config.json", "\"codec_eos_token_id\": 230", "\"codec_eos_token_id\": 2150",
     "config.json: talker_config.codec_eos_token_id: expected a whole number from 128 to 1151, found 2150"},
    {"config.json", "\"use_sliding_window\": false", "\"use_sliding_window\": true",
     "config.json: talker_config.use_sliding_window: expected false, the only one supported, found true"},
    {"config.json", "\"tts_model_type\": \"base\"", "\"tts_model_type\": \"bass\"",
     "config.json: tts_model_type: expected \"custom_voice\" or \"voice_design\" or \"base\", found \"bass\""},
    {"config.json", "qwen3_tts_tokenizer_12hz", "qwen3_tts_tokenizer_25hz",
     "config.json: tokenizer_type: expected \"qwen3_tts_tokenizer_12hz\", found \"qwen3_tts_tokenizer_25hz\""},
    {"config.json", "\"tts_pad_token_id\": 508", "\"tts_pad_token_id\": 507",
     "config.json: tts_pad_token_id: expected the id of \"<tts_pad>\" in tokenizer_config.json, found 507, which is \"<|audio_end|>\""},
    {"config.json", "\"enc_dim\": 128", "\"enc_dim\": 64",
     "config.json: speaker_encoder_config.enc_dim: expected the talker's hidden_size, 128, found 64"},
    {"config.json", "\"speaker_encoder_config\"", "\"speaker_config\"",
     "config.json: speaker_encoder_config: expected an object, found nothing"},
    {"config.json", "\"english\": 130", "\"english\": 99999",
     "config.json: talker_config.codec_language_id.english: expected a whole number from 0 to 1151, found 99999"},
    {"config.json", "\"rope_type\": \"default\"", "\"rope_type\": \"yarn\"",
     "config.json: talker_config.rope_scaling.rope_type: expected \"default\", the only one supported, found \"yarn\""},
    {"config.json", "{", "[", "config.json: line 2, column 18: expected ',' or ']'"},
    {"generation_config.json", "\"temperature\": 0.9", "\"temperature\": -1",
     "generation_config.json: temperature: expected a number from 0.001 to 100, found -1"},
    {"speech_tokenizer/config.json", "\"codebook_size\": 128", "\"codebook_size\": 127",
     "speech_tokenizer/config.json: encoder_config.codebook_size: expected 127, as the decoder's, found 128"},
    {"speech_tokenizer/config.json", "\"decode_upsample_rate\": 1920", "\"decode_upsample_rate\": 1900",
     "speech_tokenizer/config.json: decode_upsample_rate: expected the product of upsample_rates and upsampling_ratios, found 1900"},
    {"speech_tokenizer/config.json", "\"decoder_dim\": 64", "\"decoder_dim\": 40",
     "speech_tokenizer/config.json: decoder_config.decoder_dim: expected a multiple of 16: each of upsample_rates halves it, found 40"},
    {"speech_tokenizer/config.json", "\"pad_mode\": \"constant\"", "\"pad_mode\": \"reflect\"",
     "speech_tokenizer/config.json: encoder_config.pad_mode: expected \"constant\", the only one supported, found \"reflect\""},
    {"tokenizer_config.json", "\"lstrip\": false", "\"lstrip\": true",
     "tokenizer_config.json: added_tokens_decoder.480.lstrip: expected false, the only one supported, found true"},
    {"tokenizer_config.json", "\"481\"", "\"577\"",
     "tokenizer_config.json: added_tokens_decoder.577: expected a key that is an id below 576, found an object"},
    {"vocab.json", "\"!\": 0", "\"!\": 1",
     "vocab.json: \"\"\": expected byte-level characters and an id below 576 that no other symbol has"},
    {"vocab.json", "\"!\": 0", "\"!!\": 0", "vocab.json: lacks a symbol for the byte 33"},
    {"merges.txt", "a n", "a nn", "merges.txt: line 2: \"nn\" is not in vocab.json"},
    {"merges.txt", "a n", "an", "merges.txt: line 2: expected two symbols and a space between, found \"an\""},
};

void MisfitsAreNamed() {
  for (const Misfit& misfit : kMisfits) {
    CheckpointCopy copy("tiny-base");
    copy.Edit(misfit.file, misfit.from, misfit.to);
    CHECK_EQ(ProblemOf(copy), misfit.problem);
  }
}

void AListWithoutMergesIsNamed() {
  for (const char* const text : {"", "\n\n", "#version: 0.2\n", "#version: 0.2\r\n\r\n"}) {
    CheckpointCopy copy("tiny-base");
    copy.Write("merges.txt", text);
    CHECK_EQ(ProblemOf(copy), "merges.txt: holds no merges");
  }
}

// Their product is 2^68: no number of samples.
void AbsurdRatesAreNamed() {
  const std::string file = "speech_tokenizer/config.json";
  CheckpointCopy copy("tiny-base");
  copy.Edit(file, "\"upsample_rates\": [\n      8,\n      5,\n      4,\n      3",
            "\"upsample_rates\": [64, 64, 64, 4");
  copy.Edit(file, "\"upsampling_ratios\": [\n      2,\n      2",
            "\"upsampling_ratios\": [64, 64, 64, 64, 64, 64, 64, 64");
  copy.Edit(file, "\"decode_upsample_rate\": 1920", "\"decode_upsample_rate\": 1048576");
  CHECK_EQ(ProblemOf(copy),
           file +
               ": decode_upsample_rate: expected the product of upsample_rates and upsampling_ratios, "
               "found 1048576");
}

// --- JSON and safetensors headers: accepted input, and the text of each refusal

std::string JsonProblem(std::string_view text) {
  std::string problem;
  CHECK(JsonDocument::Parse(text, &problem) == nullptr);
  return problem;
}

void JsonIsRead() {
  std::string problem;
  const auto document = JsonDocument::Parse(
      " {\"a\": [1, -2.5e3, true, false, null], \"b\\u00e9\\ud83d\\ude00\\n\": {\"c\": \"é\"}, \"big\": 9223372036854775807, "
      "\"bigger\": 9223372036854775808} ",
      &problem);
  CHECK_EQ(problem, "");
  const Json root = document->root(), list = root.Find("a");
  CHECK_EQ(root.size(), size_t{4});
  CHECK_EQ(list.first().integer().value_or(0), 1);
  CHECK_EQ(list.first().next().number(), -2500.0);
  CHECK(!list.first().next().integer());
  CHECK(list.first().next().next().boolean());
  CHECK(list.first().next().next().next().next().is(JsonKind::kNull));
  CHECK_EQ(list.next().key(), "bé😀\n");
  CHECK_EQ(list.next().Find("c").text(), "é");
  CHECK_EQ(root.Find("big").integer().value_or(0), INT64_MAX);
  CHECK(!root.Find("bigger").integer());
  CHECK(!root.Find("nothing").present() && !list.Find("a").present() && !Json().first().present());
}

void WhatIsNotJsonIsRefused() {
  CHECK_EQ(JsonProblem(""), "line 1, column 1: expected a value, found the end");
  CHECK_EQ(JsonProblem("{\n \"a\": 1,\n}"), "line 3, column 1: expected a key in quotes");
  CHECK_EQ(JsonProblem("[1 2]"), "line 1, column 4: expected ',' or ']'");
  CHECK_EQ(JsonProblem("[1] x"), "line 1, column 5: expected the end");
  CHECK_EQ(JsonProblem("{\"a\": 1, \"b\": 2, \"a\": 3}"),
           "line 1, column 25: the key \"a\" stands twice in this object");
  CHECK_EQ(JsonProblem("[01]"), "line 1, column 4: a number that begins with 0");
  CHECK_EQ(JsonProblem("[1.]"), "line 1, column 4: expected a digit");
  CHECK_EQ(JsonProblem("[1e999]"), "line 1, column 7: a number out of range");
  CHECK_EQ(JsonProblem("[NaN]"), "line 1, column 2: expected a value");
  CHECK_EQ(JsonProblem("\"a\nb\""), "line 1, column 3: a control character in a string");
  CHECK_EQ(JsonProblem("\"\\x\""), "line 1, column 2: an escape that JSON does not have");
  CHECK_EQ(JsonProblem("\"\\ud800\""), "line 1, column 8: half of a surrogate pair");
  CHECK_EQ(JsonProblem("\"\xC3\""), "line 1, column 2: not UTF-8");
  CHECK_EQ(JsonProblem("\"a"), "line 1, column 3: a string without end");
  CHECK_EQ(JsonProblem(std::string(40, '[')), "line 1, column 33: nests deeper than 32");
}

struct Header {
  const char* header;
  size_t data_bytes;
  const char* problem;
};

const Header kHeaders[] = {
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}  )", 8, ""},
    {R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})", 1, ""},
    {R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
     1, ""},
    {R"([])", 0, "the header is not a JSON object"},
    {R"({"a":1)", 0, "the header is not a JSON object: line 1, column 9: expected ',' or '}'"},
    {R"({"a":{"dtype":"F32"},"a":{}})", 0,
     "the header is not a JSON object: line 1, column 29: the key \"a\" stands twice in this object"},
    {R"({"a":1})", 0, "tensor \"a\" has no dtype"},
    {R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8,
     "tensor \"a\" has the dtype \"F31\", which is not known"},
    {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8,
     "tensor \"a\" has a shape that is not possible"},
    {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", 8,
     "tensor \"a\" has a shape that is not possible"},
    {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})", 4,
     "tensor \"a\" has no shape of at most 8 dimensions"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8,
     "tensor \"a\" has no data_offsets [begin, end]"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", 12,
     "tensor \"a\" has 12 bytes; F32 [2] takes 8"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7,
     "tensor \"a\" ends at byte 8 of the data, but the file holds 7: it is truncated or damaged"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
     3, "tensor \"b\" begins at byte 1 of the data, expected 2: it overlaps another"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]}})",
     5, "tensor \"b\" begins at byte 3 of the data, expected 2: bytes belong to no tensor"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 3,
     "holds 3 bytes of data, but its tensors take 2"},
    {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} )", 8,
     "tensor \"a\" is not aligned to its 4 byte elements"},
};

void HeadersAreChecked() {
  const test::TempFolder folder;
  const std::string path = folder / "x.safetensors";
  for (const Header& one : kHeaders) {
    // Padded so that the data begin at a multiple of 8, but where the header itself is not.
    std::string header = one.header;
    if (std::string(one.problem).find("aligned") == std::string::npos)
      header.append((8 - header.size() % 8) % 8, ' ');
    else
      while (header.size() % 4 != 1) header += ' ';
    test::WriteAll(path, test::SafetensorsOf(header, one.data_bytes));
    std::string problem;
    const auto file = SafetensorsFile::Open(path, &problem);
    CHECK_EQ(problem, *one.problem == '\0' ? "" : path + ": " + one.problem);
    CHECK_EQ(file != nullptr, *one.problem == '\0');
  }
}

void FilesThatAreNoneAreRefused() {
  const test::TempFolder folder;
  std::string problem;
  CHECK(SafetensorsFile::Open(folder / "none", &problem) == nullptr);
  CHECK_EQ(problem, (folder / "none") + ": cannot be opened: No such file or directory");
  CHECK(SafetensorsFile::Open(folder.path(), &problem) == nullptr);
  CHECK_EQ(problem, folder.path() + ": is not a regular file");
  CHECK_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  CHECK(SafetensorsFile::Open(folder / "pipe", &problem) == nullptr);
  CHECK_EQ(problem, (folder / "pipe") + ": is not a regular file");
  test::WriteAll(folder / "short", "abc");
  CHECK(SafetensorsFile::Open(folder / "short", &problem) == nullptr);
  CHECK_EQ(problem, (folder / "short") +
                        ": is no safetensors file, or truncated: its header would be 0 bytes of a file of 3");
  test::WriteAll(folder / "huge", std::string(8, '\xFF') + "{}");
  CHECK(SafetensorsFile::Open(folder / "huge", &problem) == nullptr);
  CHECK(problem.find("its header would be 18446744073709551615 bytes of a file of 10") != std::string::npos);
  std::string text;
  test::WriteAll(folder / "long", "12345");
  CHECK(!ReadFile(folder / "long", 4, &text, &problem));
  CHECK_EQ(problem, (folder / "long") + ": is 5 bytes; at most 4 are read");
}

void AFileThatBecomesShorterIsReadAsZerosAndToldOf() {
  test::TempFolder folder;
  const std::string path = folder / "weights";
  test::WriteAll(path, std::string(100'000, 'x'));
  std::string problem;
  const auto file = MappedFile::Open(path, &problem), other = MappedFile::Open(path, &problem);
  CHECK(file != nullptr && !file->Changed(&problem));
  CHECK_EQ(file->data()[99'999], 'x');
  CHECK_EQ(truncate(path.c_str(), 10'000), 0);
  CHECK_EQ(file->data()[9'999], 'x');
  for (const size_t at : {size_t{50'000}, size_t{99'999}, size_t{20'000}}) CHECK_EQ(file->data()[at], 0);
  CHECK_EQ(other->data()[60'000], 0);
  CHECK(file->Changed(&problem));
  CHECK_EQ(
      problem,
      "was 100000 bytes when it was loaded, and is 10000 now; replace a checkpoint by renaming, and load it again");
  // The file has its old length again, but other bytes.
  test::WriteAll(path, std::string(100'000, 'y'));
  CHECK(file->Changed(&problem));
  CHECK_EQ(problem,
           "was written to since it was loaded; replace a checkpoint by renaming, and load it again");
}

// Elsewhere the error ends the process, as it does without the handler.
void ABusErrorElsewhereIsNotHandled() {
  test::TempFolder folder;
  const std::string path = folder / "other";
  test::WriteAll(path, std::string(10'000, 'x'));
  const int status = [&] {
    const pid_t child = fork();
    if (child == 0) {
      const int fd = open(path.c_str(), O_RDONLY);
      const auto* const bytes =
          static_cast<const volatile uint8_t*>(mmap(nullptr, 10'000, PROT_READ, MAP_SHARED, fd, 0));
      std::string problem;
      if (MappedFile::Open(path, &problem) == nullptr || truncate(path.c_str(), 0) != 0) _exit(101);
      _exit(bytes[5'000] == 0 ? 102 : 103);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    return ended;
  }();
  CHECK(WIFSIGNALED(status) ||
        WEXITSTATUS(status) < 100);  // a sanitizer ends the process with a status of its own
}

}  // namespace
}  // namespace parley

TEST_GROUP(checkpoint) {
  using namespace parley;
  return parley::test::Run({
      {"other graphs are named", OtherGraphsAreNamed},
      {"configurations are read", ConfigurationsAreRead},
      {"a model may have any size", AModelMayHaveAnySize},
      {"the lists of tensors have the published sizes", ListsHaveThePublishedSizes},
      {"tensors are views of the file", TensorsAreViewsOfTheFile},
      {"shards are one model", ShardsAreOneModel},
      {"damaged shards are named", DamagedShardsAreNamed},
      {"missing files are named", MissingFilesAreNamed},
      {"wrong tensors are named", WrongTensorsAreNamed},
      {"layers beyond the configuration are named", LayersBeyondTheConfigurationAreNamed},
      {"a list without merges is named", AListWithoutMergesIsNamed},
      {"every floating-point dtype is taken", EveryFloatingPointDtypeIsTaken},
      {"tensors of other dtypes are named", TensorsOfOtherDtypesAreNamed},
      {"misfits of the configuration are named", MisfitsAreNamed},
      {"absurd rates are named", AbsurdRatesAreNamed},
      {"JSON is read", JsonIsRead},
      {"what is not JSON is refused", WhatIsNotJsonIsRefused},
      {"headers are checked", HeadersAreChecked},
      {"files that are none are refused", FilesThatAreNoneAreRefused},
      {"a file that becomes shorter is read as zeros, and told of",
       AFileThatBecomesShorterIsReadAsZerosAndToldOf},
      {"a bus error elsewhere is not handled", ABusErrorElsewhereIsNotHandled},
  });
}
