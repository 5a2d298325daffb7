// Philox and the rules of sampling.
#include "kernels/sampling.h"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "model/files/json.h"
#include "test/check.h"
#include "test/golden_vectors.h"

namespace parley::test {
namespace {

constexpr float kNever = -INFINITY;

// The known answers that come with Random123.
void PhiloxGivesItsKnownAnswers() {
  CHECK((Philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  CHECK((Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
         PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void ADrawIsAFunctionOfSeedStreamAndStep() {
  const double one = UnitOf({1, 2, 3});
  CHECK_EQ(UnitOf({1, 2, 3}), one);
  for (const Draw& other :
       {Draw{2, 2, 3}, Draw{1, 3, 3}, Draw{1, 2, 4}, Draw{1, 2, uint64_t{3} | uint64_t{1} << 32},
        Draw{1, uint64_t{2} | uint64_t{1} << 32, 3}, Draw{uint64_t{1} | uint64_t{1} << 32, 2, 3}}) {
    CHECK(UnitOf(other) != one);
  }
  double sum = 0;
  for (uint64_t step = 0; step < 10000; step++) {
    const double unit = UnitOf({9, 0, step});
    CHECK(unit >= 0 && unit < 1);
    sum += unit;
  }
  CHECK(std::fabs(sum / 10000 - 0.5) < 0.012);  // four standard deviations
}

std::vector<float> Ruled(std::vector<float> logits, const SamplingRules& rules,
                         std::vector<int32_t> history = {}) {
  std::vector<uint8_t> seen(logits.size());
  for (const int32_t id : history) seen[static_cast<size_t>(id)] = 1;
  SamplingScratch scratch;
  ApplyRules(rules, seen.data(), logits.data(), logits.size(), &scratch);
  return logits;
}

void ThePenaltyAppliesOncePerId() {
  SamplingRules rules;
  rules.repetition_penalty = 2;
  const auto seen = Ruled({4, -4, 1, 0}, rules, {0, 1, 0, 0, 1, 3});
  CHECK((seen == std::vector<float>{2, -8, 1, 0}));
}

void SuppressedIdsCannotBeChosenButTheSparedOneCan() {
  SamplingRules rules;
  rules.greedy = true;
  rules.suppress_from = 2;
  rules.suppress_to = 6;
  rules.spared = 4;
  CHECK((Ruled({1, 2, 3, 4, 5, 6}, rules) == std::vector<float>{1, 2, kNever, kNever, 5, kNever}));
  rules.forbidden = 4;
  CHECK((Ruled({1, 2, 3, 4, 5, 6}, rules) == std::vector<float>{1, 2, kNever, kNever, kNever, kNever}));
}

void EqualsOfTheKthLargestStay() {
  SamplingRules rules;
  rules.top_k = 2;
  CHECK((Ruled({3, 1, 2, 2, 0}, rules) == std::vector<float>{3, kNever, 2, 2, kNever}));
  rules.top_k = 0;
  CHECK((Ruled({3, 1}, rules) == std::vector<float>{3, 1}));
  rules.top_k = 9;
  CHECK((Ruled({3, 1}, rules) == std::vector<float>{3, 1}));
}

void TopPDropsTheSmallestThatSumToNoMore() {
  const auto log = [](double p) { return static_cast<float>(std::log(p)); };
  const std::vector<float> logits = {log(0.1), log(0.5), log(0.15), log(0.25)};
  SamplingRules rules;
  rules.top_p = 0.8f;  // 0.1 goes; 0.1 + 0.15 would be more than 0.2
  CHECK((Ruled(logits, rules) == std::vector<float>{kNever, logits[1], logits[2], logits[3]}));
  rules.top_p = 0.7f;
  CHECK((Ruled(logits, rules) == std::vector<float>{kNever, logits[1], kNever, logits[3]}));
  rules.top_p = 1e-6f;  // the largest always stays
  CHECK((Ruled(logits, rules) == std::vector<float>{kNever, logits[1], kNever, kNever}));
}

void TemperatureDividesAndGreedyDoesNot() {
  SamplingRules rules;
  rules.temperature = 0.5f;
  CHECK((Ruled({1, -2}, rules) == std::vector<float>{2, -4}));
  rules.greedy = true;
  CHECK((Ruled({1, -2}, rules) == std::vector<float>{1, -2}));
}

void TheFirstOfEqualsIsTheLargest() {
  const std::vector<float> logits = {1, 3, 2, 3};
  CHECK_EQ(Largest(logits.data(), 4), 1);
  const std::vector<float> none = {kNever, kNever};
  CHECK_EQ(Largest(none.data(), 2), -1);
  CHECK_EQ(Pick(none.data(), 2, 0.5), -1);
  const std::vector<float> broken = {1, NAN};
  CHECK_EQ(Largest(broken.data(), 2), -1);
  CHECK_EQ(Pick(broken.data(), 2, 0.5), -1);
}

void ADrawFallsIntoTheIntervalOfItsProbability() {
  const std::vector<float> logits = {kNever, std::log(1.0f), kNever, std::log(3.0f), kNever};
  CHECK_EQ(Pick(logits.data(), 5, 0), 1);
  CHECK_EQ(Pick(logits.data(), 5, 0.2499), 1);
  CHECK_EQ(Pick(logits.data(), 5, 0.2501), 3);
  CHECK_EQ(Pick(logits.data(), 5, std::nextafter(1.0, 0.0)), 3);
  const float alone = -80;
  CHECK_EQ(Pick(&alone, 1, 0.99), 0);
}

void ChoicesComeAsOftenAsTheirProbabilities() {
  const std::vector<float> logits = {std::log(0.1f), std::log(0.2f), std::log(0.7f)};
  std::vector<int> counts(3);
  SamplingScratch scratch;
  for (uint64_t step = 0; step < 20000; step++) {
    std::vector<float> row = logits;
    counts[static_cast<size_t>(ChooseOne({{}, 5, step, nullptr}, 1, row.data(), 3, &scratch))]++;
  }
  CHECK(std::abs(counts[0] - 2000) < 180);  // four standard deviations
  CHECK(std::abs(counts[1] - 4000) < 230);
  CHECK(std::abs(counts[2] - 14000) < 260);
}

bool Refused(const SamplingRules& rules) {
  return test::RefusalOf([&] { Ruled({1, 2, 3}, rules); }) != "";
}

void WhatWasChosenIsSeenFromThenOn() {
  std::vector<uint8_t> seen(3);
  SamplingRules rules;
  rules.greedy = true;
  rules.repetition_penalty = 2;
  SamplingScratch scratch;
  std::vector<int32_t> ids;
  for (int turn = 0; turn < 3; turn++) {
    std::vector<float> logits = {3, 2, 1};
    ids.push_back(ChooseOne({rules, 0, 0, seen.data()}, 0, logits.data(), 3, &scratch));
  }
  CHECK((ids == std::vector<int32_t>{0, 1, 0}));
  CHECK((seen == std::vector<uint8_t>{1, 1, 0}));
}

void RulesOutOfRangeAreRefused() {
  const auto with = [](auto SamplingRules::* field, auto value) {
    SamplingRules rules;
    rules.*field = value;
    return rules;
  };
  CHECK(!Refused({}));
  for (const float bad : {0.0f, -1.0f, NAN}) {
    CHECK(Refused(with(&SamplingRules::temperature, bad)));
    CHECK(Refused(with(&SamplingRules::top_p, bad)));
    CHECK(Refused(with(&SamplingRules::repetition_penalty, bad)));
  }
  CHECK(Refused(with(&SamplingRules::top_p, 1.5f)));
  CHECK(Refused(with(&SamplingRules::suppress_from, -1)));
  CHECK(Refused(with(&SamplingRules::suppress_to, 4)));
  CHECK(Refused(with(&SamplingRules::forbidden, 3)));
}

SamplingRules GoldenRules(model::Json params) {
  SamplingRules rules;
  rules.repetition_penalty = static_cast<float>(params.Find("rep").number());
  rules.temperature = static_cast<float>(params.Find("temp").number());
  rules.top_k = static_cast<uint32_t>(params.Find("top_k").number());
  rules.top_p = static_cast<float>(params.Find("top_p").number());
  return rules;
}

// Equal candidates are left, and their values are equal to 1e-6.
void CheckProcessed(const std::vector<float>& seen, const std::vector<float>& wanted,
                    const std::string& name) {
  size_t wrong = seen.size() == wanted.size() ? 0 : seen.size();
  for (size_t i = 0; i < seen.size() && wrong != seen.size(); i++) {
    const bool removed = wanted[i] == kNever;
    const bool right =
        removed ? seen[i] == kNever : std::fabs(seen[i] - wanted[i]) <= 1e-6f * std::fabs(wanted[i]);
    wrong += !right;
  }
  CHECK_EQ(wrong == 0 ? "" : name + ": " + std::to_string(wrong) + " are wrong", "");
}

void TheReferencesLogitsAreProcessedAsByIt() {
  std::string problem;
  const auto manifest = model::JsonDocument::Parse(ReadAll(kGolden + "/vectors/manifest.json"), &problem);
  const model::Json sampling = manifest->root().Find("sampling");
  const auto end = static_cast<int32_t>(sampling.Find("eos").number());
  const auto vocabulary = static_cast<int32_t>(sampling.Find("vocab_size").number());
  const GoldenVectors vectors("sampling");
  size_t settings = 0;
  for (model::Json item = sampling.Find("items").first(); item.present(); item = item.next(), settings++) {
    std::vector<int32_t> history;
    for (model::Json id = item.Find("history").first(); id.present(); id = id.next()) {
      history.push_back(static_cast<int32_t>(id.number()));
    }
    SamplingRules rules = GoldenRules(item.Find("params"));
    rules.suppress_from = vocabulary - 1024;
    rules.suppress_to = vocabulary;
    rules.spared = end;
    if (static_cast<double>(history.size()) < sampling.Find("min_new_tokens").number()) rules.forbidden = end;
    const std::string name(item.Find("out").text());
    const auto row = "logits_" + std::to_string(static_cast<int>(item.Find("row").number()));
    const std::vector<float> seen = Ruled(vectors.Read(row), rules, history);
    CheckProcessed(seen, vectors.Read(name), name);
    CHECK_EQ(Largest(seen.data(), seen.size()), static_cast<int32_t>(item.Find("argmax").number()));
  }
  CHECK_EQ(settings, size_t{17});
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(sampling) {
  using namespace parley::test;
  return Run({
      {"Philox gives its known answers", PhiloxGivesItsKnownAnswers},
      {"a draw is a function of seed, stream and step", ADrawIsAFunctionOfSeedStreamAndStep},
      {"the penalty applies once per id", ThePenaltyAppliesOncePerId},
      {"suppressed ids cannot be chosen but the spared one can",
       SuppressedIdsCannotBeChosenButTheSparedOneCan},
      {"equals of the k-th largest stay", EqualsOfTheKthLargestStay},
      {"top-p drops the smallest that sum to no more", TopPDropsTheSmallestThatSumToNoMore},
      {"temperature divides and greedy does not", TemperatureDividesAndGreedyDoesNot},
      {"the first of equals is the largest", TheFirstOfEqualsIsTheLargest},
      {"a draw falls into the interval of its probability", ADrawFallsIntoTheIntervalOfItsProbability},
      {"choices come as often as their probabilities", ChoicesComeAsOftenAsTheirProbabilities},
      {"the reference's logits are processed as by it", TheReferencesLogitsAreProcessedAsByIt},
      {"what was chosen is seen from then on", WhatWasChosenIsSeenFromThenOn},
      {"rules out of range are refused", RulesOutOfRangeAreRefused},
  });
}
