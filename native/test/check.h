// What a native test needs: named cases, and a check that prints what it saw.
#ifndef PARLEY_TEST_CHECK_H_
#define PARLEY_TEST_CHECK_H_

#include <atomic>
#include <cstdio>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace parley::test {

inline std::atomic<int>& Failures() {
  static std::atomic<int> failures{0};
  return failures;
}

// Of this thread.
inline int& OwnFailures() {
  thread_local int failures = 0;
  return failures;
}

// Once per type and not once per check: they are most of what a test takes to compile.
inline std::string TextOf(const char* value) { return value; }
inline const std::string& TextOf(const std::string& value) { return value; }
template <class Value>
__attribute__((noinline)) std::string TextOf(const Value& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

__attribute__((noinline)) inline void Fail(const char* what, const std::string& seen, const std::string& wanted,
                                           const char* file, int line) {
  std::fprintf(stderr, "%s:%d: %s\n    saw    %s\n    wanted %s\n", file, line, what, seen.c_str(), wanted.c_str());
  Failures()++;
  OwnFailures()++;
}

template <class A, class B>
void CheckEqual(const A& seen, const B& wanted, const char* what, const char* file, int line) {
  if (!(seen == wanted)) Fail(what, TextOf(seen), TextOf(wanted), file, line);
}

// How `work` was refused, by std::invalid_argument; empty when it was not.
template <class Work>
std::string RefusalOf(const Work& work) {
  try {
    work();
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "";
}

using Case = std::pair<const char*, std::function<void()>>;

// The exit code for main.
inline int Run(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const int before = Failures();
    one.second();
    std::printf("%s %s\n", Failures() == before ? "ok    " : "FAILED", one.first);
  }
  return Failures() == 0 ? 0 : 1;
}

}  // namespace parley::test

#define CHECK_EQ(seen, wanted) ::parley::test::CheckEqual((seen), (wanted), #seen, __FILE__, __LINE__)
#define CHECK(condition) ::parley::test::CheckEqual(static_cast<bool>(condition), true, #condition, __FILE__, __LINE__)

#endif  // PARLEY_TEST_CHECK_H_
