// Command lines of the form --name value ... positional: each name known, each at most once.
#ifndef PARLEY_TOOLS_OPTIONS_H_
#define PARLEY_TOOLS_OPTIONS_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace parley::tools {

class Options {
 public:
  // Throws std::invalid_argument that names the unknown, the doubled or the one without a value.
  Options(int count, char** arguments, std::initializer_list<const char*> names);

  bool Has(const std::string& name) const { return values_.count(name) > 0; }
  std::string Text(const std::string& name, const std::string& otherwise) const;
  // Throws when it is absent.
  std::string Required(const std::string& name) const;
  // Throws when it is not a whole number in the range.
  uint64_t Whole(const std::string& name, uint64_t least, uint64_t most, uint64_t otherwise) const;
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  std::map<std::string, std::string> values_;
  std::vector<std::string> positional_;
};

// True if the only argument is --help.
bool AsksForHelp(int count, char** arguments);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_OPTIONS_H_
