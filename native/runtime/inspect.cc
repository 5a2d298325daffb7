#include "runtime/inspect.h"

#include <algorithm>
#include <exception>
#include <new>

#include "model/files/checkpoint.h"
#include "runtime/token_budget.h"

namespace parley::runtime {

EngineFacts FactsOf(const model::Checkpoint& checkpoint) {
  const model::ModelConfig& config = checkpoint.config();
  EngineFacts facts;
  facts.model_type = model::NameOf(config.type);
  facts.model_size = config.size;
  facts.sample_rate = static_cast<uint32_t>(checkpoint.codec_config().sample_rate);
  facts.takes_instruction = config.takes_instruction();
  for (const model::Speaker& speaker : config.talker.speakers) facts.speakers.push_back(speaker.name);
  for (const model::Language& language : config.talker.languages) {
    if (!language.dialect) facts.languages.push_back(language.name);
  }
  facts.open_frames = std::min({static_cast<size_t>(config.talker.positions),
                                static_cast<size_t>(checkpoint.generation().max_new_tokens), kOpenDraws});
  return facts;
}

bool Inspect(const std::string& directory, EngineFacts* facts, std::string* problem) {
  try {
    const auto checkpoint = model::Checkpoint::Open(directory, model::PieceRule::kNative, problem);
    if (checkpoint == nullptr) return false;
    *facts = FactsOf(*checkpoint);
    return true;
  } catch (const std::bad_alloc&) {
    *problem = "memory is out";
  } catch (const std::exception& error) {
    *problem = error.what();
  }
  return false;
}

}  // namespace parley::runtime
