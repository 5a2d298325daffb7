// Lets each allocation of the voice store fail once: it stays whole, and no voice is kept for another's.
#include <new>
#include <string>

#include "runtime/voice_store.h"
#include "test/check.h"
#include "test/counted_memory.h"

namespace parley::test {
namespace {

using runtime::Result;
using runtime::Voice;
using runtime::VoiceStore;
using runtime::VoiceWork;

// Longer than what a string holds without memory of its own.
const std::string kAnna = "the hash of the recording of Anna", kBert = "the hash of the recording of Bert";

// Hands its voice over in its first part, as those of the models do: a second call is a mistake.
class OnePart final : public VoiceWork {
 public:
  explicit OnePart(std::shared_ptr<Voice> voice) : voice_(std::move(voice)) {}

  size_t bytes() const override { return 0; }
  Result<std::shared_ptr<Voice>> Advance() override {
    CHECK(voice_ != nullptr);
    return std::move(voice_);
  }

 private:
  std::shared_ptr<Voice> voice_;
};

// The voice, or null where memory ran out.
std::shared_ptr<Voice> MadeBy(VoiceStore& store, const std::string& hash,
                              const std::shared_ptr<Voice>& voice) {
  try {
    const auto made = store.Make(hash, [&] { return std::make_unique<OnePart>(voice); });
    return made ? *made : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Runs the work with its first allocation failing, then its second, and so on, until none fails.
template <typename Work>
size_t FailEach(const Work& work) {
  size_t failures = 0;
  while (work(failures)) failures++;
  return failures;
}

void MemoryThatRunsOutInTheMakingLeavesAStoreThatMakesTheVoiceLater() {
  const auto anna = std::make_shared<Voice>(), bert = std::make_shared<Voice>();
  const size_t failures = FailEach([&](size_t after) {
    VoiceStore store(2);
    CHECK(MadeBy(store, kAnna, anna) == anna);
    bool has_failed = false;
    {
      const FailingMemory memory(after);
      const auto made = MadeBy(store, kBert, bert);
      has_failed = memory.has_failed();
      CHECK_EQ(made == nullptr, has_failed);
    }
    CHECK(!store.works());
    CHECK(store.Find(kAnna) == anna);
    CHECK(MadeBy(store, kBert, bert) == bert);
    CHECK(store.Find(kBert) == bert);
    CHECK(store.Find(kAnna) == anna);
    CHECK_EQ(store.size(), size_t{2});
    return has_failed;
  });
  CHECK(failures >= 4);
}

void MemoryThatRunsOutAtAnEvictionLeavesNoVoiceWithoutAPlace() {
  const auto anna = std::make_shared<Voice>(), bert = std::make_shared<Voice>();
  const size_t failures = FailEach([&](size_t after) {
    VoiceStore store(1);
    store.Keep(kAnna, anna);
    bool has_failed = false;
    {
      const FailingMemory memory(after);
      try {
        store.Keep(kBert, bert);
      } catch (const std::bad_alloc&) {
        CHECK(memory.has_failed());
      }
      has_failed = memory.has_failed();
    }
    const size_t found = (store.Find(kAnna) != nullptr) + (store.Find(kBert) != nullptr);
    CHECK_EQ(store.size(), found);
    CHECK_EQ(store.Find(kBert) == nullptr, has_failed);
    store.Keep(kBert, bert);
    CHECK(store.Find(kBert) == bert);
    CHECK_EQ(store.size(), size_t{1});
    return has_failed;
  });
  CHECK(failures >= 4);
}

void MemoryThatRunsOutForAVoiceIsNotTheFailureOfAnotherRequest() {
  const auto anna = std::make_shared<Voice>();
  const size_t failures = FailEach([&](size_t after) {
    VoiceStore store(2);
    bool is_first = true;
    class Later final : public VoiceWork {
     public:
      Later(bool* is_first, std::shared_ptr<Voice> voice) : is_first_(is_first), voice_(std::move(voice)) {}
      size_t bytes() const override { return 0; }
      Result<std::shared_ptr<Voice>> Advance() override {
        if (std::exchange(*is_first_, false)) return nullptr;
        return std::move(voice_);
      }

     private:
      bool* const is_first_;
      std::shared_ptr<Voice> voice_;
    };
    const VoiceStore::Begin begin = [&] { return std::make_unique<Later>(&is_first, anna); };
    CHECK(*store.Make(kAnna, begin) == nullptr);
    bool has_failed = false;
    {
      const FailingMemory memory(after);
      CHECK(*store.Make(kBert, begin) == nullptr);
      has_failed = memory.has_failed();
    }
    CHECK(!store.works());
    CHECK_EQ(store.Find(kAnna) == nullptr, has_failed);
    return has_failed;
  });
  CHECK(failures >= 3);
}

}  // namespace

TEST_GROUP(voice_store_memory) {
  return Run({
      {"memory that runs out in the making leaves a store that makes the voice later",
       MemoryThatRunsOutInTheMakingLeavesAStoreThatMakesTheVoiceLater},
      {"memory that runs out at an eviction leaves no voice without a place",
       MemoryThatRunsOutAtAnEvictionLeavesNoVoiceWithoutAPlace},
      {"memory that runs out for a voice is not the failure of another request",
       MemoryThatRunsOutForAVoiceIsNotTheFailureOfAnotherRequest},
  });
}

}  // namespace parley::test
