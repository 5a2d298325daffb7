// Engines on the same processors: who works while who waits.
#include "runtime/precedence.h"

#include <chrono>
#include <future>
#include <thread>

#include "test/check.h"

namespace parley::test {
namespace {

using namespace runtime;
using namespace std::chrono_literals;

// True if the wait is over within the time.
bool Within(std::future<void>& wait, std::chrono::milliseconds time) {
  return wait.wait_for(time) == std::future_status::ready;
}

std::future<void> GivesWay(Precedence::Member& member) {
  return std::async(std::launch::async, [&member] { member.GiveWay(); });
}

void TheLessUrgentWaitsForTheMoreUrgent() {
  Precedence::Member voice(Precedence::Of(7)), text(Precedence::Of(7)), file(Precedence::Of(7));
  text.Work(Rank::kLiveText);
  file.Work(Rank::kFiles);
  text.GiveWay();  // nobody is more urgent
  voice.Work(Rank::kListeners);
  auto waits = GivesWay(text);
  CHECK(!Within(waits, 20ms));
  voice.Rest();
  CHECK(Within(waits, 10s));
  auto file_waits = GivesWay(file);
  CHECK(!Within(file_waits, 20ms));
  text.Work(Rank::kFiles);
  CHECK(Within(file_waits, 10s));
}

// A less urgent engine advances round by round beside a voice that never rests, however many kernels a round
// has.
void TheWaitsOfARoundTogetherAreBounded() {
  Precedence::Member voice(Precedence::Of(8)), text(Precedence::Of(8));
  voice.Work(Rank::kListeners);
  text.Work(Rank::kLiveText);
  for (int round = 0; round < 2; round++) {
    text.BeginRound();
    auto first = GivesWay(text);
    CHECK(!Within(first, 20ms));
    CHECK(Within(first, 10s));
    const auto began = std::chrono::steady_clock::now();
    for (int kernel = 0; kernel < 1000; kernel++) text.GiveWay();
    CHECK(std::chrono::steady_clock::now() - began < 150ms);
  }
}

void OtherProcessorsDoNotMatter() {
  Precedence::Member voice(Precedence::Of(1)), text(Precedence::Of(2)),
      anywhere(Precedence::Of(std::nullopt));
  voice.Work(Rank::kListeners);
  text.Work(Rank::kFiles);
  anywhere.Work(Rank::kFiles);
  const auto began = std::chrono::steady_clock::now();
  text.GiveWay();
  anywhere.GiveWay();
  CHECK(std::chrono::steady_clock::now() - began < 150ms);
}

void OneThatIsGoneHoldsNobodyUp() {
  Precedence::Member text(Precedence::Of(3));
  text.Work(Rank::kLiveText);
  auto voice = std::make_unique<Precedence::Member>(Precedence::Of(3));
  voice->Work(Rank::kListeners);
  auto waits = GivesWay(text);
  voice.reset();
  CHECK(Within(waits, 10s));
  text.GiveWay();
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(runtime_precedence) {
  using namespace parley::test;
  return Run({
      {"the less urgent waits for the more urgent", TheLessUrgentWaitsForTheMoreUrgent},
      {"the waits of a round together are bounded", TheWaitsOfARoundTogetherAreBounded},
      {"other processors do not matter", OtherProcessorsDoNotMatter},
      {"one that is gone holds nobody up", OneThatIsGoneHoldsNobodyUp},
  });
}
