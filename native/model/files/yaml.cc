#include "model/files/yaml.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <vector>

#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr size_t kMaxDepth = 16;

struct Line {
  size_t number = 0;  // from 1
  size_t indent = 0;
  std::string_view text;  // without indentation, comment and blanks at the end; never empty
};

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// As JSON writes numbers (RFC 8259, section 6).
bool IsNumber(std::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  const size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (!power.empty() && (power[0] == '+' || power[0] == '-')) power.remove_prefix(1);
    if (!IsDigits(power)) return false;
    text = text.substr(0, exponent);
  }
  const size_t point = text.find('.');
  if (point != std::string_view::npos && !IsDigits(text.substr(point + 1))) return false;
  const std::string_view whole = text.substr(0, point);
  return IsDigits(whole) && (whole.size() == 1 || whole[0] != '0');
}

std::string Quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(c));
      json += escape;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string_view TrimmedEnd(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Returns where the quoted scalar at the beginning of the text ends, behind its quote; npos: it has no end.
size_t QuoteEnd(std::string_view text) {
  for (size_t at = 1; at < text.size(); at++) {
    if (text[0] == '"' && text[at] == '\\') {
      at++;
    } else if (text[at] == text[0]) {
      if (text[0] == '"' || at + 1 >= text.size() || text[at + 1] != '\'') return at + 1;
      at++;  // two are one quote
    }
  }
  return std::string_view::npos;
}

// Without the comment: a number sign at the beginning or behind a space, outside of quotes.
std::string_view WithoutComment(std::string_view text) {
  for (size_t at = 0; at < text.size(); at++) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '[' || text[at - 1] == '{';
    if (begins && (text[at] == '"' || text[at] == '\'')) {
      const size_t length = QuoteEnd(text.substr(at));
      if (length == std::string_view::npos) return text;
      at += length - 1;
    } else if (text[at] == '#' && (at == 0 || text[at - 1] == ' ')) {
      return text.substr(0, at);
    }
  }
  return text;
}

class YamlParser {
 public:
  explicit YamlParser(std::string* problem) : problem_(*problem) {}

  bool Parse(std::string_view yaml, std::string* json) {
    if (FirstBadUtf8(yaml) != kAllUtf8) return problem_ = "is not UTF-8", false;
    if (!Split(yaml)) return false;
    if (lines_.empty()) return problem_ = "holds nothing", false;
    if (!Block(lines_[0].indent, 0, json)) return false;
    return next_ == lines_.size() || Fail("is indented as nothing above it");
  }

 private:
  bool Fail(const std::string& what) {
    const size_t number = lines_.empty() ? 1 : lines_[std::min(next_, lines_.size() - 1)].number;
    problem_ = "line " + std::to_string(number) + ": " + what;
    return false;
  }

  bool Split(std::string_view yaml) {
    size_t number = 0;
    for (size_t at = 0; at < yaml.size();) {
      const size_t end = std::min(yaml.find('\n', at), yaml.size());
      std::string_view text = yaml.substr(at, end - at);
      at = end + 1;
      number++;
      const size_t indent = std::min(text.find_first_not_of(' '), text.size());
      text = TrimmedEnd(WithoutComment(text.substr(indent)));
      if (text.empty() || (text == "---" && lines_.empty())) continue;
      lines_.push_back({number, indent, text});
      next_ = lines_.size() - 1;
      if (text[0] == '\t') return Fail("begins with a tab: indent with spaces");
      if (indent == 0 && (text == "---" || text == "..." || text[0] == '%'))
        return Fail("directives and further documents are not supported");
    }
    next_ = 0;
    return true;
  }

  bool AtItem() const { return lines_[next_].text == "-" || lines_[next_].text.substr(0, 2) == "- "; }

  bool Block(size_t indent, size_t depth, std::string* json) {
    if (depth > kMaxDepth) return Fail("lies too deep");
    return AtItem() ? List(indent, json) : Mapping(indent, depth, json);
  }

  bool List(size_t indent, std::string* json) {
    *json += '[';
    for (bool first = true; next_ < lines_.size() && lines_[next_].indent == indent && AtItem();
         first = false) {
      if (!first) *json += ',';
      std::string_view text = lines_[next_].text.substr(1);
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
      if (text.empty() || text.substr(0, 2) == "- ") return Fail("lists hold values only");
      if (!Value(text, json)) return false;
      next_++;
    }
    *json += ']';
    return true;
  }

  bool Mapping(size_t indent, size_t depth, std::string* json) {
    std::set<std::string> keys;
    *json += '{';
    while (next_ < lines_.size() && lines_[next_].indent == indent && !AtItem()) {
      std::string_view rest = lines_[next_].text;
      std::string key;
      if (!Key(&rest, &key)) return false;
      if (!keys.insert(key).second) return Fail("names \"" + key + "\" a second time");
      *json += (keys.size() > 1 ? "," : "") + Quoted(key) + ":";
      if (!(rest.empty() ? Nested(indent, depth, json) : Value(rest, json))) return false;
      if (!rest.empty()) next_++;
    }
    *json += '}';
    if (next_ < lines_.size() && lines_[next_].indent > indent)
      return Fail("is indented as nothing above it");
    return true;
  }

  // Reads the value below a key: it lies deeper, or is a list at the depth of the key.
  bool Nested(size_t indent, size_t depth, std::string* json) {
    next_++;
    const bool more = next_ < lines_.size();
    if (more && lines_[next_].indent > indent) return Block(lines_[next_].indent, depth + 1, json);
    if (more && lines_[next_].indent == indent && AtItem()) return List(indent, json);
    *json += "null";
    return true;
  }

  // Takes "key:" and the blanks behind it.
  bool Key(std::string_view* rest, std::string* key) {
    size_t end = 0;
    if ((*rest)[0] == '"' || (*rest)[0] == '\'') {
      end = QuoteEnd(*rest);
      if (end == std::string_view::npos) return Fail("has a quote without an end");
      if (!Unquoted(rest->substr(0, end), key)) return false;
    } else {
      end = rest->find(':');
      while (end != std::string_view::npos && end + 1 < rest->size() && (*rest)[end + 1] != ' ')
        end = rest->find(':', end + 1);
      if (end == std::string_view::npos) return Fail("expected \"key: value\"");
      if (!IsPlain(rest->substr(0, end))) return Unsupported();
      *key = rest->substr(0, end);
    }
    if (end >= rest->size() || (*rest)[end] != ':') return Fail("expected \"key: value\"");
    rest->remove_prefix(end + 1);
    rest->remove_prefix(std::min(rest->find_first_not_of(' '), rest->size()));
    return true;
  }

  // A whole value: nothing may follow it.
  bool Value(std::string_view text, std::string* json) {
    if (text[0] == '[' || text[0] == '{') {
      if (!Flow(&text, 0, json)) return false;
    } else if (text[0] == '"' || text[0] == '\'') {
      const size_t end = QuoteEnd(text);
      std::string value;
      if (end == std::string_view::npos) return Fail("has a quote without an end");
      if (!Unquoted(text.substr(0, end), &value)) return false;
      *json += Quoted(value);
      text.remove_prefix(end);
    } else {
      if (text.find(": ") != std::string_view::npos || text.back() == ':')
        return Fail("has two keys on one line, or a mapping in a list");
      return Plain(text, json);
    }
    return text.empty() || Fail("has more than one value");
  }

  static void SkipBlanks(std::string_view* text) {
    text->remove_prefix(std::min(text->find_first_not_of(' '), text->size()));
  }

  bool Flow(std::string_view* text, size_t depth, std::string* json) {
    if (depth > kMaxDepth) return Fail("lies too deep");
    const bool list = (*text)[0] == '[';
    const char close = list ? ']' : '}';
    std::set<std::string> keys;
    *json += list ? '[' : '{';
    text->remove_prefix(1);
    SkipBlanks(text);
    for (bool first = true; text->empty() || (*text)[0] != close; first = false) {
      if (text->empty()) return Fail(std::string("expected \"") + close + "\" on the same line");
      if (!first) *json += ',';
      if (!list && !FlowKey(text, &keys, json)) return false;
      if (!FlowValue(text, depth, json)) return false;
      SkipBlanks(text);
      if (text->empty() || ((*text)[0] != ',' && (*text)[0] != close))
        return Fail(std::string("expected \",\" or \"") + close + "\"");
      if ((*text)[0] == ',') text->remove_prefix(1);
      SkipBlanks(text);
    }
    text->remove_prefix(1);
    *json += close;
    return true;
  }

  bool FlowKey(std::string_view* text, std::set<std::string>* keys, std::string* json) {
    std::string key;
    if (!Key(text, &key)) return false;
    if (!keys->insert(key).second) return Fail("names \"" + key + "\" a second time");
    *json += Quoted(key) + ":";
    return true;
  }

  bool FlowValue(std::string_view* text, size_t depth, std::string* json) {
    if (text->empty()) return Fail("lacks a value");
    if ((*text)[0] == '[' || (*text)[0] == '{') return Flow(text, depth + 1, json);
    size_t end = text->find_first_of(",]}");
    if ((*text)[0] == '"' || (*text)[0] == '\'') end = QuoteEnd(*text);
    if (end == std::string_view::npos) return Fail("has a value or a list without an end");
    const std::string_view value = TrimmedEnd(text->substr(0, end));
    text->remove_prefix(end);
    if (value.empty()) return Fail("lacks a value");
    return Value(value, json);
  }

  bool Unsupported() {
    return Fail("anchors, aliases, tags, block texts and keys of their own line are not supported");
  }

  static bool IsPlain(std::string_view text) {
    constexpr std::string_view kMarks = "&*!|>%@`?,[]{}\"'#";
    return !text.empty() && kMarks.find(text[0]) == std::string_view::npos && text != "<<" &&
           text.find('\t') == std::string_view::npos;
  }

  bool Plain(std::string_view text, std::string* json) {
    if (!IsPlain(text)) return Unsupported();
    if (text == "null" || text == "~") {
      *json += "null";
    } else if (text == "true" || text == "false" || IsNumber(text)) {
      *json += text;
    } else {
      *json += Quoted(text);
    }
    return true;
  }

  bool Unquoted(std::string_view quoted, std::string* value) {
    const bool escapes = quoted[0] == '"';
    const std::string_view text = quoted.substr(1, quoted.size() - 2);
    for (size_t at = 0; at < text.size(); at++) {
      if (!escapes && text[at] == '\'') at++;  // two are one
      if (!escapes || text[at] != '\\') {
        value->push_back(text[at]);
      } else if (!Escape(text, &at, value)) {
        return Fail("has an escape that is not supported");
      }
    }
    return true;
  }

  // `at` is at the backslash, and then at the last character of the escape.
  static bool Escape(std::string_view text, size_t* at, std::string* value) {
    constexpr std::string_view kNames = "0tnr\"\\/", kValues{"\0\t\n\r\"\\/", 7}, kWide = "xuU";
    const char name = text[++*at];
    const size_t place = kNames.find(name), wide = kWide.find(name);
    if (place != std::string_view::npos) return value->push_back(kValues[place]), true;
    if (wide == std::string_view::npos) return false;
    const size_t digits = size_t{2} << wide;
    uint32_t code = 0;
    for (size_t n = 0; n < digits; n++) {
      const char c = *at + 1 < text.size() ? text[++*at] : 'x';
      const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
      const bool letter = lower >= 'a' && lower <= 'f';
      if (!letter && (lower < '0' || lower > '9')) return false;
      code = code << 4 | static_cast<uint32_t>(letter ? lower - 'a' + 10 : lower - '0');
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    AppendUtf8(code, value);
    return true;
  }

  std::string& problem_;
  std::vector<Line> lines_;
  size_t next_ = 0;
};

}  // namespace

bool JsonOfYaml(std::string_view yaml, std::string* json, std::string* problem) {
  json->clear();
  problem->clear();
  return YamlParser(problem).Parse(yaml, json);
}

}  // namespace parley::model
