// Configurations of Pocket TTS: YAML is read strictly, and what is another model is refused by name.
#include "model/pocket/pocket_config.h"

#include <string>

#include "model/files/yaml.h"
#include "test/check.h"
#include "test/checkpoint_copy.h"

namespace parley {
namespace {

using namespace model;

const std::string kPocket = test::kGolden + "/pocket";

std::string JsonOf(const std::string& yaml) {
  std::string json, problem;
  return JsonOfYaml(yaml, &json, &problem) ? json : problem;
}

void YamlBecomesTheSameValues() {
  CHECK_EQ(JsonOf("a: 1\nb:\n  c: 12.5 # of a second\n  d: -1e-3\ne: text of words\n"),
           R"({"a":1,"b":{"c":12.5,"d":-1e-3},"e":"text of words"})");
  CHECK_EQ(JsonOf("---\nratios:\n- 6\n- 5\nflow: [6, 5, [], {a: 'it''s', \"b\": ~}]\nlast:\n  - x\n"),
           R"({"ratios":[6,5],"flow":[6,5,[],{"a":"it's","b":null}],"last":["x"]})");
  CHECK_EQ(
      JsonOf("path: hf://owner/name/file@1#x\n'\u2019': \"\\u2018\\n\\x41\" \nno: yes\r\nempty:\nhex: 0x10"),
      "{\"path\":\"hf://owner/name/file@1#x\",\"\u2019\":\"\u2018\\u000aA\",\"no\":\"yes\",\"empty\":null,"
      "\"hex\":\"0x10\"}");
  CHECK_EQ(JsonOf("- 1\n- true\n- null\n- 01\n- \"#\"\n"), R"([1,true,null,"01","#"])");
}

void WhatIsNoPartOfItIsRefusedWithItsLine() {
  const std::pair<const char*, const char*> kCases[] = {
      {"", "holds nothing"},
      {"a: 1\na: 2", "line 2: names \"a\" a second time"},
      {"{a: 1}", "line 1: anchors, aliases, tags, block texts and keys of their own line are not supported"},
      {"b: {a: 1, a: 2}", "line 1: names \"a\" a second time"},
      {"a: &x 1", "line 1: anchors, aliases, tags, block texts and keys of their own line are not supported"},
      {"a: *x", "line 1: anchors, aliases, tags, block texts and keys of their own line are not supported"},
      {"a: !!python/object/apply:os.system [ls]",
       "line 1: anchors, aliases, tags, block texts and keys of their own line are not supported"},
      {"a: |\n  text",
       "line 1: anchors, aliases, tags, block texts and keys of their own line are not supported"},
      {"<<: x", "line 1: anchors, aliases, tags, block texts and keys of their own line are not supported"},
      {"a: 1\n\tb: 2", "line 2: begins with a tab: indent with spaces"},
      {"a: 1\n---\nb: 2", "line 2: directives and further documents are not supported"},
      {"%YAML 1.2", "line 1: directives and further documents are not supported"},
      {"a: 1\n  b: 2", "line 2: is indented as nothing above it"},
      {"  a: 1\nb: 2", "line 2: is indented as nothing above it"},
      {"a: b: c", "line 1: has two keys on one line, or a mapping in a list"},
      {"a:\n- b: c", "line 2: has two keys on one line, or a mapping in a list"},
      {"a:\n- - b", "line 2: lists hold values only"},
      {"a: [1, 2", "line 1: has a value or a list without an end"},
      {"a: [1 2]]", "line 1: has more than one value"},
      {"a: \"x", "line 1: has a quote without an end"},
      {"a: \"\\q\"", "line 1: has an escape that is not supported"},
      {"a: \"\\uD800\"", "line 1: has an escape that is not supported"},
      {"a: 'x' y", "line 1: has more than one value"},
      {"alone", "line 1: expected \"key: value\""},
      {"a: \xFF", "is not UTF-8"},
  };
  for (const auto& [yaml, problem] : kCases) CHECK_EQ(JsonOf(yaml), problem);
  std::string deep = "a: ";
  for (int n = 0; n < 100'000; n++) deep += '[';
  CHECK_EQ(JsonOf(deep), "line 1: lies too deep");
  std::string nested;
  for (int n = 0; n < 1000; n++) nested += std::string(static_cast<size_t>(n), ' ') + "a:\n";
  CHECK_EQ(JsonOf(nested), "line 18: lies too deep");
}

void DamagedYamlNeverCrashes() {
  const std::string whole = test::ReadAll(kPocket + "/tiny-first/config.yaml");
  const std::string kBytes("\0\n\t :-[]{}\"'#&", 14);
  for (size_t at = 0; at < whole.size(); at++) {
    JsonOf(whole.substr(0, at));
    for (const char byte : kBytes) {
      std::string damaged = whole;
      damaged[at] = byte;
      JsonOf(damaged);
    }
  }
}

PocketConfig ConfigOf(const std::string& yaml, std::string* problem) {
  const test::TempFolder folder;
  test::WriteAll(folder / "config.yaml", yaml);
  const auto config = ReadPocketConfigFile(folder / "config.yaml", problem);
  const std::string path = folder / "config.yaml: ";
  if (problem->find(path) == 0) *problem = problem->substr(path.size());
  return config.value_or(PocketConfig());
}

void ConfigurationsAreReadWhole() {
  std::string problem;
  const auto config = ReadPocketConfigFile(kPocket + "/tiny-first/config.yaml", &problem);
  CHECK_EQ(problem, "");
  if (!config) return;
  CHECK(config->text.pad_with_spaces_for_short_inputs && config->text.remove_semicolons);
  CHECK_EQ(config->text.recommended_frames_after_eos.value_or(0), size_t{8});
  CHECK(!config->bos_before_voice);
  CHECK_EQ(config->backbone.hidden, 96);
  CHECK_EQ(config->backbone.intermediate, 288);
  CHECK_EQ(config->backbone.head_dim, 32);
  CHECK_EQ(config->backbone.rope_theta, 4000.0);
  CHECK_EQ(config->flow.width, 64);
  CHECK_EQ(config->flow.blocks, 2);
  CHECK_EQ(config->vocabulary, 521);
  CHECK_EQ(config->latent, 16);
  CHECK_EQ(config->prompt_width, 40);
  CHECK_EQ(config->codec.frame_samples, 1920);
  CHECK_EQ(config->codec.stride, 12);
  CHECK_EQ(config->codec.window, 31);
  CHECK_EQ(config->codec.transformer.rope_theta, 10'000.0);
  CHECK_EQ(config->codec.ratios.size(), size_t{3});
}

std::string ProblemWith(const std::string& from, const std::string& to) {
  std::string yaml = test::ReadAll(kPocket + "/tiny-current/config.yaml"), problem;
  const size_t at = yaml.find(from);
  CHECK(at != std::string::npos);
  yaml.replace(at, from.size(), to);
  ConfigOf(yaml, &problem);
  return problem;
}

void WrongConfigurationsAreRefusedByName() {
  CHECK_EQ(ProblemWith("    dim: 48\n", "    dim: 48\n    type: drifting\n"),
           "flow_lm.flow.type: expected \"lsd\", the only one supported, found \"drifting\"");
  CHECK_EQ(ProblemWith("remove_semicolons", "remove_colons"),
           "remove_colons: expected no such key, found false");
  CHECK_EQ(ProblemWith("num_heads: 4", "num_heads: 3"),
           "flow_lm.transformer.num_heads: expected heads of an even width that divide d_model, found 3");
  CHECK_EQ(
      ProblemWith("frame_rate: 12.5", "frame_rate: 12"),
      "mimi.frame_rate: expected frames of a multiple of the product of the ratios, which is 120, found 12");
  CHECK_EQ(ProblemWith("input_dimension: 48", "input_dimension: 64"),
           "mimi.transformer.input_dimension: expected d_model, which is 48, found 64");
  CHECK_EQ(ProblemWith("num_layers: 3", "num_layers: 1e9"),
           "flow_lm.transformer.num_layers: expected a whole number from 1 to 512, found 1000000000");
  CHECK_EQ(ProblemWith("remove_semicolons: false", "replace_characters: {\"ab\": x}"),
           "replace_characters.ab: expected one character with the text that stands for it, found \"x\"");
}

void ReplacementsAreReadFromTheConfiguration() {
  std::string yaml = test::ReadAll(kPocket + "/tiny-current/config.yaml"), problem;
  yaml += "replace_characters:\n  \u2019: \"'\"\n  '\"': ''\ndefault_temperature: 0.3\n";
  const PocketConfig config = ConfigOf(yaml, &problem);
  CHECK_EQ(problem, "");
  CHECK_EQ(config.default_temperature.value_or(0), 0.3);
  CHECK_EQ(PrepareText("it\u2019s \"it\"", config.text).text, "It's it.");
}

}  // namespace

TEST_GROUP(pocket_config) {
  return test::Run({
      {"YAML becomes the same values", YamlBecomesTheSameValues},
      {"what is no part of it is refused with its line", WhatIsNoPartOfItIsRefusedWithItsLine},
      {"damaged YAML never crashes", DamagedYamlNeverCrashes},
      {"configurations are read whole", ConfigurationsAreReadWhole},
      {"wrong configurations are refused by name", WrongConfigurationsAreRefusedByName},
      {"replacements are read from the configuration", ReplacementsAreReadFromTheConfiguration},
  });
}

}  // namespace parley
