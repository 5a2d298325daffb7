#include "model/files/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.10g", value);
  return text;
}

std::string Described(Json value) {
  switch (value.kind()) {
    case JsonKind::kAbsent:
      return "nothing";
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return value.boolean() ? "true" : "false";
    case JsonKind::kNumber:
      return value.integer() ? std::to_string(*value.integer()) : Number(value.number());
    case JsonKind::kString:
      return "\"" + std::string(value.text().substr(0, 60)) + "\"";
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kArray:
      break;
  }
  std::string text = "[";
  size_t shown = 0;
  for (Json item = value.first(); item.present() && shown < 8; item = item.next(), shown++) {
    text += (shown > 0 ? ", " : "") + (item.is(JsonKind::kArray) ? "[...]" : Described(item));
  }
  return text + (value.size() > shown ? ", ...]" : "]");
}

std::string WholeRange(int64_t least, int64_t most) {
  return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

bool InRange(Json value, int64_t least, int64_t most) {
  return value.integer() && *value.integer() >= least && *value.integer() <= most;
}

}  // namespace

ConfigReader::ConfigReader(std::string file, std::string path, Json object, std::string* problem)
    : file_(std::move(file)), path_(std::move(path)), object_(object), problem_(problem) {
  if (good() && path_.empty() && !object.is(JsonKind::kObject))
    *problem_ = file_ + ": expected a JSON object";
}

bool ConfigReader::Has(std::string_view key) const {
  const Json value = Find(key);
  return value.present() && !value.is(JsonKind::kNull);
}

void ConfigReader::Fail(std::string_view key, const std::string& expected) const {
  if (!good()) return;
  *problem_ = file_ + ": " + path_ + std::string(key) + ": expected " + expected + ", found " +
              Described(object_.Find(key));
}

ConfigReader ConfigReader::Object(std::string_view key) const {
  const Json value = Find(key);
  if (!value.is(JsonKind::kObject)) Fail(key, "an object");
  return ConfigReader(file_, path_ + std::string(key) + ".", value, problem_);
}

int64_t ConfigReader::Whole(std::string_view key, int64_t least, int64_t most) const {
  const Json value = Find(key);
  if (InRange(value, least, most)) return *value.integer();
  Fail(key, WholeRange(least, most));
  return least;
}

int64_t ConfigReader::WholeOr(std::string_view key, int64_t least, int64_t most, int64_t otherwise) const {
  return Has(key) ? Whole(key, least, most) : otherwise;
}

double ConfigReader::Real(std::string_view key, double least, double most) const {
  const Json value = Find(key);
  if (value.is(JsonKind::kNumber) && value.number() >= least && value.number() <= most) return value.number();
  Fail(key, "a number from " + Number(least) + " to " + Number(most));
  return least;
}

bool ConfigReader::Bool(std::string_view key) const {
  const Json value = Find(key);
  if (!value.is(JsonKind::kBool)) Fail(key, "true or false");
  return value.boolean();
}

std::string ConfigReader::Text(std::string_view key, std::initializer_list<const char*> allowed) const {
  const Json value = Find(key);
  std::string list;
  for (const char* one : allowed) {
    if (value.is(JsonKind::kString) && value.text() == one) return one;
    list += std::string(list.empty() ? "\"" : " or \"") + one + "\"";
  }
  Fail(key, list);
  return *allowed.begin();
}

std::string ConfigReader::Name(std::string_view key) const {
  constexpr size_t kLongest = 64;
  const Json value = Find(key);
  if (!value.is(JsonKind::kString) || value.text().empty() || value.text().size() > kLongest) {
    Fail(key, "a text of 1 to " + std::to_string(kLongest) + " bytes");
  }
  return std::string(value.text());
}

std::vector<int64_t> ConfigReader::Wholes(std::string_view key, size_t fewest, size_t longest, int64_t least,
                                          int64_t most) const {
  const Json value = Find(key);
  std::vector<int64_t> list;
  if (value.is(JsonKind::kArray) && value.size() >= fewest && value.size() <= longest) {
    for (Json item = value.first(); item.present() && InRange(item, least, most); item = item.next()) {
      list.push_back(*item.integer());
    }
    if (list.size() == value.size()) return list;
  }
  Fail(key, "a list of " + std::to_string(fewest) +
                (fewest < longest ? " to " + std::to_string(longest) : "") + " numbers, each " +
                WholeRange(least, most));
  return std::vector<int64_t>(fewest, least);
}

std::vector<int64_t> ConfigReader::WholesOr(std::string_view key, size_t fewest, size_t longest,
                                            int64_t least, int64_t most,
                                            std::vector<int64_t> otherwise) const {
  return Has(key) ? Wholes(key, fewest, longest, least, most) : std::move(otherwise);
}

void ConfigReader::Only(std::string_view key, std::string_view text) const {
  if (Has(key) && Find(key).text() != text)
    Fail(key, "\"" + std::string(text) + "\", the only one supported");
}

void ConfigReader::Only(std::string_view key, bool value) const {
  const Json found = Find(key);
  if (Has(key) && (!found.is(JsonKind::kBool) || found.boolean() != value)) {
    Fail(key, std::string(value ? "true" : "false") + ", the only one supported");
  }
}

void ConfigReader::Only(std::string_view key, double value) const {
  const Json found = Find(key);
  if (Has(key) && (!found.is(JsonKind::kNumber) || found.number() != value)) {
    Fail(key, Number(value) + ", the only one supported");
  }
}

void ConfigReader::OnlyKeys(std::initializer_list<std::string_view> keys) const {
  if (!good()) return;
  for (Json member = object_.first(); member.present(); member = member.next()) {
    if (std::find(keys.begin(), keys.end(), member.key()) == keys.end())
      return Fail(member.key(), "no such key");
  }
}

void ConfigReader::Require(bool holds, std::string_view key, const std::string& rule) const {
  if (!holds) Fail(key, rule);
}

JsonKind Json::kind() const { return present() ? document_->nodes_[node_].kind : JsonKind::kAbsent; }

bool Json::boolean() const { return is(JsonKind::kBool) && document_->nodes_[node_].integer != 0; }

double Json::number() const { return is(JsonKind::kNumber) ? document_->nodes_[node_].number : 0; }

std::optional<int64_t> Json::integer() const {
  if (!is(JsonKind::kNumber) || !document_->nodes_[node_].whole) return std::nullopt;
  return document_->nodes_[node_].integer;
}

std::string_view Json::text() const {
  return is(JsonKind::kString) ? document_->At(document_->nodes_[node_].text) : std::string_view();
}

size_t Json::size() const { return present() ? document_->nodes_[node_].count : 0; }

Json Json::first() const {
  if (!present() || document_->nodes_[node_].first == JsonDocument::kNone) return {};
  return {document_, document_->nodes_[node_].first};
}

Json Json::next() const {
  if (!present() || document_->nodes_[node_].next == JsonDocument::kNone) return {};
  return {document_, document_->nodes_[node_].next};
}

std::string_view Json::key() const {
  return present() ? document_->At(document_->nodes_[node_].key) : std::string_view();
}

Json Json::Find(std::string_view key) const {
  if (!is(JsonKind::kObject)) return {};
  for (Json member = first(); member.present(); member = member.next()) {
    if (member.key() == key) return member;
  }
  return {};
}

// The parser behind JsonDocument::Parse: recursive descent, one function for
// each rule of the grammar, each false once `problem_` is set.
class JsonParser {
 public:
  JsonParser(std::string_view text, JsonDocument* document) : text_(text), document_(document) {}

  bool Parse(std::string* problem) {
    SkipSpace();
    if (Value(0) && (SkipSpace(), at_ < text_.size())) Fail("expected the end");
    if (problem_.empty()) return true;
    const std::string_view before = text_.substr(0, at_);
    const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? at_ + 1 : at_ - newline;
    *problem = "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + problem_;
    return false;
  }

 private:
  using Node = JsonDocument::Node;
  using Span = JsonDocument::Span;

  bool Fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }

  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      at_++;
  }

  bool Take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    at_++;
    return true;
  }

  // The new node is the last one; the caller ties it to its parent.
  bool Value(size_t depth) {
    if (at_ >= text_.size()) return Fail("expected a value, found the end");
    const auto node = static_cast<uint32_t>(document_->nodes_.size());
    document_->nodes_.emplace_back();
    switch (text_[at_]) {
      case '{':
        return Container(node, depth, JsonKind::kObject, '}');
      case '[':
        return Container(node, depth, JsonKind::kArray, ']');
      case '"':
        document_->nodes_[node].kind = JsonKind::kString;
        return String(&document_->nodes_[node].text);
      case 't':
        return Word(node, "true", JsonKind::kBool, 1);
      case 'f':
        return Word(node, "false", JsonKind::kBool, 0);
      case 'n':
        return Word(node, "null", JsonKind::kNull, 0);
      default:
        return Number(node);
    }
  }

  bool Word(uint32_t node, std::string_view word, JsonKind kind, int64_t value) {
    if (text_.substr(at_, word.size()) != word) return Fail("expected a value");
    at_ += word.size();
    document_->nodes_[node].kind = kind;
    document_->nodes_[node].integer = value;
    return true;
  }

  bool Container(uint32_t node, size_t depth, JsonKind kind, char end) {
    if (depth >= JsonDocument::kMaxDepth)
      return Fail("nests deeper than " + std::to_string(JsonDocument::kMaxDepth));
    document_->nodes_[node].kind = kind;
    at_++;
    SkipSpace();
    if (Take(end)) return true;
    uint32_t last = JsonDocument::kNone;
    do {
      Span key;
      SkipSpace();
      if (kind == JsonKind::kObject && !Key(&key)) return false;
      const auto child = static_cast<uint32_t>(document_->nodes_.size());
      if (!Value(depth + 1)) return false;
      document_->nodes_[child].key = key;
      (last == JsonDocument::kNone ? document_->nodes_[node].first : document_->nodes_[last].next) = child;
      last = child;
      document_->nodes_[node].count++;
      SkipSpace();
    } while (Take(','));
    if (!Take(end)) return Fail(std::string("expected ',' or '") + end + "'");
    return kind == JsonKind::kArray || KeysDiffer(node);
  }

  bool Key(Span* key) {
    if (at_ >= text_.size() || text_[at_] != '"') return Fail("expected a key in quotes");
    if (!String(key)) return false;
    SkipSpace();
    if (!Take(':')) return Fail("expected ':'");
    SkipSpace();
    return true;
  }

  bool KeysDiffer(uint32_t node) {
    std::vector<std::string_view> keys;
    keys.reserve(document_->nodes_[node].count);
    for (uint32_t n = document_->nodes_[node].first; n != JsonDocument::kNone;
         n = document_->nodes_[n].next) {
      keys.push_back(document_->At(document_->nodes_[n].key));
    }
    std::sort(keys.begin(), keys.end());
    const auto twice = std::adjacent_find(keys.begin(), keys.end());
    return twice == keys.end() ||
           Fail("the key \"" + std::string(twice->substr(0, 200)) + "\" stands twice in this object");
  }

  bool String(Span* span) {
    at_++;
    std::string& out = document_->text_;
    span->at = static_cast<uint32_t>(out.size());
    while (at_ < text_.size() && text_[at_] != '"') {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte < 0x20) return Fail("a control character in a string");
      if (byte == '\\') {
        if (!Escape(&out)) return false;
      } else {
        const size_t from = at_;
        if (TakeUtf8(text_, &at_) == static_cast<char32_t>(-1)) return Fail("not UTF-8");
        out.append(text_.substr(from, at_ - from));
      }
    }
    if (!Take('"')) return Fail("a string without end");
    span->len = static_cast<uint32_t>(out.size()) - span->at;
    return true;
  }

  bool Escape(std::string* out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (const size_t which = kNames.find(name); name != '\0' && which != std::string_view::npos) {
      out->push_back(kMeanings[which]);
      at_ += 2;
      return true;
    }
    char32_t code = 0;
    if (!Unit(&code)) return Fail("an escape that JSON does not have");
    if (code >= 0xD800 && code <= 0xDBFF) {
      char32_t low = 0;
      if (!Unit(&low) || low < 0xDC00 || low > 0xDFFF) return Fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code <= 0xDFFF) {
      return Fail("half of a surrogate pair");
    }
    AppendUtf8(code, out);
    return true;
  }

  // \uXXXX
  bool Unit(char32_t* code) {
    if (text_.size() - at_ < 6 || text_.substr(at_, 2) != "\\u") return false;
    const char* const from = text_.data() + at_ + 2;
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(from, from + 4, value, 16);
    if (error != std::errc() || end != from + 4) return false;
    *code = value;
    at_ += 6;
    return true;
  }

  bool Number(uint32_t index) {
    const size_t from = at_;
    Take('-');
    const size_t digits = at_;
    if (Digits() == 0) return at_ = from, Fail("expected a value");
    if (text_[digits] == '0' && at_ - digits > 1) return Fail("a number that begins with 0");
    bool whole = true;
    if (Take('.')) {
      whole = false;
      if (Digits() == 0) return Fail("expected a digit");
    }
    if (Take('e') || Take('E')) {
      whole = false;
      if (!Take('+')) Take('-');
      if (Digits() == 0) return Fail("expected a digit");
    }
    Node& node = document_->nodes_[index];
    node.kind = JsonKind::kNumber;
    const char* const first = text_.data() + from;
    const char* const last = text_.data() + at_;
    node.whole = whole && std::from_chars(first, last, node.integer).ec == std::errc();
    if (std::from_chars(first, last, node.number).ec != std::errc()) return Fail("a number out of range");
    return true;
  }

  size_t Digits() {
    const size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') at_++;
    return at_ - from;
  }

  const std::string_view text_;
  JsonDocument* const document_;
  size_t at_ = 0;
  std::string problem_;
};

std::unique_ptr<const JsonDocument> JsonDocument::Parse(std::string_view text, std::string* problem) {
  if (text.size() > kMaxBytes) {
    *problem =
        "is " + std::to_string(text.size()) + " bytes; at most " + std::to_string(kMaxBytes) + " are read";
    return nullptr;
  }
  std::unique_ptr<JsonDocument> document(new JsonDocument());
  document->text_.reserve(text.size());
  if (!JsonParser(text, document.get()).Parse(problem)) return nullptr;
  return document;
}

}  // namespace parley::model
