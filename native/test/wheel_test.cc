// The deadline wheel and the plan of phases: exact due times, spread out.
#include "media/wheel.h"

#include <algorithm>
#include <map>
#include <vector>

#include "media/clock.h"
#include "media/random.h"
#include "media/time.h"
#include "test/check.h"

namespace parley::test {
namespace {

constexpr int64_t kStart = 123'456'789'012'345;  // not on the border of a slot

void NodesLeaveInOrderOfTheirExactDueTimes() {
  Random random(1);
  DeadlineWheel wheel(kStart);
  std::vector<WheelNode> nodes(1000);
  for (WheelNode& node : nodes) {
    node.due_ns = kStart + static_cast<int64_t>(random.Next() % (60 * kNsPerMs));
    wheel.Insert(&node);
  }
  std::vector<int64_t> wanted;
  for (const WheelNode& node : nodes) wanted.push_back(node.due_ns);
  std::sort(wanted.begin(), wanted.end());
  std::vector<int64_t> seen;
  while (WheelNode* node = wheel.PopDue(kStart + 60 * kNsPerMs)) seen.push_back(node->due_ns);
  CHECK(seen == wanted);
  CHECK_EQ(wheel.NextDue(), DeadlineWheel::kNever);
}

void NothingLeavesANanosecondEarly() {
  DeadlineWheel wheel(kStart);
  WheelNode node;
  node.due_ns = kStart + 59 * kNsPerMs + 1;
  wheel.Insert(&node);
  CHECK_EQ(wheel.NextDue(), node.due_ns);
  for (int64_t now = kStart; now < node.due_ns; now += 777'777) CHECK(wheel.PopDue(now) == nullptr);
  CHECK(wheel.PopDue(node.due_ns - 1) == nullptr);
  CHECK(wheel.PopDue(node.due_ns) == &node);
}

void EqualDueTimesLeaveInOrderOfArrival() {
  DeadlineWheel wheel(kStart);
  WheelNode nodes[5];
  for (WheelNode& node : nodes) {
    node.due_ns = kStart + kNsPerMs;
    wheel.Insert(&node);
  }
  for (WheelNode& node : nodes) CHECK(wheel.PopDue(kStart + kNsPerMs) == &node);
}

void AnOverdueNodeLeavesNext() {
  DeadlineWheel wheel(kStart);
  WheelNode late, soon;
  CHECK(wheel.PopDue(kStart + kNsPerSecond) == nullptr);  // the wheel has moved on
  soon.due_ns = kStart + kNsPerSecond + kNsPerMs;
  late.due_ns = kStart;
  wheel.Insert(&soon);
  wheel.Insert(&late);
  CHECK_EQ(wheel.NextDue(), kStart);
  CHECK(wheel.PopDue(kStart + kNsPerSecond) == &late);
  CHECK(wheel.PopDue(kStart + kNsPerSecond) == nullptr);
}

// Every stream ticks at start + n * period, whatever the others do: 20 s, woken
// only at due times.
void PeriodsStayExactForTwentySeconds() {
  const int64_t periods[] = {10'000'000, 20'000'000, 22'500'000, 30'000'000, 33'333'333, 60'000'000};
  DeadlineWheel wheel(kStart);
  WheelNode nodes[6];
  int64_t ticks[6] = {};
  for (int i = 0; i < 6; i++) {
    nodes[i].due_ns = kStart + i;
    wheel.Insert(&nodes[i]);
  }
  while (wheel.NextDue() < kStart + 20 * kNsPerSecond) {
    const int64_t now = wheel.NextDue();
    WheelNode* node = wheel.PopDue(now);
    const size_t i = static_cast<size_t>(node - nodes);
    CHECK_EQ(node->due_ns, now);
    CHECK_EQ(node->due_ns, kStart + static_cast<int64_t>(i) + ticks[i] * periods[i]);
    ticks[i]++;
    node->due_ns += periods[i];
    wheel.Insert(node);
  }
  for (int i = 0; i < 6; i++) CHECK_EQ(ticks[i], (20 * kNsPerSecond - i - 1) / periods[i] + 1);
}

void AThousandCallsAreSpreadEvenly() {
  PhasePlan plan;
  std::map<int64_t, int> phases;
  for (int i = 0; i < 1000; i++) phases[plan.Take(20 * kNsPerMs)]++;
  CHECK_EQ(phases.size(), size_t{80});  // every quarter of a millisecond
  CHECK_EQ(plan.Busiest(), uint32_t{13});
  for (const auto& [phase, count] : phases) CHECK(count == 12 || count == 13);
}

void PeriodsThatMixAreSpreadTogether() {
  PhasePlan plan;
  const int64_t periods[] = {10 * kNsPerMs, 20 * kNsPerMs, 30 * kNsPerMs, 60 * kNsPerMs};
  for (int i = 0; i < 400; i++) plan.Take(periods[i % 4]);
  // 100 of each: 2.5 + 1.25 + 0.83 + 0.42 streams in a quarter of a millisecond.
  CHECK(plan.Busiest() <= 7);
}

void TheFirstPhaseIsZeroAndNeighboursAreFarApart() {
  PhasePlan plan;
  CHECK_EQ(plan.Take(20 * kNsPerMs), int64_t{0});
  const int64_t second = plan.Take(20 * kNsPerMs);
  CHECK(second > 5 * kNsPerMs && second < 15 * kNsPerMs);
}

void ALeftPhaseIsTakenAgain() {
  PhasePlan plan;
  std::vector<int64_t> phases;
  for (int i = 0; i < 80; i++) phases.push_back(plan.Take(20 * kNsPerMs));
  CHECK_EQ(plan.Busiest(), uint32_t{1});
  plan.Release(20 * kNsPerMs, phases[33]);
  CHECK_EQ(plan.Take(20 * kNsPerMs), phases[33]);
  CHECK_EQ(plan.Busiest(), uint32_t{1});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(wheel) {
  using namespace parley::test;
  return Run({
      {"nodes leave in order of their exact due times", NodesLeaveInOrderOfTheirExactDueTimes},
      {"nothing leaves a nanosecond early", NothingLeavesANanosecondEarly},
      {"equal due times leave in order of arrival", EqualDueTimesLeaveInOrderOfArrival},
      {"an overdue node leaves next", AnOverdueNodeLeavesNext},
      {"periods stay exact for twenty seconds", PeriodsStayExactForTwentySeconds},
      {"a thousand calls are spread evenly", AThousandCallsAreSpreadEvenly},
      {"periods that mix are spread together", PeriodsThatMixAreSpreadTogether},
      {"the first phase is zero and neighbours are far apart", TheFirstPhaseIsZeroAndNeighboursAreFarApart},
      {"a left phase is taken again", ALeftPhaseIsTakenAgain},
  });
}
