// A native test needs this: groups of named cases, and a check that prints what it saw. One program has the
// groups of a room, one of each file; test/groups.cc runs them.
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

// Failures of this thread.
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

__attribute__((noinline)) inline void Fail(const char* what, const std::string& seen,
                                           const std::string& wanted, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: %s\n    saw    %s\n    wanted %s\n", file, line, what, seen.c_str(),
               wanted.c_str());
  Failures()++;
  OwnFailures()++;
}

template <class A, class B>
void CheckEqual(const A& seen, const B& wanted, const char* what, const char* file, int line) {
  if (!(seen == wanted)) Fail(what, TextOf(seen), TextOf(wanted), file, line);
}

// Message of the std::invalid_argument that `work` throws; empty if it throws none.
template <class Work>
std::string RefusalOf(const Work& work) {
  try {
    work();
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "";
}

// The value of a runtime::Result. Its problem fails the case.
template <class Result>
auto ValueOf(Result result) {
  if (!result) throw std::runtime_error(result.problem());
  return std::move(*result);
}

// The problem of a runtime::Result; "none" if it has a value.
template <class Result>
std::string ProblemIn(const Result& result) {
  return result ? "none" : result.problem();
}

using Case = std::pair<const char*, std::function<void()>>;

// Runs those that are asked for on the command line; the exit code. An exception that leaves a case fails it.
int Run(const std::vector<Case>& cases);

// The cases of one file: `run` returns the exit code.
struct Group {
  const char* name;
  int (*run)();
};

// Groups of this program, in the order of their names.
std::vector<Group>& Groups();

struct Registration {
  Registration(const char* name, int (*run)()) { Groups().push_back({name, run}); }
};

}  // namespace parley::test

// TEST_GROUP(name) { return parley::test::Run({...}); }
#define TEST_GROUP(name)                                                           \
  static int RunGroup_##name();                                                    \
  static const ::parley::test::Registration kGroup_##name(#name, RunGroup_##name); \
  static int RunGroup_##name()

#define CHECK_EQ(seen, wanted) ::parley::test::CheckEqual((seen), (wanted), #seen, __FILE__, __LINE__)
#define CHECK(condition) \
  ::parley::test::CheckEqual(static_cast<bool>(condition), true, #condition, __FILE__, __LINE__)

#endif  // PARLEY_TEST_CHECK_H_
