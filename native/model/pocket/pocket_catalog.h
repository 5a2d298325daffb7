// The configurations of the published Pocket TTS models. The publisher's repositories hold no YAML: it ships
// in the official package.
#ifndef PARLEY_MODEL_POCKET_POCKET_CATALOG_H_
#define PARLEY_MODEL_POCKET_POCKET_CATALOG_H_

#include <optional>
#include <string>
#include <string_view>

#include "model/pocket/pocket_config.h"

namespace parley::model {

// The YAML of a published model by the name of its folder ("german"); nothing for another name.
std::optional<std::string> PocketCatalogYaml(std::string_view name);

// The configuration of a folder: that of its config.yaml, else of <name of the folder>.yaml, else of the
// catalogue. Nothing, with `problem` set, if there is none or it cannot be used.
std::optional<PocketConfig> ReadPocketFolder(const std::string& directory, std::string* problem);

}  // namespace parley::model

#endif  // PARLEY_MODEL_POCKET_POCKET_CATALOG_H_
