#include "model/files/json.h"

namespace parley::model {

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

}  // namespace parley::model
