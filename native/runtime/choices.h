// Options whose values have names.
#ifndef PARLEY_RUNTIME_CHOICES_H_
#define PARLEY_RUNTIME_CHOICES_H_

#include <string>
#include <utility>
#include <vector>

namespace parley::runtime {

template <class Value>
struct Choices {
  const char* option;
  std::vector<std::pair<const char*, Value>> values;  // an empty name is not shown
};

// False with `problem` set: the name is none of these.
template <class Value>
bool Pick(const Choices<Value>& choices, const std::string& name, Value* value, std::string* problem) {
  std::string all;
  for (const auto& [known, meaning] : choices.values) {
    if (name == known) {
      *value = meaning;
      return true;
    }
    if (*known != 0) all += (all.empty() ? "" : ", ") + std::string(known);
  }
  *problem = std::string(choices.option) + " is \"" + name + "\"; it can be " + all;
  return false;
}

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_CHOICES_H_
