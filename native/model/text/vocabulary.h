// vocab.json and merges.txt: the byte-level symbols, which pairs of them merge,
// in which order, and what bytes each stands for.
#ifndef PARLEY_MODEL_VOCABULARY_H_
#define PARLEY_MODEL_VOCABULARY_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parley::model {

// The alphabet of byte-level vocabularies: printable characters of Latin-1 as
// themselves, the other 68 in increasing order as U+0100, U+0101, ...

// In UTF-8.
std::string SymbolOfByte(uint8_t byte);

// The bytes of a symbol; false when a character of it is not of the alphabet.
bool BytesOfSymbol(std::string_view symbol, std::string* bytes);

// Not changed after Open(), so any thread may read.
class Vocabulary {
 public:
  static constexpr size_t kMaxFileBytes = size_t{64} << 20;

  // Null with `problem` set. Ids are below `size`; each of the 256 bytes has a
  // symbol; each merge joins two symbols to a third.
  static std::unique_ptr<const Vocabulary> Open(const std::string& directory, int64_t size,
                                                std::string* problem);

  // The ids of one piece of text in UTF-8, appended: repeatedly the pair of the
  // lowest rank, everywhere from left to right. Time grows as n log n.
  void Encode(std::string_view piece, std::vector<int32_t>* ids) const;

  // The bytes of a symbol; null for an id that has none.
  const std::string* BytesOf(int32_t id) const;

 private:
  struct Merge {
    uint32_t rank;
    int32_t joined;
  };
  using Ids = std::unordered_map<std::string, int32_t>;  // by the symbol as vocab.json writes it

  Vocabulary() = default;
  bool ReadSymbols(const std::string& path, int64_t size, Ids* ids, std::string* problem);
  bool ReadMerges(const std::string& path, const Ids& ids, std::string* problem);
  bool ReadMerge(std::string_view line, uint32_t rank, const Ids& ids, std::string* problem);
  const Merge* Find(int32_t left, int32_t right) const;

  std::array<int32_t, 256> byte_ids_{};
  std::vector<std::string> bytes_;  // by id
  std::unordered_map<uint64_t, Merge> merges_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_VOCABULARY_H_
