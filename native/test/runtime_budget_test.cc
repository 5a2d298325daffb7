// Checks what an engine derives from the machine: the limit of a generation's length, memory size, NUMA node.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/machine_memory.h"
#include "runtime/token_budget.h"
#include "test/check.h"
#include "test/golden_engine.h"

namespace parley::test {
namespace {

using namespace runtime;

BudgetQuestion Asked(size_t text_tokens) {
  BudgetQuestion question;
  question.language = "english";
  question.text_tokens = text_tokens;
  question.prompt_rows = 10;
  question.most_positions = 32768;
  question.most_draws = 8192;
  return question;
}

std::string Answer(const BudgetQuestion& question) {
  const auto budget = FindBudget(question);
  if (!budget) return budget.problem();
  return std::to_string(budget->draws) + (budget->requested ? " requested"
                                          : budget->by_text ? " by text"
                                                            : " configured");
}

void ATextGetsThreeTimesItsOrdinaryLengthAndFourSeconds() {
  CHECK_EQ(OrdinaryFrames("english", 10), size_t{40});
  CHECK_EQ(OrdinaryFrames("English", 10), size_t{40});
  CHECK_EQ(OrdinaryFrames("german", 1), size_t{4});
  CHECK_EQ(OrdinaryFrames("auto", 10), size_t{45});
  CHECK_EQ(OrdinaryFrames("klingon", 10), size_t{45});
  CHECK_EQ(Answer(Asked(10)), "170 by text");
  CHECK_EQ(Answer(Asked(0)), "50 by text");
}

void ATextWithoutAnEndGetsTwoMinutes() {
  BudgetQuestion question = Asked(10);
  question.text_ended = false;
  CHECK_EQ(Answer(question), "1500 by text");
  question.text_tokens = 1000;
  CHECK_EQ(Answer(question), "8192 by text");
  question.most_positions = 1010;
  question.text_tokens = 10;
  CHECK_EQ(Answer(question), "1000 by text");
}

void WhatIsAskedForComesBeforeWhatIsConfigured() {
  BudgetQuestion question = Asked(10);
  question.configured = 300;
  CHECK_EQ(Answer(question), "300 configured");
  question.configured = 40'000;
  CHECK_EQ(Answer(question), "32758 configured");
  question.requested = 20;
  CHECK_EQ(Answer(question), "20 requested");
  question.requested = 32758;
  CHECK_EQ(Answer(question), "32758 requested");
  question.requested++;
  CHECK_EQ(Answer(question), "max_new_tokens is 32759; the prompt leaves 32758 of 32768 positions");
}

// The draw that ends a generation gives no frame.
void TheLeastBudgetIsOneFrame() {
  BudgetQuestion question = Asked(10);
  question.requested = 1;
  CHECK_EQ(Answer(question), "2 requested");
  question.most_positions = 11;
  CHECK_EQ(Answer(question), "max_new_tokens is 1; the prompt leaves 1 of 11 positions");
  question = Asked(10);
  question.configured = 1;
  CHECK_EQ(Answer(question), "2 configured");
}

void ATextThatCannotBeSpokenToItsEndIsRefused() {
  CHECK_EQ(Answer(Asked(2047)), "8192 by text");
  CHECK_EQ(Answer(Asked(2048)), "the text takes about 8192 frames; 8192 are the most");
  BudgetQuestion question = Asked(100);
  question.most_positions = 300;
  CHECK_EQ(Answer(question), "the text takes about 400 frames; 290 are the most");
  question.most_positions = 5;  // fewer than the prompt has
  CHECK_EQ(Answer(question), "the text takes about 400 frames; 0 are the most");
}

// A machine as files.
class Machine {
 public:
  Machine() {
    char name[] = "/tmp/machine-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Machine() {
    const std::string command = "rm -r " + root_;
    if (std::system(command.c_str()) != 0) CHECK(!"the folder of a test could not be removed");
  }
  void Write(const std::string& path, const std::string& text) {
    for (size_t at = 1; (at = path.find('/', at)) != std::string::npos; at++) {
      mkdir((root_ + path.substr(0, at)).c_str(), 0700);
    }
    std::ofstream(root_ + path) << text;
  }
  size_t Available() const { return AvailableMemory(root_); }

 private:
  std::string root_;
};

void TheMachineSaysWhatItHas() {
  Machine machine;
  CHECK_EQ(machine.Available(), SIZE_MAX);
  machine.Write("/proc/meminfo", "MemTotal:  9000 kB\nMemFree: 10 kB\nMemAvailable:    4000 kB\n");
  CHECK_EQ(machine.Available(), size_t{4000 * 1024});
  CHECK(AvailableMemory() > 0 && AvailableMemory() < SIZE_MAX);
}

void AGroupsLimitHoldsForThoseBelowIt() {
  Machine machine;
  machine.Write("/proc/meminfo", "MemAvailable: 4000 kB\n");
  machine.Write("/proc/self/cgroup", "0::/a/b\n");
  machine.Write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  machine.Write("/sys/fs/cgroup/a/b/memory.current", "5\n");
  CHECK_EQ(machine.Available(), size_t{4000 * 1024});
  machine.Write("/sys/fs/cgroup/a/memory.max", "900000\n");
  machine.Write("/sys/fs/cgroup/a/memory.current", "500000\n");
  CHECK_EQ(machine.Available(), size_t{400'000});
  machine.Write("/sys/fs/cgroup/a/memory.stat", "anon 1\nactive_file 100000\ninactive_file 50000\n");
  CHECK_EQ(machine.Available(), size_t{550'000});
  machine.Write("/sys/fs/cgroup/memory.max", "300000\n");  // a container's own top
  machine.Write("/sys/fs/cgroup/memory.current", "100000\n");
  CHECK_EQ(machine.Available(), size_t{200'000});
}

void TheOlderGroupsAreReadToo() {
  Machine machine;
  machine.Write("/proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/api/1\n0::/\n");
  machine.Write("/sys/fs/cgroup/memory/api/1/memory.limit_in_bytes", "1000\n");
  machine.Write("/sys/fs/cgroup/memory/api/1/memory.usage_in_bytes", "800\n");
  machine.Write("/sys/fs/cgroup/memory/api/1/memory.stat",
                "inactive_file 9\ntotal_inactive_file 100\ntotal_active_file 50\n");
  CHECK_EQ(machine.Available(), size_t{350});
  machine.Write("/sys/fs/cgroup/memory/api/1/memory.usage_in_bytes", "8000\n");
  CHECK_EQ(machine.Available(), size_t{0});
}

// --- threads whose memory comes from one NUMA node; every machine has node 0

// The calling thread's: "preferred 0"; "" where the system does not tell.
std::string Policy() {
  int mode = 0;
  unsigned long nodes[16] = {};
  if (syscall(SYS_get_mempolicy, &mode, nodes, 1024, nullptr, 0) != 0) return "";
  return mode == 0 ? "default" : mode == 1 && nodes[0] == 1 ? "preferred 0" : "another";
}

// True if a process may choose at all: in some containers it may not.
bool MayChoose() { return syscall(SYS_set_mempolicy, 0, nullptr, 0) == 0 && Policy() == "default"; }

std::string Refusal(int node) {
  try {
    PreferMemoryOf(node);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

void AThreadAndThoseThatItStartsPreferTheNode() {
  std::string own, started;
  std::thread thread([&] {
    PreferMemoryOf(0);
    own = Policy();
    std::thread([&] { started = Policy(); }).join();
  });
  thread.join();
  const std::string wanted = MayChoose() ? "preferred 0" : Policy();
  CHECK_EQ(own, wanted);
  CHECK_EQ(started, wanted);
  if (MayChoose()) CHECK_EQ(Policy(), "default");  // policy of the other threads
}

void ANodeThatThereIsNotIsRefusedByName() {
  CHECK_EQ(Refusal(-1), "NUMA node -1 has no memory for this process");
  CHECK_EQ(Refusal(1024), "NUMA node 1024 has no memory for this process");
  if (MayChoose()) CHECK_EQ(Refusal(1023), "NUMA node 1023 has no memory for this process");
}

void TheEngineSpeaksTheSameThere() {
  SpeechRequest request;
  request.text = "Hello.";
  request.speaker = "vivian";
  request.max_new_tokens = 5;
  EngineOptions options;
  const std::vector<float> wanted = Say(*GoldenEngine("tiny-customvoice", options), request).samples;
  options.numa_node = 0;
  CHECK(Say(*GoldenEngine("tiny-customvoice", options), request).samples == wanted);
  options.numa_node = 2000;
  options.directory = kGolden + "/tiny-customvoice";
  CHECK_EQ(ProblemIn(Engine::Open(options)), "NUMA node 2000 has no memory for this process");
  if (MayChoose()) CHECK_EQ(Policy(), "default");  // policy of the opening thread
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_budget) {
  using namespace parley::test;
  return Run({
      {"a text gets three times its ordinary length and four seconds",
       ATextGetsThreeTimesItsOrdinaryLengthAndFourSeconds},
      {"a text without an end gets two minutes", ATextWithoutAnEndGetsTwoMinutes},
      {"what is asked for comes before what is configured", WhatIsAskedForComesBeforeWhatIsConfigured},
      {"a text that cannot be spoken to its end is refused", ATextThatCannotBeSpokenToItsEndIsRefused},
      {"the least budget is one frame", TheLeastBudgetIsOneFrame},
      {"the machine says what it has", TheMachineSaysWhatItHas},
      {"a group's limit holds for those below it", AGroupsLimitHoldsForThoseBelowIt},
      {"the older groups are read too", TheOlderGroupsAreReadToo},
      {"a thread and those that it starts prefer the node", AThreadAndThoseThatItStartsPreferTheNode},
      {"a node that there is not is refused by name", ANodeThatThereIsNotIsRefusedByName},
      {"the engine speaks the same there", TheEngineSpeaksTheSameThere},
  });
}
