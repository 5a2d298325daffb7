// Sampling on the emulated GPU: what is left of the logits, and what is chosen, is the CPU's.
#include <cmath>
#include <vector>

#include "kernels/cuda/choose.cuh"
#include "test/check.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using cuda::emulator::Order;

struct Row {
  Choice choice;
  std::vector<float> logits;
  std::vector<uint8_t> seen;
};

// Rows of one vocabulary, chosen from in one grid.
struct Rows {
  size_t vocabulary;
  std::vector<Row> rows;

  std::vector<int32_t> OnTheGpu(Order order) {
    std::vector<float> logits;
    std::vector<Choice> choices;
    for (Row& row : rows) {
      logits.insert(logits.end(), row.logits.begin(), row.logits.end());
      choices.push_back(row.choice);
      choices.back().seen = row.seen.empty() ? nullptr : row.seen.data();
    }
    std::vector<int32_t> ids(3 * rows.size(), -7);
    cuda::emulator::Immediate queue({order, 3});
    cuda::EnqueueChoose(queue, choices.data(), rows.size(), logits.data(), vocabulary, 4, ids.data(), 3);
    std::vector<int32_t> chosen;
    for (size_t n = 0; n < rows.size(); n++) {
      const auto from = logits.begin() + static_cast<std::ptrdiff_t>(n * vocabulary);
      rows[n].logits.assign(from, from + static_cast<std::ptrdiff_t>(vocabulary));
      chosen.push_back(ids[3 * n]);
      CHECK_EQ(ids[3 * n + 1], -7);
    }
    return chosen;
  }

  std::vector<int32_t> OnTheCpu() {
    SamplingScratch scratch;
    std::vector<int32_t> chosen;
    for (Row& row : rows) {
      row.choice.seen = row.seen.empty() ? nullptr : row.seen.data();
      chosen.push_back(ChooseOne(row.choice, 4, row.logits.data(), vocabulary, &scratch));
    }
    return chosen;
  }
};

void CheckTheSame(const Rows& rows, Order order) {
  Rows gpu = rows, cpu = rows;
  const std::vector<int32_t> seen = gpu.OnTheGpu(order), wanted = cpu.OnTheCpu();
  for (size_t n = 0; n < rows.rows.size(); n++) {
    CHECK_EQ(seen[n], wanted[n]);
    CHECK(SameBits(gpu.rows[n].logits, cpu.rows[n].logits));
    CHECK(gpu.rows[n].seen == cpu.rows[n].seen);
  }
}

// All rules, as a random number's bits have them.
Row RandomRow(size_t vocabulary, Random* random) {
  Row row;
  row.logits = RandomFloats(vocabulary, random->Next());
  const double spread = random->Unit() < 0.5 ? 3 : 20;
  for (float& logit : row.logits)
    logit = static_cast<float>(std::round(logit * spread * 8) / 8);  // some are equal
  SamplingRules& rules = row.choice.rules;
  rules.greedy = random->Unit() < 0.2;
  if (random->Unit() < 0.7) rules.temperature = static_cast<float>(0.2 + random->Unit());
  if (random->Unit() < 0.6)
    rules.top_k = static_cast<uint32_t>(1 + random->Unit() * static_cast<double>(vocabulary));
  if (random->Unit() < 0.6) rules.top_p = static_cast<float>(0.01 + 0.99 * random->Unit());
  if (random->Unit() < 0.6) rules.repetition_penalty = static_cast<float>(0.8 + random->Unit());
  if (random->Unit() < 0.4) {
    rules.suppress_from = static_cast<int32_t>(random->Unit() * static_cast<double>(vocabulary));
    rules.suppress_to = static_cast<int32_t>(vocabulary);
    rules.spared = rules.suppress_from + 2 < rules.suppress_to ? rules.suppress_from + 1 : -1;
  }
  if (random->Unit() < 0.3)
    rules.forbidden = static_cast<int32_t>(random->Unit() * static_cast<double>(vocabulary));
  if (random->Unit() < 0.7) {
    row.seen.resize(vocabulary);
    for (uint8_t& seen : row.seen) seen = random->Unit() < 0.3 ? 1 : 0;
  }
  row.choice.seed = random->Next();
  row.choice.step = random->Next();
  return row;
}

void EveryRuleChoosesAsOnTheCpu() {
  Random random(5);
  constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kShuffled};
  for (size_t turn = 0; turn < 60; turn++) {
    const size_t vocabulary = turn % 3 == 0 ? 5 : turn % 3 == 1 ? 70 : 300;
    Rows rows{vocabulary, {}};
    for (size_t n = 0; n < 12; n++) rows.rows.push_back(RandomRow(vocabulary, &random));
    CheckTheSame(rows, kOrders[turn % 3]);
  }
}

void TheModelsVocabularyIsChosenFrom() {
  Random random(6);
  Rows rows{3072, {}};
  for (size_t n = 0; n < 6; n++) rows.rows.push_back(RandomRow(3072, &random));
  rows.rows[0].choice.rules = SamplingRules{};
  CheckTheSame(rows, Order::kForward);
}

// A vocabulary of text, whose rows do not all lie at multiples of 16 bytes: the lowest of equals, wherever
// they are, and no id where one is no number.
void TheLargestOfAVocabularyOfTextIsChosen() {
  for (const size_t vocabulary : {size_t{151'936}, size_t{5'001}}) {
    Rows rows{vocabulary, {}};
    for (size_t n = 0; n < 6; n++) {
      Row row;
      row.logits = RandomFloats(vocabulary, 20 + n);
      row.choice.rules.greedy = true;
      rows.rows.push_back(row);
    }
    const size_t last = vocabulary - 1, middle = 4'099;
    rows.rows[0].logits[last] = 2;
    rows.rows[1].logits[last] = rows.rows[1].logits[middle] = rows.rows[1].logits[1'030] = 2;
    rows.rows[2].logits[middle] = NAN;
    rows.rows[3].logits.assign(vocabulary, -INFINITY);
    rows.rows[4].logits.assign(vocabulary, 0.5f);
    rows.rows[5].logits[3] = INFINITY;
    for (const Order order : {Order::kForward, Order::kShuffled}) CheckTheSame(rows, order);
    const std::vector<int32_t> chosen = rows.OnTheGpu(Order::kBackward);
    CHECK(chosen == std::vector<int32_t>({static_cast<int32_t>(last), 1'030, -1, -1, 0, 3}));
  }
}

// Few values that differ, so that many are equal to the k-th largest, or all of one thread's are among the
// largest.
void TheLargestAreChosenFrom() {
  Random random(7);
  for (const size_t vocabulary : {2048u, 3072u, 4096u, 4100u}) {
    Rows rows{vocabulary, {}};
    for (const uint32_t top_k : {1u, 7u, 50u, 50u, 50u, 50u, 250u, 300u}) {
      rows.rows.push_back(RandomRow(vocabulary, &random));
      Row& row = rows.rows.back();
      SamplingRules& rules = row.choice.rules;
      rules.greedy = false;
      rules.top_k = top_k;
      rules.top_p = 1;
      const size_t n = rows.rows.size();
      if (n == 3) row.logits.assign(vocabulary, 0.5f);
      if (n == 4) std::fill(row.logits.begin() + 60, row.logits.end(), -50.0f);
      if (n == 5) std::fill(row.logits.begin() + 20, row.logits.end(), -INFINITY);
      if (n == 6)
        for (size_t i = 0; i < 1024; i += 5) row.logits[i] += 30;
      if (n == 6) row.logits[9] = row.logits[700] = INFINITY;
    }
    CheckTheSame(rows, Order::kShuffled);
  }
}

void WhatIsNoNumberIsRefused() {
  Rows rows{6, {}};
  for (const std::vector<float>& logits :
       std::vector<std::vector<float>>{{1, 2, NAN, 0, 0, 0},
                                       {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY},
                                       {1, INFINITY, 0, INFINITY, 0, 0},
                                       {0, -0.0f, 0, -0.0f, -1, -1},
                                       {NAN, NAN, NAN, NAN, NAN, NAN}}) {
    for (const bool greedy : {true, false}) {
      Row row;
      row.logits = logits;
      row.choice.rules.greedy = greedy;
      row.choice.rules.top_k = 2;
      row.choice.rules.top_p = 0.9f;
      row.seen.resize(6);
      rows.rows.push_back(row);
    }
  }
  CheckTheSame(rows, Order::kForward);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_sampling) {
  using namespace parley::test;
  return Run({
      {"the largest of a vocabulary of text is chosen", TheLargestOfAVocabularyOfTextIsChosen},
      {"every rule chooses as on the CPU", EveryRuleChoosesAsOnTheCpu},
      {"the model's vocabulary is chosen from", TheModelsVocabularyIsChosenFrom},
      {"the largest are chosen from", TheLargestAreChosenFrom},
      {"what is no number is refused", WhatIsNoNumberIsRefused},
  });
}
