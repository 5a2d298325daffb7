#include "model/files/config_file.h"

#include "model/files/file.h"

namespace parley::model {
namespace {

constexpr size_t kMaxConfigBytes = size_t{4} << 20;

}  // namespace

bool ReadConfigFile(const std::string& path, const std::function<void(const ConfigReader&)>& read,
                    std::string* problem) {
  std::string text;
  if (!ReadFile(path, kMaxConfigBytes, &text, problem)) return false;
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = path + ": " + *problem, false;
  problem->clear();
  read(ConfigReader(path, document->root(), problem));
  return problem->empty();
}

}  // namespace parley::model
