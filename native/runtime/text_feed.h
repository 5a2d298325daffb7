// Text that comes bit by bit, to the ids that all of it at once would give. Ids
// are given out as soon as nothing that follows can change them; so the last
// word is held back until something stands behind it.
#ifndef PARLEY_RUNTIME_TEXT_FEED_H_
#define PARLEY_RUNTIME_TEXT_FEED_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/text/tokenizer.h"

namespace parley::runtime {

class TextFeed {
 public:
  // The tokenizer outlives it.
  explicit TextFeed(const model::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Appends to `ids`. White space before the text is left out, as EncodeMarked() does. A character may be
  // divided between two calls. False with `problem` set: not UTF-8, or longer in all than the tokenizer
  // reads.
  bool Add(std::string_view text, bool last, std::vector<int32_t>* ids, std::string* problem);

  bool ended() const { return ended_; }

 private:
  const model::Tokenizer& tokenizer_;
  std::string held_;      // text that later text may still change
  size_t bytes_ = 0;      // all text
  size_t next_look_ = 0;  // bytes held, from which on it is worth looking for an end again
  bool begun_ = false;    // something other than white space came
  bool ended_ = false;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_TEXT_FEED_H_
