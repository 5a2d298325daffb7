#include "model/text/vocabulary.h"

#include <algorithm>
#include <array>
#include <functional>

#include "model/files/file.h"
#include "model/files/json.h"
#include "model/text/unicode.h"

namespace parley::model {
namespace {

std::string Shown(std::string_view symbol) { return "\"" + std::string(symbol.substr(0, 100)) + "\""; }

uint64_t PairOf(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

std::unique_ptr<const Vocabulary> Vocabulary::Open(const std::string& directory, int64_t size,
                                                   std::string* problem) {
  std::unique_ptr<Vocabulary> vocabulary(new Vocabulary());
  Ids ids;
  if (!vocabulary->ReadSymbols(directory + "/vocab.json", size, &ids, problem)) return nullptr;
  if (!vocabulary->ReadMerges(directory + "/merges.txt", ids, problem)) return nullptr;
  return vocabulary;
}

bool Vocabulary::ReadSymbols(const std::string& path, int64_t size, Ids* ids, std::string* problem) {
  std::string text;
  if (!ReadFile(path, kMaxFileBytes, &text, problem)) return false;
  const auto document = JsonDocument::Parse(text, problem);
  if (!document) return *problem = path + ": " + *problem, false;
  if (!document->root().is(JsonKind::kObject)) return *problem = path + ": expected a JSON object", false;
  ids->reserve(document->root().size());
  for (Json entry = document->root().first(); entry.present(); entry = entry.next()) {
    const int64_t id = entry.integer().value_or(-1);
    std::string bytes;
    const bool good = id >= 0 && id < size && BytesOfSymbol(entry.key(), &bytes) && !bytes.empty();
    if (good && bytes_.size() <= static_cast<size_t>(id)) bytes_.resize(static_cast<size_t>(id) + 1);
    if (!good || !bytes_[static_cast<size_t>(id)].empty()) {
      *problem = path + ": " + Shown(entry.key()) + ": expected byte-level characters and an id below " +
                 std::to_string(size) + " that no other symbol has";
      return false;
    }
    bytes_[static_cast<size_t>(id)] = std::move(bytes);
    ids->emplace(entry.key(), static_cast<int32_t>(id));
  }
  for (int byte = 0; byte < 256; byte++) {
    const auto found = ids->find(SymbolOfByte(static_cast<uint8_t>(byte)));
    if (found == ids->end())
      return *problem = path + ": lacks a symbol for the byte " + std::to_string(byte), false;
    byte_ids_[static_cast<size_t>(byte)] = found->second;
  }
  return true;
}

bool Vocabulary::ReadMerges(const std::string& path, const Ids& ids, std::string* problem) {
  std::string text;
  if (!ReadFile(path, kMaxFileBytes, &text, problem)) return false;
  std::string_view rest = text;
  uint32_t rank = 0;
  for (size_t number = 1; !rest.empty(); number++) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.substr(0, 8) == "#version")) continue;
    if (ReadMerge(line, rank++, ids, problem)) continue;
    *problem = path + ": line " + std::to_string(number) + ": " + *problem;
    return false;
  }
  // Without merges every byte would be a token, and the model would babble.
  if (rank == 0) return *problem = path + ": holds no merges", false;
  return true;
}

bool Vocabulary::ReadMerge(std::string_view line, uint32_t rank, const Ids& ids, std::string* problem) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.find(' ', space + 1) != std::string_view::npos) {
    *problem = "expected two symbols and a space between, found " + Shown(line);
    return false;
  }
  const std::string left(line.substr(0, space)), right(line.substr(space + 1));
  int32_t found[3];
  const std::string* const symbols[3] = {&left, &right, nullptr};
  const std::string joined = left + right;
  for (size_t n = 0; n < 3; n++) {
    const std::string& symbol = symbols[n] ? *symbols[n] : joined;
    const auto entry = ids.find(symbol);
    if (entry == ids.end()) return *problem = Shown(symbol) + " is not in vocab.json", false;
    found[n] = entry->second;
  }
  merges_[PairOf(found[0], found[1])] = {rank, found[2]};  // if a pair occurs twice, the last one counts
  return true;
}

const Vocabulary::Merge* Vocabulary::Find(int32_t left, int32_t right) const {
  const auto found = merges_.find(PairOf(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

const std::string* Vocabulary::BytesOf(int32_t id) const {
  const auto place = static_cast<size_t>(id);
  return id >= 0 && place < bytes_.size() && !bytes_[place].empty() ? &bytes_[place] : nullptr;
}

// Vocabulary::Encode: the merges of one piece.
//
// The symbols are a doubly linked list over an array. A heap holds the pairs
// that can merge, by rank and place; all places of one rank are taken before
// the pairs that they make are looked at, so that the order is exactly that of
// merging one pair everywhere, then the next.

namespace {

constexpr int32_t kEnd = -1;

struct Symbol {
  int32_t id;  // kEnd once it was joined to the one before
  int32_t before, after;
};

struct Candidate {
  uint32_t rank;
  int32_t at;                   // position of the left symbol
  int32_t left, right, joined;  // as they were when it was found

  bool operator>(const Candidate& other) const {
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

}  // namespace

void Vocabulary::Encode(std::string_view piece, std::vector<int32_t>* ids) const {
  std::vector<Symbol> symbols;
  const auto count = static_cast<int32_t>(piece.size());
  symbols.reserve(piece.size());
  for (int32_t n = 0; n < count; n++) {
    const int32_t id = byte_ids_[static_cast<uint8_t>(piece[static_cast<size_t>(n)])];
    symbols.push_back({id, n - 1, n + 1 < count ? n + 1 : kEnd});
  }
  std::vector<Candidate> heap;
  const auto consider = [&](int32_t at) {
    if (at == kEnd || symbols[at].after == kEnd) return;
    const int32_t left = symbols[at].id, right = symbols[symbols[at].after].id;
    const Merge* const merge = Find(left, right);
    if (merge == nullptr) return;
    heap.push_back({merge->rank, at, left, right, merge->joined});
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (int32_t n = 0; n < count; n++) consider(n);
  std::vector<int32_t> joined;  // places, of one rank
  while (!heap.empty()) {
    const uint32_t rank = heap.front().rank;
    joined.clear();
    while (!heap.empty() && heap.front().rank == rank) {
      const Candidate one = heap.front();
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      heap.pop_back();
      Symbol& left = symbols[one.at];
      if (left.id != one.left || left.after == kEnd || symbols[left.after].id != one.right) continue;
      Symbol& right = symbols[left.after];
      left.id = one.joined;
      left.after = right.after;
      right.id = kEnd;
      if (left.after != kEnd) symbols[left.after].before = one.at;
      joined.push_back(one.at);
    }
    for (const int32_t at : joined) {
      if (symbols[at].id == kEnd) continue;
      consider(symbols[at].before);
      consider(at);
    }
  }
  for (int32_t at = count > 0 ? 0 : kEnd; at != kEnd; at = symbols[at].after) ids->push_back(symbols[at].id);
}

namespace {

constexpr char32_t kFirstSubstitute = 0x100;
constexpr size_t kSubstitutes = 68;

constexpr bool IsItself(char32_t code) {
  return (code >= 33 && code <= 126) || (code >= 161 && code <= 172) || (code >= 174 && code <= 255);
}

constexpr std::array<uint8_t, kSubstitutes> SubstitutedBytes() {
  std::array<uint8_t, kSubstitutes> bytes{};
  size_t count = 0;
  for (char32_t code = 0; code < 256; code++) {
    if (!IsItself(code)) bytes[count++] = static_cast<uint8_t>(code);
  }
  return bytes;
}

constexpr std::array<uint8_t, kSubstitutes> kSubstituted = SubstitutedBytes();

}  // namespace

std::string SymbolOfByte(uint8_t byte) {
  char32_t code = byte;
  for (size_t n = 0; n < kSubstitutes; n++) {
    if (kSubstituted[n] == byte) code = kFirstSubstitute + static_cast<char32_t>(n);
  }
  std::string symbol;
  AppendUtf8(code, &symbol);
  return symbol;
}

bool BytesOfSymbol(std::string_view symbol, std::string* bytes) {
  for (size_t at = 0; at < symbol.size();) {
    const char32_t code = TakeUtf8(symbol, &at);
    if (code < kFirstSubstitute && IsItself(code)) {
      bytes->push_back(static_cast<char>(code));
    } else if (code >= kFirstSubstitute && code < kFirstSubstitute + kSubstitutes) {
      bytes->push_back(static_cast<char>(kSubstituted[code - kFirstSubstitute]));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace parley::model
