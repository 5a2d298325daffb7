#include "tools/byte_pairs.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "model/text/vocabulary.h"

namespace parley::tools {
namespace {

constexpr size_t kBytes = 256;
constexpr size_t kLetters = 26;
constexpr size_t kPairs = kLetters * kLetters;
// Odd and no multiple of 13: n * kStride runs through all pairs of pairs, without an order.
constexpr size_t kStride = 190'357;

// The first two must be symbols; of the others as many as there is room for.
constexpr const char* kWords[] = {
    "assistant", "user",   " the",    " and",   " you",   " that",     " have",   " for",    " not",
    " with",     " this",  " but",    " from",  " they",  " say",      " her",    " she",    " will",
    " one",      " all",   " would",  " there", " their", " what",     " out",    " about",  " who",
    " get",      " which", " when",   " make",  " can",   " like",     " time",   " just",   " him",
    " know",     " take",  " people", " into",  " year",  " your",     " good",   " some",   " could",
    " them",     " see",   " other",  " than",  " then",  " now",      " look",   " only",   " come",
    " its",      " over",  " think",  " also",  " back",  " after",    " use",    " two",    " how",
    " our",      " work",  " first",  " well",  " way",   " even",     " new",    " want",   " because",
    " any",      " these", " give",   " day",   " most",  " order",    " call",   " please", " thank",
    " number",   " hello", " help",   " name",  " today", " tomorrow", " minute", "ing",     "ion",
    "er",        "ed",     "es",      "ly",     "ment",   "tion",      "able",    "ness",    "est",
};

// Whole lead bytes of the Chinese characters in UTF-8, and the bytes that continue.
constexpr unsigned kFirstLead = 0xE4, kLastLead = 0xE9, kFirstRest = 0x80, kLastRest = 0xBF;

std::string SymbolsOf(const std::string& bytes) {
  std::string symbols;
  for (const char byte : bytes) symbols += model::SymbolOfByte(static_cast<uint8_t>(byte));
  return symbols;
}

class Maker {
 public:
  explicit Maker(size_t entries) : entries_(entries) {
    // Bytes in the order of the published vocabulary: bytes that stand for themselves, then the others.
    for (const bool substituted : {false, true}) {
      for (unsigned byte = 0; byte < kBytes; byte++) {
        const std::string symbol = model::SymbolOfByte(static_cast<uint8_t>(byte));
        const bool itself = byte < 0x80 ? symbol.size() == 1 : symbol == Utf8Of(byte);
        if (itself != substituted) Keep(symbol);
      }
    }
  }

  BytePairs Make() {
    for (const char* const word : kWords) AddWord(word);
    AddChinese();
    for (size_t n = 0; n < kPairs; n++) Add(Letter(n / kLetters), Letter(n % kLetters));
    for (size_t n = 0; n < kLetters; n++) Add(SymbolsOf(" "), Letter(n));
    for (size_t n = 0; n < kPairs * kPairs && !Full(); n++) {
      const size_t place = n * kStride % (kPairs * kPairs);
      Add(PairOf(place / kPairs), PairOf(place % kPairs));
    }
    if (!Full()) {
      throw std::invalid_argument("at most " + std::to_string(made_.symbols.size()) + " entries can be made");
    }
    const auto assistant = std::find(made_.symbols.begin(), made_.symbols.end(), "assistant");
    if (entries_ > kAssistantId) std::swap(*assistant, made_.symbols[kAssistantId]);
    return std::move(made_);
  }

 private:
  static std::string Letter(size_t n) { return std::string(1, static_cast<char>('a' + n)); }
  static std::string PairOf(size_t n) { return Letter(n / kLetters) + Letter(n % kLetters); }
  static std::string Utf8Of(unsigned code) {
    return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  }

  bool Full() const { return made_.symbols.size() == entries_; }

  void Keep(const std::string& symbol) {
    made_.symbols.push_back(symbol);
    known_.insert(symbol);
  }

  void Add(const std::string& left, const std::string& right) {
    if (Full() || known_.count(left + right) > 0) return;
    made_.merges.emplace_back(left, right);
    Keep(left + right);
  }

  void AddWord(const std::string& word) {
    for (size_t n = 1; n < word.size(); n++) Add(SymbolsOf(word.substr(0, n)), SymbolsOf(word.substr(n, 1)));
  }

  void AddChinese() {
    for (unsigned lead = kFirstLead; lead <= kLastLead; lead++) {
      for (unsigned second = kFirstRest; second <= kLastRest; second++) {
        const std::string two = {static_cast<char>(lead), static_cast<char>(second)};
        AddWord(two);
        for (unsigned third = kFirstRest; third <= kLastRest && !Full(); third++) {
          AddWord(two + static_cast<char>(third));
        }
      }
    }
  }

  const size_t entries_;
  BytePairs made_;
  std::unordered_set<std::string> known_;
};

size_t FewestEntries() {
  size_t merges = 0;
  for (size_t n = 0; n < 2; n++) merges += std::string(kWords[n]).size() - 1;
  return kBytes + merges;
}

}  // namespace

std::string BytePairs::VocabJson() const {
  std::string text = "{";
  for (size_t id = 0; id < symbols.size(); id++) {
    text += id == 0 ? "\"" : ", \"";
    for (const char letter : symbols[id]) {
      if (letter == '"' || letter == '\\') text += '\\';
      text += letter;
    }
    text += "\": " + std::to_string(id);
  }
  return text + "}";
}

std::string BytePairs::MergesText() const {
  std::string text = "#version: 0.2\n";
  for (const auto& [left, right] : merges) text += left + " " + right + "\n";
  return text;
}

BytePairs MakeBytePairs(size_t entries) {
  if (entries < FewestEntries()) {
    throw std::invalid_argument("a vocabulary has at least " + std::to_string(FewestEntries()) +
                                " entries: the bytes and the role names");
  }
  return Maker(entries).Make();
}

}  // namespace parley::tools
