// Threads whose memory comes from one NUMA node. Every machine has node 0.
#include "runtime/machine_memory.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <thread>

#include "test/golden_engine.h"

namespace parley::test {
namespace {

// The calling thread's: "preferred 0"; "" where the system does not tell.
std::string Policy() {
  int mode = 0;
  unsigned long nodes[16] = {};
  if (syscall(SYS_get_mempolicy, &mode, nodes, 1024, nullptr, 0) != 0) return "";
  return mode == 0 ? "default" : mode == 1 && nodes[0] == 1 ? "preferred 0" : "another";
}

// Whether a process may choose at all: in some containers it may not.
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
  std::string problem;
  CHECK(Engine::Open(options, &problem) == nullptr);
  CHECK_EQ(problem, "NUMA node 2000 has no memory for this process");
  if (MayChoose()) CHECK_EQ(Policy(), "default");  // policy of the opening thread
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_memory_node) {
  using namespace parley::test;
  return Run({
      {"a thread and those that it starts prefer the node", AThreadAndThoseThatItStartsPreferTheNode},
      {"a node that there is not is refused by name", ANodeThatThereIsNotIsRefusedByName},
      {"the engine speaks the same there", TheEngineSpeaksTheSameThere},
  });
}
