#include "model/files/config_file.h"

#include "model/files/file.h"
#include "model/files/yaml.h"

namespace parley::model {
namespace {

constexpr size_t kMaxConfigBytes = size_t{4} << 20;

bool ReadJson(const std::string& path, const std::string& text,
              const std::function<void(const ConfigReader&)>& read, std::string* problem) {
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = path + ": " + *problem, false;
  problem->clear();
  read(ConfigReader(path, document->root(), problem));
  return problem->empty();
}

}  // namespace

bool ReadConfigFile(const std::string& path, const std::function<void(const ConfigReader&)>& read,
                    std::string* problem) {
  std::string text;
  return ReadFile(path, kMaxConfigBytes, &text, problem) && ReadJson(path, text, read, problem);
}

bool ReadYamlFile(const std::string& path, const std::function<void(const ConfigReader&)>& read,
                  std::string* problem) {
  std::string yaml;
  return ReadFile(path, kMaxConfigBytes, &yaml, problem) && ReadYamlText(path, yaml, read, problem);
}

bool ReadYamlText(const std::string& name, const std::string& yaml,
                  const std::function<void(const ConfigReader&)>& read, std::string* problem) {
  std::string json;
  if (!JsonOfYaml(yaml, &json, problem)) return *problem = name + ": " + *problem, false;
  return ReadJson(name, json, read, problem);
}

}  // namespace parley::model
