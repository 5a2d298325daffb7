// Reads a file of a checkpoint's configuration.
#ifndef PARLEY_MODEL_FILES_CONFIG_FILE_H_
#define PARLEY_MODEL_FILES_CONFIG_FILE_H_

#include <functional>
#include <string>

#include "model/files/json.h"

namespace parley::model {

// Calls `read` with a reader of the file at `path`. False with `problem` set: the file cannot be read, is no
// JSON, or `read` found a mistake in it.
bool ReadConfigFile(const std::string& path, const std::function<void(const ConfigReader&)>& read,
                    std::string* problem);

// The same of a file of YAML, as far as yaml.h reads it.
bool ReadYamlFile(const std::string& path, const std::function<void(const ConfigReader&)>& read,
                  std::string* problem);

// The same of YAML in memory; problems begin with `name`.
bool ReadYamlText(const std::string& name, const std::string& yaml,
                  const std::function<void(const ConfigReader&)>& read, std::string* problem);

}  // namespace parley::model

#endif  // PARLEY_MODEL_FILES_CONFIG_FILE_H_
