#include "model/pocket/pocket_catalog.h"

#include <filesystem>

#include "model/files/config_file.h"
#include "model/files/file.h"

namespace parley::model {
namespace {

// The published models have one graph. They differ in layers, in the width of a voice's rows, in the row
// before a voice, and in the rules of texts.
struct Published {
  std::string_view name;
  int layers = 6;
  int prompt_width = 32;
  bool bos_before_voice = true;
  std::string_view rules;  // lines of YAML
};

constexpr std::string_view kPlainApostrophes =
    "replace_characters: {\"\\u2019\": \"'\", \"\\u2018\": \"'\"}\n";
constexpr std::string_view kNoSemicolons = "remove_semicolons: true\n";

constexpr std::string_view kWithoutQuotesAndBrackets =
    "replace_characters: {'\"': '', \"\\u201C\": '', \"\\u201D\": '', \"\\u201E\": '', \"\\u00AB\": '', "
    "\"\\u00BB\": '', \"\\u2019\": \"'\", \"\\u2018\": \"'\", '(': '', ')': '', '[': '', ']': ''}\n";

// The small English models are left out: the publisher does not state their sizes. "english" was the file of
// "english_2026-04" until September 2026.
constexpr Published kPublished[] = {
    {"english_2026-01", 6, 512, false, "pad_with_spaces_for_short_inputs: true\n"},
    {"english", 6, 32, true, kPlainApostrophes},
    {"english_2026-04", 6, 32, true, kPlainApostrophes},
    {"english_2026-09", 6, 32, true, "default_temperature: 0.3\n"},
    {"english_2026-10", 6, 32, true, ""},
    {"dutch", 6, 32, true, kWithoutQuotesAndBrackets},
    {"french", 6, 32, true, ""},
    {"german", 6, 32, true, kNoSemicolons},
    {"italian", 6, 32, true, ""},
    {"portuguese", 6, 32, true, ""},
    {"spanish", 6, 32, true, ""},
    {"english_2026-04_24l", 24, 32, true, ""},
    {"french_24l", 24, 32, true, "remove_semicolons: true\nmodel_recommended_frames_after_eos: 8\n"},
    {"german_24l", 24, 32, true, kNoSemicolons},
    {"italian_24l", 24, 32, true, ""},
    {"portuguese_24l", 24, 32, true, ""},
    {"spanish_24l", 24, 32, true, ""},
};

constexpr std::string_view kFlow = R"(    hidden_scale: 4
    max_period: 10000
    num_heads: 16
  flow: {dim: 512, depth: 6, type: lsd}
  lookup_table: {dim: 1024, n_bins: 4000, tokenizer: sentencepiece}
)";

constexpr std::string_view kCodec = R"(  sample_rate: 24000
  channels: 1
  frame_rate: 12.5
  outer_dim: 512
  seanet:
    dimension: 512
    channels: 1
    n_filters: 64
    n_residual_layers: 1
    ratios: [6, 5, 4]
    kernel_size: 7
    residual_kernel_size: 3
    last_kernel_size: 3
    dilation_base: 2
    pad_mode: constant
    compress: 2
  transformer:
    d_model: 512
    num_heads: 8
    num_layers: 2
    context: 250
    dim_feedforward: 2048
    input_dimension: 512
    output_dimensions: [512]
  quantizer: {dimension: 32, output_dimension: 512}
)";

std::string YamlOf(const Published& model) {
  std::string yaml(model.rules);
  yaml += "flow_lm:\n  insert_bos_before_voice: ";
  yaml += model.bos_before_voice ? "true" : "false";
  yaml += "\n  transformer:\n    d_model: 1024\n    num_layers: " + std::to_string(model.layers) + '\n';
  yaml += kFlow;
  yaml += "mimi:\n  inner_dim: " + std::to_string(model.prompt_width) + '\n';
  return yaml += kCodec;
}

// Also of "." and of a path with a slash at its end.
std::string NameOf(const std::string& directory) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(directory, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::string NamesOfCatalog() {
  std::string names;
  for (const Published& model : kPublished) names += (names.empty() ? "" : ", ") + std::string(model.name);
  return names;
}

bool StartsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

// Models that are built on this one, but that run differently.
std::string_view OtherGraphOf(std::string_view name) {
  if (StartsWith(name, "phonon"))
    return "Phonon has another backbone and flow head, which no engine here runs";
  if (StartsWith(name, "english_drifting"))
    return "its flow type is \"drifting\"; \"lsd\" is the only one supported";
  return {};
}

}  // namespace

std::optional<std::string> PocketCatalogYaml(std::string_view name) {
  for (const Published& model : kPublished)
    if (model.name == name) return YamlOf(model);
  return std::nullopt;
}

std::optional<PocketConfig> ReadPocketFolder(const std::string& directory, std::string* problem) {
  const std::string name = NameOf(directory);
  for (const std::string& own : {directory + "/config.yaml", directory + "/" + name + ".yaml"})
    if (FileExists(own)) return ReadPocketConfigFile(own, problem);
  if (const auto yaml = PocketCatalogYaml(name)) {
    PocketConfig config;
    const auto read = [&config](const ConfigReader& reader) { config = ReadPocketConfig(reader); };
    if (!ReadYamlText("the catalogue's " + name, *yaml, read, problem)) return std::nullopt;
    return config;
  }
  if (const std::string_view other = OtherGraphOf(name); !other.empty()) {
    *problem = directory + ": " + std::string(other);
    return std::nullopt;
  }
  *problem = directory + ": there is no config.yaml, and no published model has the name \"" + name +
             "\": copy the model's YAML there, or name the folder as one of " + NamesOfCatalog();
  return std::nullopt;
}

}  // namespace parley::model
