// Tokenizes text that arrives in pieces into the ids that the whole text gives. It returns ids as soon as
// later text cannot change them, so it holds the last word back until a character follows it.
#ifndef PARLEY_RUNTIME_TEXT_FEED_H_
#define PARLEY_RUNTIME_TEXT_FEED_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/tokenizer.h"
#include "runtime/result.h"

namespace parley::runtime {

class TextFeed {
 public:
  // The tokenizer outlives it.
  explicit TextFeed(const model::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Returns the next ids. It drops white space before the text, as EncodeMarked() does. A character may be
  // divided between two calls. Returns a problem if the text is not UTF-8, or longer in total than the
  // tokenizer reads.
  Result<std::vector<int32_t>> Add(std::string_view text, bool last);

  bool ended() const { return ended_; }

 private:
  const model::Tokenizer& tokenizer_;
  std::string held_;      // text that later text may still change
  size_t bytes_ = 0;      // all text
  size_t next_look_ = 0;  // number of held bytes at which the search for a word's end is repeated
  bool begun_ = false;    // something other than white space came
  bool ended_ = false;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_TEXT_FEED_H_
