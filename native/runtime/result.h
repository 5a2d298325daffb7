// A value, or the reason why there is none.
#ifndef PARLEY_RUNTIME_RESULT_H_
#define PARLEY_RUNTIME_RESULT_H_

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace parley::runtime {

// A reason in words for people.
struct Problem {
  std::string text;
};

// The value of a function that only does something.
struct Done {};

template <class Value = Done, class Reason = Problem>
class Result {
 public:
  // Both are implicit: a function returns the one or the other. What converts to a value is one, too, such as
  // a pointer to a derived class.
  template <class Given = Value, class = std::enable_if_t<std::is_convertible_v<Given&&, Value>>>
  Result(Given&& value) : state_(std::in_place_index<0>, std::forward<Given>(value)) {}
  Result(Reason reason) : state_(std::in_place_index<1>, std::move(reason)) {}

  explicit operator bool() const { return std::holds_alternative<Value>(state_); }
  // Only if there is a value.
  Value& operator*() { return *std::get_if<Value>(&state_); }
  const Value& operator*() const { return *std::get_if<Value>(&state_); }
  Value* operator->() { return std::get_if<Value>(&state_); }
  const Value* operator->() const { return std::get_if<Value>(&state_); }
  // Only if there is none. A function whose value is another one returns the reason as it is.
  const Reason& reason() const { return *std::get_if<Reason>(&state_); }
  const std::string& problem() const { return reason().text; }

 private:
  std::variant<Value, Reason> state_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_RESULT_H_
