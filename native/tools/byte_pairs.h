// A byte-level BPE vocabulary of any size that is made, not learnt: the 256 bytes, and merges each of
// which joins two symbols that were there before.
//
// It shortens text about as a real one does: some frequent words and most Chinese characters are
// one symbol, other Latin letters go by twos and fours.
#ifndef PARLEY_TOOLS_BYTE_PAIRS_H_
#define PARLEY_TOOLS_BYTE_PAIRS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace parley::tools {

struct BytePairs {
  std::vector<std::string> symbols;                         // by id, as vocab.json writes them
  std::vector<std::pair<std::string, std::string>> merges;  // in order

  std::string VocabJson() const;
  std::string MergesText() const;
};

// Makes `entries` symbols, among them the role names of a prompt, "assistant" and "user". Throws
// std::invalid_argument when `entries` is too small for these, or larger than can be made.
BytePairs MakeBytePairs(size_t entries);

// Id of "assistant" in the published vocabulary, and in every made vocabulary that is large enough.
constexpr size_t kAssistantId = 77091;

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_BYTE_PAIRS_H_
