// Limit on a generation's length: the requested one, or otherwise the most that its text can need. A
// generation that exceeds the latter has run on past its text.
#ifndef PARLEY_RUNTIME_TOKEN_BUDGET_H_
#define PARLEY_RUNTIME_TOKEN_BUDGET_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace parley::runtime {

struct TokenBudget {
  size_t draws = 0;        // number of first codes; each but the last gives a frame
  bool requested = false;  // set by the request: reaching it is no error
  bool by_text = false;    // derived from the text's length, else from the engine's configuration
  bool by_model = false;   // the model states it for the text
};

// Inputs of FindBudget.
struct BudgetQuestion {
  size_t requested = 0;   // the request's; 0: not set
  size_t configured = 0;  // the engine's; 0: from the text
  std::string_view language;
  size_t text_tokens = 0;  // so far
  bool text_ended = true;
  size_t prompt_rows = 0;
  size_t most_positions = 0;           // the model's, prompt and frames together
  size_t most_draws = 0;               // from the model's generation_config
  std::optional<size_t> model_frames;  // that the model allows the text
};

// Returns a problem if the model has too few positions.
Result<TokenBudget> FindBudget(const BudgetQuestion& question);

// Frames of a text at an ordinary pace, rounded up.
size_t OrdinaryFrames(std::string_view language, size_t text_tokens);

// Draws after which speech has run on past its text: three times the ordinary length, plus 4 s.
size_t GenerousDraws(std::string_view language, size_t text_tokens);

// Draws for a text whose end is not known yet: two minutes.
inline constexpr size_t kOpenDraws = 1500;

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_TOKEN_BUDGET_H_
