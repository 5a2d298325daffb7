#include "model/files/config_reader.h"

#include <cstdio>

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

void ConfigReader::Require(bool holds, std::string_view key, const std::string& rule) const {
  if (!holds) Fail(key, rule);
}

}  // namespace parley::model
