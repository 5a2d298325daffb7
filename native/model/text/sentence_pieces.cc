#include "model/text/sentence_pieces.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/files/file.h"
#include "model/text/unicode.h"

namespace parley::model {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";  // U+2581
constexpr std::string_view kUnknownText = " \xE2\x81\x87 ";
constexpr float kUnknownPenalty = 10;
constexpr size_t kBytes = 256;

// The wire format of protocol buffers, version 2: https://protobuf.dev/programming-guides/encoding/
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    uint64_t number = 0;
    uint64_t varint = 0;     // also of 32 bits
    std::string_view bytes;  // of a string or message
  };

  // False at the end, or where the bytes are damaged.
  bool Next(Field* field) {
    uint64_t tag = 0;
    if (rest_.empty() || !TakeVarint(&tag)) return false;
    field->number = tag >> 3;
    switch (tag & 7) {
      case 0:
        return TakeVarint(&field->varint);
      case 1:
        return TakeBytes(8, field);
      case 2: {
        uint64_t length = 0;
        return TakeVarint(&length) && TakeBytes(length, field);
      }
      case 5: {
        uint32_t word = 0;
        if (!TakeBytes(sizeof(word), field)) return false;
        std::memcpy(&word, field->bytes.data(), sizeof(word));
        field->varint = word;
        return true;
      }
      default:
        return damaged_ = true, false;
    }
  }
  bool damaged() const { return damaged_; }

 private:
  bool TakeVarint(uint64_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return damaged_ = true, false;
  }

  bool TakeBytes(uint64_t count, Field* field) {
    if (count > rest_.size()) return damaged_ = true, false;
    field->bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }

  std::string_view rest_;
  bool damaged_ = false;
};

bool IsByteName(std::string_view text, size_t* byte) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return false;
  const int high = digit(text[3]), low = digit(text[4]);
  *byte = static_cast<size_t>(high * 16 + low);
  return high >= 0 && low >= 0;
}

std::string WithoutExtraSpaces(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    if (c != ' ' || (!kept.empty() && kept.back() != ' ')) kept.push_back(c);
  }
  if (!kept.empty() && kept.back() == ' ') kept.pop_back();
  return kept;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool BeginsWith(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

std::string WithEach(std::string_view text, std::string_view from, std::string_view to) {
  std::string made;
  for (size_t at = 0; at < text.size();) {
    if (BeginsWith(text.substr(at), from)) {
      made += to;
      at += from.size();
    } else {
      made.push_back(text[at++]);
    }
  }
  return made;
}

}  // namespace

// Reads the message ModelProto of sentencepiece_model.proto: what encoding needs of it.
class SentencePieceFile {
 public:
  explicit SentencePieceFile(SentencePieces* model) : model_(*model) {}

  bool Read(std::string_view bytes, std::string* problem) {
    constexpr uint64_t kUnigram = 1;
    ProtobufReader reader(bytes);
    for (ProtobufReader::Field field; reader.Next(&field);) {
      const bool good = field.number == 1   ? ReadPiece(field.bytes)
                        : field.number == 2 ? ReadTrainer(field.bytes)
                        : field.number == 3 ? ReadNormalizer(field.bytes)
                                            : true;
      if (!good || model_.pieces_.size() > SentencePieces::kMaxPieces) return *problem = kNoModel, false;
    }
    if (reader.damaged() || model_.pieces_.empty()) return *problem = kNoModel, false;
    if (kind_ != kUnigram)
      return *problem = "is a SentencePiece model of byte pairs, words or characters: expected unigram",
             false;
    if (normalizes_)
      return *problem = "normalises text by a map: expected the normaliser \"identity\"", false;
    return true;
  }

 private:
  static constexpr const char* kNoModel = "is not a SentencePiece model, or a damaged one";

  bool ReadPiece(std::string_view bytes) {
    SentencePieces::Piece piece;
    ProtobufReader reader(bytes);
    for (ProtobufReader::Field field; reader.Next(&field);) {
      if (field.number == 1) piece.text = field.bytes;
      if (field.number == 2) {
        const auto word = static_cast<uint32_t>(field.varint);
        std::memcpy(&piece.score, &word, sizeof(word));
      }
      if (field.number == 3) piece.kind = static_cast<PieceKind>(std::min<uint64_t>(field.varint, 0xFF));
    }
    const bool known = piece.kind >= PieceKind::kNormal && piece.kind <= PieceKind::kByte;
    const bool good = !reader.damaged() && known && !piece.text.empty() && std::isfinite(piece.score) &&
                      FirstBadUtf8(piece.text) == kAllUtf8;
    model_.pieces_.push_back(std::move(piece));
    return good;
  }

  bool ReadTrainer(std::string_view bytes) {
    ProtobufReader reader(bytes);
    for (ProtobufReader::Field field; reader.Next(&field);) {
      if (field.number == 3) kind_ = field.varint;
      if (field.number == 35) model_.byte_fallback_ = field.varint != 0;
    }
    return !reader.damaged();
  }

  bool ReadNormalizer(std::string_view bytes) {
    ProtobufReader reader(bytes);
    for (ProtobufReader::Field field; reader.Next(&field);) {
      if (field.number == 2) normalizes_ = !field.bytes.empty();
      if (field.number == 3) model_.add_dummy_prefix_ = field.varint != 0;
      if (field.number == 4) model_.remove_extra_whitespaces_ = field.varint != 0;
      if (field.number == 5) model_.escape_whitespaces_ = field.varint != 0;
    }
    return !reader.damaged();
  }

  SentencePieces& model_;
  uint64_t kind_ = 1;
  bool normalizes_ = false;
};

std::unique_ptr<const SentencePieces> SentencePieces::Open(const std::string& path, std::string* problem) {
  std::string bytes;
  if (!ReadFile(path, kMaxFileBytes, &bytes, problem)) return nullptr;
  std::unique_ptr<SentencePieces> model(new SentencePieces());
  if (SentencePieceFile(model.get()).Read(bytes, problem) && model->Prepare(problem)) return model;
  *problem = path + ": " + *problem;
  return nullptr;
}

bool SentencePieces::Prepare(std::string* problem) {
  constexpr int32_t kNone = -1;
  piece_at_.assign(1, kNone);
  unknown_id_ = kNone;
  std::vector<int32_t> by_byte(kBytes, kNone);
  for (size_t n = 0; n < pieces_.size(); n++) {
    const Piece& piece = pieces_[n];
    const auto id = static_cast<int32_t>(n);
    size_t byte = 0;
    if (piece.kind == PieceKind::kUnknown) unknown_id_ = id;
    if (piece.kind == PieceKind::kByte && IsByteName(piece.text, &byte)) by_byte[byte] = id;
    if (piece.kind == PieceKind::kNormal) {
      const bool first = least_score_ == 0 && most_score_ == 0;
      least_score_ = first ? piece.score : std::min(least_score_, piece.score);
      most_score_ = first ? piece.score : std::max(most_score_, piece.score);
    }
    if (piece.kind == PieceKind::kNormal || piece.kind == PieceKind::kUserDefined) AddToTrie(id);
  }
  if (unknown_id_ == kNone) return *problem = "lacks the piece for what is unknown", false;
  if (byte_fallback_) {
    if (std::count(by_byte.begin(), by_byte.end(), kNone) > 0)
      return *problem = "lacks a piece for one of the 256 bytes", false;
    byte_ids_ = std::move(by_byte);
  }
  return true;
}

void SentencePieces::AddToTrie(int32_t id) {
  uint32_t node = 0;
  for (const char c : PieceOf(id)) {
    const uint64_t key = static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(c);
    const auto [found, made] = next_.emplace(key, static_cast<uint32_t>(piece_at_.size()));
    if (made) piece_at_.push_back(-1);
    node = found->second;
  }
  if (piece_at_[node] < 0) piece_at_[node] = id;  // of equal pieces the first
}

std::string SentencePieces::Normalized(std::string_view text) const {
  std::string valid = Utf8Of(CodePointsOf(text));
  if (remove_extra_whitespaces_) valid = WithoutExtraSpaces(valid);
  if (valid.empty()) return valid;
  const std::string_view space = escape_whitespaces_ ? kSpace : " ";
  std::string normalized = add_dummy_prefix_ ? std::string(space) : "";
  normalized += WithEach(valid, " ", space);
  while (remove_extra_whitespaces_ && EndsWith(normalized, space))
    normalized.resize(normalized.size() - space.size());
  return normalized;
}

// The best way to the end of a stretch of the text, as far as it is known.
struct SentencePieces::Node {
  float score = 0;
  size_t from = 0;       // where its last piece begins
  int32_t id = -1;       // of that piece; unknown_id_: a character without one
  bool reached = false;  // the scores compare from then on
};

double SentencePieces::ScoreOf(const Piece& piece) const {
  if (piece.kind != PieceKind::kUserDefined) return static_cast<double>(piece.score);
  return static_cast<double>(static_cast<float>(piece.text.size()) * most_score_) - 0.1;
}

// Sums are made in double, compared with the float that is kept, and then rounded to one: so the official
// library does, and that decides between segmentations whose sums are equal.
void SentencePieces::Extend(std::string_view text, size_t from, std::vector<Node>* nodes) const {
  const float before = (*nodes)[from].score;
  const auto offer = [nodes, from](size_t end, double score, int32_t id) {
    Node& node = (*nodes)[end];
    if (node.reached && score <= static_cast<double>(node.score)) return;
    node = {static_cast<float>(score), from, id, true};
  };
  size_t character_end = from;
  TakeUtf8(text, &character_end);
  bool whole_character = false;
  uint32_t node = 0;
  for (size_t at = from; at < text.size();) {
    const auto next = next_.find(static_cast<uint64_t>(node) << 8 | static_cast<unsigned char>(text[at]));
    if (next == next_.end()) break;
    node = next->second;
    at++;
    const int32_t id = piece_at_[node];
    if (id < 0) continue;
    offer(at, ScoreOf(pieces_[static_cast<size_t>(id)]) + static_cast<double>(before), id);
    whole_character |= at == character_end;
  }
  if (!whole_character)
    offer(character_end, static_cast<double>(least_score_ - kUnknownPenalty + before), unknown_id_);
}

std::vector<int32_t> SentencePieces::Encode(std::string_view text) const {
  const std::string normalized = Normalized(text);
  std::vector<Node> nodes(normalized.size() + 1);
  nodes[0].reached = true;
  for (size_t at = 0; at < normalized.size(); at++) {
    if (nodes[at].reached) Extend(normalized, at, &nodes);
  }
  std::vector<size_t> ends;
  for (size_t end = normalized.size(); end > 0; end = nodes[end].from) ends.push_back(end);
  std::vector<int32_t> ids;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const Node& node = nodes[*end];
    if (node.id == unknown_id_) {
      AppendUnknown(std::string_view(normalized).substr(node.from, *end - node.from), &ids);
    } else {
      ids.push_back(node.id);
    }
  }
  return ids;
}

void SentencePieces::AppendUnknown(std::string_view character, std::vector<int32_t>* ids) const {
  if (byte_ids_.empty()) {
    if (ids->empty() || ids->back() != unknown_id_) ids->push_back(unknown_id_);
    return;
  }
  for (const char c : character) ids->push_back(byte_ids_[static_cast<unsigned char>(c)]);
}

std::string SentencePieces::Decode(const std::vector<int32_t>& ids, size_t from, size_t to) const {
  std::string text, bytes;
  bool prefix_seen = false;
  const auto end_bytes = [&text, &bytes] {
    text += Utf8Of(CodePointsOf(bytes));
    bytes.clear();
  };
  for (size_t n = from; n < to; n++) {
    const Piece& piece = pieces_[static_cast<size_t>(ids[n])];
    size_t byte = 0;
    if (piece.kind == PieceKind::kByte && IsByteName(piece.text, &byte)) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    end_bytes();
    if (piece.kind == PieceKind::kControl) continue;
    if (piece.kind == PieceKind::kUnknown) {
      text += kUnknownText;
      continue;
    }
    std::string_view shown = piece.text;
    if (text.empty() && !prefix_seen && (add_dummy_prefix_ || remove_extra_whitespaces_) &&
        BeginsWith(shown, kSpace)) {
      shown.remove_prefix(kSpace.size());
      prefix_seen = !remove_extra_whitespaces_;
    }
    text += WithEach(shown, kSpace, " ");
  }
  end_bytes();
  return text;
}

}  // namespace parley::model
