// Reads a configuration's keys and judges each: a value that is missing, of the
// wrong kind or out of its range is a problem that names file, key, what was
// expected and what was found.
//
// Only the first problem is kept. After it every read gives the smallest value
// that would be allowed, so that readers need not look in between.
#ifndef PARLEY_MODEL_CONFIG_READER_H_
#define PARLEY_MODEL_CONFIG_READER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/json.h"

namespace parley::model {

class ConfigReader {
 public:
  // The top of a file. `problem` is empty as long as all is well.
  ConfigReader(std::string file, Json object, std::string* problem)
      : ConfigReader(std::move(file), "", object, problem) {}

  bool good() const { return problem_->empty(); }
  bool Has(std::string_view key) const;  // there, and not null

  ConfigReader Object(std::string_view key) const;  // a reader of what is inside
  int64_t Whole(std::string_view key, int64_t least, int64_t most) const;
  int64_t WholeOr(std::string_view key, int64_t least, int64_t most, int64_t otherwise) const;
  double Real(std::string_view key, double least, double most) const;
  bool Bool(std::string_view key) const;
  std::string Text(std::string_view key, std::initializer_list<const char*> allowed) const;
  std::string Name(std::string_view key) const;  // 1 to 64 bytes
  std::vector<int64_t> Wholes(std::string_view key, size_t fewest, size_t longest, int64_t least,
                              int64_t most) const;
  std::vector<int64_t> WholesOr(std::string_view key, size_t fewest, size_t longest, int64_t least,
                                int64_t most, std::vector<int64_t> otherwise) const;

  // Rejects a key whose value the engine does not support: any other than this one. An absent or null key is
  // accepted.
  void Only(std::string_view key, std::string_view text) const;
  void Only(std::string_view key, bool value) const;
  void Only(std::string_view key, double value) const;

  // For rules between keys: "key must be so, found value".
  void Require(bool holds, std::string_view key, const std::string& rule) const;

  Json json() const { return object_; }

 private:
  ConfigReader(std::string file, std::string path, Json object, std::string* problem);
  void Fail(std::string_view key, const std::string& expected) const;
  Json Find(std::string_view key) const { return good() ? object_.Find(key) : Json(); }

  const std::string file_;
  const std::string path_;  // "talker_config."
  const Json object_;
  std::string* const problem_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_CONFIG_READER_H_
