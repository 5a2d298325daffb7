#include "tools/options.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace parley::tools {

Options::Options(int count, char** arguments, std::initializer_list<const char*> names) {
  for (int n = 1; n < count; n++) {
    const std::string argument = arguments[n];
    if (argument.substr(0, 2) != "--") {
      positional_.push_back(argument);
      continue;
    }
    const std::string name = argument.substr(2);
    const bool known = std::any_of(names.begin(), names.end(), [&](const char* one) { return name == one; });
    if (!known) throw std::invalid_argument("there is no option " + argument);
    if (n + 1 == count) throw std::invalid_argument(argument + " needs a value");
    if (!values_.emplace(name, arguments[++n]).second)
      throw std::invalid_argument(argument + " is given twice");
  }
}

std::string Options::Text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second;
}

std::string Options::Required(const std::string& name) const {
  if (!Has(name)) throw std::invalid_argument("--" + name + " is missing");
  return values_.at(name);
}

uint64_t Options::Whole(const std::string& name, uint64_t least, uint64_t most, uint64_t otherwise) const {
  if (!Has(name)) return otherwise;
  const std::string& text = values_.at(name);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  throw std::invalid_argument("--" + name + " is a whole number from " + std::to_string(least) + " to " +
                              std::to_string(most) + ", not \"" + text + "\"");
}

bool AsksForHelp(int count, char** arguments) { return count == 2 && std::string(arguments[1]) == "--help"; }

}  // namespace parley::tools
