#include "runtime/token_budget.h"

#include <strings.h>

#include <algorithm>

namespace parley::runtime {
namespace {

constexpr size_t kGenerous = 3;
constexpr size_t kLeastDraws = 2;  // a frame, and its end
constexpr size_t kSpare = 50;      // frames: breath before and after, of a single word too

// Tenths of a frame that a token takes at 12.5 frames a second: from usual rates
// of speech and how many tokens of this vocabulary a second of it has. Digits
// and abbreviations take up to twice as long as other tokens; the factor is for them, too.
struct Pace {
  const char* language;
  size_t tenths;
};
constexpr Pace kPaces[] = {
    {"english", 40},    {"chinese", 45}, {"german", 32},  {"french", 30},   {"spanish", 30},
    {"portuguese", 30}, {"italian", 30}, {"russian", 30}, {"japanese", 30}, {"korean", 30},
};
constexpr size_t kSlowestPace = 45;  // if the language is unknown

size_t PaceOf(std::string_view language) {
  for (const Pace& pace : kPaces) {
    if (strcasecmp(std::string(language).c_str(), pace.language) == 0) return pace.tenths;
  }
  return kSlowestPace;
}

std::string Count(size_t number) { return std::to_string(number); }

}  // namespace

size_t OrdinaryFrames(std::string_view language, size_t text_tokens) {
  return (text_tokens * PaceOf(language) + 9) / 10;
}

size_t GenerousDraws(std::string_view language, size_t text_tokens) {
  return OrdinaryFrames(language, text_tokens) * kGenerous + kSpare;
}

Result<TokenBudget> FindBudget(const BudgetQuestion& question) {
  const size_t left = question.most_positions - std::min(question.prompt_rows, question.most_positions);
  if (std::max(question.requested, question.requested > 0 ? kLeastDraws : 0) > left) {
    return Problem{"max_new_tokens is " + Count(question.requested) + "; the prompt leaves " + Count(left) +
                   " of " + Count(question.most_positions) + " positions"};
  }
  const size_t of_model = question.model_frames ? *question.model_frames + 1 : SIZE_MAX;
  if (question.requested > 0 && question.requested < of_model)
    return TokenBudget{std::max(question.requested, kLeastDraws), true, false};
  if (question.configured > 0 && question.configured < of_model)
    return TokenBudget{std::min(std::max(question.configured, kLeastDraws), left), false, false};
  if (question.model_frames) return TokenBudget{of_model, false, false, true};
  const size_t most = std::min(left, question.most_draws);
  const size_t ordinary = OrdinaryFrames(question.language, question.text_tokens);
  if (ordinary >= most) {
    return Problem{"the text takes about " + Count(ordinary) + " frames; " + Count(most) + " are the most"};
  }
  size_t wanted = GenerousDraws(question.language, question.text_tokens);
  if (!question.text_ended) wanted = std::max(wanted, kOpenDraws);
  return TokenBudget{std::min(wanted, most), false, true};
}

}  // namespace parley::runtime
