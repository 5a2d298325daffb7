// What a native test needs: named cases, and a check that prints what it saw.
#ifndef PARLEY_TEST_CHECK_H_
#define PARLEY_TEST_CHECK_H_

#include <atomic>
#include <cstdio>
#include <functional>
#include <sstream>
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

template <class A, class B>
void CheckEqual(const A& seen, const B& wanted, const char* what, const char* file, int line) {
  if (seen == wanted) return;
  std::ostringstream text;
  text << file << ":" << line << ": " << what << "\n    saw    " << seen << "\n    wanted " << wanted;
  std::fprintf(stderr, "%s\n", text.str().c_str());
  Failures()++;
  OwnFailures()++;
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
