// Options whose values have names.
#ifndef PARLEY_RUNTIME_CHOICES_H_
#define PARLEY_RUNTIME_CHOICES_H_

#include <string>
#include <utility>
#include <vector>

#include "runtime/result.h"

namespace parley::runtime {

template <class Value>
struct Choices {
  const char* option;
  std::vector<std::pair<const char*, Value>> values;  // an empty name is not shown
};

// The value of this name. A problem: there is none.
template <class Value>
Result<Value> Pick(const Choices<Value>& choices, const std::string& name) {
  std::string all;
  for (const auto& [known, meaning] : choices.values) {
    if (name == known) return meaning;
    if (*known != 0) all += (all.empty() ? "" : ", ") + std::string(known);
  }
  return Problem{std::string(choices.option) + " is \"" + name + "\"; it can be " + all};
}

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_CHOICES_H_
