// A value, or the reason why there is none.
#ifndef PARLEY_RUNTIME_RESULT_H_
#define PARLEY_RUNTIME_RESULT_H_

#include <string>
#include <utility>
#include <variant>

namespace parley::runtime {

// A reason in words for people.
struct Problem {
  std::string text;
};

template <class Value>
class Result {
 public:
  // Both are implicit: a function returns the one or the other.
  Result(Value value) : state_(std::move(value)) {}
  Result(Problem problem) : state_(std::move(problem)) {}

  explicit operator bool() const { return std::holds_alternative<Value>(state_); }
  // Only if there is a value.
  Value& operator*() { return *std::get_if<Value>(&state_); }
  const Value& operator*() const { return *std::get_if<Value>(&state_); }
  Value* operator->() { return std::get_if<Value>(&state_); }
  const Value* operator->() const { return std::get_if<Value>(&state_); }
  // Only if there is none.
  const std::string& problem() const { return std::get_if<Problem>(&state_)->text; }

 private:
  std::variant<Value, Problem> state_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_RESULT_H_
