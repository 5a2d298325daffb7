#include "model/text/char_class.h"

#include <algorithm>
#include <iterator>

#include "model/text/char_class_data.h"

namespace parley::model {

CharClass ClassOf(char32_t code) {
  const uint32_t key = static_cast<uint32_t>(code) << 3 | 7;
  const uint32_t* const run = std::upper_bound(std::begin(kClassRuns), std::end(kClassRuns), key) - 1;
  return static_cast<CharClass>(*run & 7);
}

}  // namespace parley::model
