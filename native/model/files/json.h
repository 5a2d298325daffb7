// Parses JSON (RFC 8259) strictly and reads typed values of configuration files. The files may come from
// anywhere: each problem names its place, and no input crashes the parser.
#ifndef PARLEY_MODEL_FILES_JSON_H_
#define PARLEY_MODEL_FILES_JSON_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parley::model {

class JsonDocument;

enum class JsonKind : uint8_t { kAbsent, kNull, kBool, kNumber, kString, kArray, kObject };

// A handle to one value, valid as long as its document. A query for the wrong kind, or on an absent value,
// returns an absent, empty or zero result.
class Json {
 public:
  Json() = default;

  JsonKind kind() const;
  bool present() const { return document_ != nullptr; }
  bool is(JsonKind kind) const { return this->kind() == kind; }

  bool boolean() const;
  double number() const;
  // A number written without fraction and exponent that fits; else nothing.
  std::optional<int64_t> integer() const;
  std::string_view text() const;  // strings: unescaped UTF-8

  // Arrays and objects: how many, and each in the order of the file.
  size_t size() const;
  Json first() const;
  Json next() const;             // absent after the last
  std::string_view key() const;  // the key of an object's member
  Json Find(std::string_view key) const;

 private:
  friend class JsonDocument;
  Json(const JsonDocument* document, uint32_t node) : document_(document), node_(node) {}

  const JsonDocument* document_ = nullptr;
  uint32_t node_ = 0;
};

class JsonDocument {
 public:
  static constexpr size_t kMaxDepth = 32;
  static constexpr size_t kMaxBytes = size_t{1} << 28;

  // Null with `problem` set ("line 3, column 7: ...") when the text is not JSON
  // in UTF-8, nests deeper than kMaxDepth, is longer than kMaxBytes, holds a
  // number out of the range of a double, or an object names a key twice.
  static std::unique_ptr<const JsonDocument> Parse(std::string_view text, std::string* problem);

  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  Json root() const { return Json(this, 0); }

 private:
  friend class Json;
  friend class JsonParser;

  static constexpr uint32_t kNone = UINT32_MAX;
  struct Span {
    uint32_t at = 0, len = 0;
  };
  struct Node {
    JsonKind kind = JsonKind::kNull;
    bool whole = false;      // the number is `integer`
    Span key;                // object member's key, in text_
    Span text;               // string value, in text_
    uint32_t count = 0;      // members of an array or object
    uint32_t first = kNone;  // child
    uint32_t next = kNone;   // sibling
    double number = 0;
    int64_t integer = 0;  // a boolean's value too
  };

  JsonDocument() = default;
  std::string_view At(Span span) const { return std::string_view(text_).substr(span.at, span.len); }

  std::vector<Node> nodes_;
  std::string text_;
};

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

  // Rejects every key but these.
  void OnlyKeys(std::initializer_list<std::string_view> keys) const;

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

#endif  // PARLEY_MODEL_FILES_JSON_H_
