// Goals of the benches: options "--name value" on the command line, and whether a measured figure reaches
// them.
#ifndef PARLEY_BENCH_GOALS_H_
#define PARLEY_BENCH_GOALS_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace parley::bench {

struct Goal {
  enum Kind { kAtLeast, kAtMost };

  const char *name, *unit;
  Kind kind;
  std::optional<double> value = {};  // absent: the bench does not check it

  // Prints the figure and the goal. Returns false if the figure misses the goal, or is NaN.
  bool IsReached(double figure) const {
    if (!value) return true;
    const bool reached = kind == kAtLeast ? figure >= *value : figure <= *value;
    std::printf("goal --%s: %s, %.1f of at %s %g %s\n", name, reached ? "reached" : "FAILED", figure,
                kind == kAtLeast ? "least" : "most", *value, unit);
    return reached;
  }
};

// Reads the options of `goals`, and returns the other words of the command line without the program's name.
// Throws std::runtime_error for an unknown option or a value that is not a positive number.
inline std::vector<const char*> TakeGoals(int count, char** words, const std::vector<Goal*>& goals) {
  std::vector<const char*> others;
  for (int n = 1; n < count; n++) {
    if (std::strncmp(words[n], "--", 2) != 0) {
      others.push_back(words[n]);
      continue;
    }
    const std::string option = words[n];
    const auto goal = std::find_if(goals.begin(), goals.end(),
                                   [&](const Goal* one) { return option.substr(2) == one->name; });
    if (goal == goals.end()) throw std::runtime_error("there is no option " + option);
    char* end = nullptr;
    const double value = n + 1 < count ? std::strtod(words[++n], &end) : 0;
    if (end == nullptr || *end != 0 || !(value > 0))
      throw std::runtime_error(option + " takes a number above 0");
    (*goal)->value = value;
  }
  return others;
}

}  // namespace parley::bench

#endif  // PARLEY_BENCH_GOALS_H_
