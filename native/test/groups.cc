// Runs the groups of a test program, each in a process of its own: what one leaves behind, no other sees, and
// where one ends by a signal, the others still run.
//
//   cuda_tests                               every group
//   cuda_tests cuda_speech cuda_layers       these
//   cuda_tests cuda_layers --case halves     the cases whose names have this in them
//   cuda_tests --list                        the names of the groups
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "test/check.h"

namespace parley::test {

std::vector<Group>& Groups() {
  static std::vector<Group> groups;
  return groups;
}

namespace {

std::string wanted_case;  // part of its name; empty for all

// The name of the case that runs, which the process that waits reads.
constexpr size_t kNameBytes = 200;
char* running = nullptr;

void RunCase(const Case& one) {
  try {
    one.second();
  } catch (const std::exception& problem) {
    Fail(one.first, std::string("exception: ") + problem.what(), "none", "a case", 0);
  }
}

}  // namespace

int Run(const std::vector<Case>& cases) {
  size_t ran = 0;
  for (const Case& one : cases) {
    if (std::strstr(one.first, wanted_case.c_str()) == nullptr) continue;
    std::snprintf(running, kNameBytes, "%s", one.first);
    const int before = Failures();
    RunCase(one);
    std::printf("%s %s\n", Failures() == before ? "ok    " : "FAILED", one.first);
    ran++;
  }
  std::snprintf(running, kNameBytes, "the end");
  if (ran == 0) std::fprintf(stderr, "no case has \"%s\" in its name\n", wanted_case.c_str());
  return Failures() == 0 && ran > 0 ? 0 : 1;
}

namespace {

// True if it passed.
bool RunApart(const Group& group) {
  std::snprintf(running, kNameBytes, "the beginning");
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(1);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // so that all lines before a crash are seen
    std::exit(group.run());
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "FAILED %s: ended by signal %d (%s) in: %s\n", group.name, WTERMSIG(status),
                 strsignal(WTERMSIG(status)), running);
  } else {
    std::fprintf(stderr, "FAILED %s: ended with %d, at last in: %s\n", group.name, WEXITSTATUS(status),
                 running);
  }
  return false;
}

int Usage(const std::string& problem) {
  std::fprintf(stderr, "%s\nusage: [--list] [--case <part of a name>] [group ...]\n", problem.c_str());
  return 64;
}

int RunAll(const std::vector<std::string>& names) {
  std::vector<Group> chosen;
  for (const Group& group : Groups()) {
    if (names.empty() || std::find(names.begin(), names.end(), group.name) != names.end())
      chosen.push_back(group);
  }
  for (const std::string& name : names) {
    const auto has_name = [&](const Group& group) { return group.name == name; };
    if (std::none_of(chosen.begin(), chosen.end(), has_name)) return Usage("there is no group " + name);
  }
  size_t failed = 0;
  for (const Group& group : chosen) failed += RunApart(group) ? 0 : 1;
  if (chosen.size() > 1) std::printf("%zu groups passed, %zu failed\n", chosen.size() - failed, failed);
  return failed == 0 && !chosen.empty() ? 0 : 1;
}

}  // namespace
}  // namespace parley::test

int main(int count, char** words) {
  using namespace parley::test;
  std::sort(Groups().begin(), Groups().end(),
            [](const Group& a, const Group& b) { return std::strcmp(a.name, b.name) < 0; });
  std::vector<std::string> names;
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word == "--list") {
      for (const Group& group : Groups()) std::puts(group.name);
      return 0;
    }
    if (word == "--case" && i + 1 < count) wanted_case = words[++i];
    else if (word.rfind("--", 0) == 0) return Usage("unknown: " + word);
    else names.push_back(word);
  }
  running = static_cast<char*>(
      mmap(nullptr, kNameBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (running == MAP_FAILED) {
    std::perror("mmap");
    return 1;
  }
  return RunAll(names);
}
