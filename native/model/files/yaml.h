// Reads the part of YAML that configurations of models are written in, strictly: mappings and lists by
// indentation, "[a, b]" and "{a: b}" on one line, plain and quoted scalars, comments. Everything else is a
// mistake with its line.
#ifndef PARLEY_MODEL_FILES_YAML_H_
#define PARLEY_MODEL_FILES_YAML_H_

#include <string>
#include <string_view>

namespace parley::model {

// Writes the same values as JSON. False with `problem` set ("line 3: ..."). Beyond the part that it reads lie
// anchors, aliases, tags, block texts, several documents, mappings within lists, and values that go over
// lines. A plain scalar is null, true, false, a number as JSON writes it, or a text, as "yes" and "0x10" are.
bool JsonOfYaml(std::string_view yaml, std::string* json, std::string* problem);

}  // namespace parley::model

#endif  // PARLEY_MODEL_FILES_YAML_H_
