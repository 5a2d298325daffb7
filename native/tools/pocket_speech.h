// What `speak` does with a folder of Pocket TTS: one text, one voice, one stream, without a scheduler.
#ifndef PARLEY_TOOLS_POCKET_SPEECH_H_
#define PARLEY_TOOLS_POCKET_SPEECH_H_

#include <string>

#include "tools/options.h"

namespace parley::tools {

// True if the folder has files that only Pocket TTS has: config.yaml or tokenizer.model.
bool HoldsPocket(const std::string& directory);

// Throws std::invalid_argument for an option that the kind of model of this folder does not have.
void RefuseOptionsOfOthers(const Options& options, bool pocket);

// Speaks as the options say and writes the sound. Returns a report of what each stage took. Throws
// std::invalid_argument that names the option, the file or the tensor, and std::runtime_error if the weights
// are damaged.
std::string SpeakWithPocket(const Options& options);

}  // namespace parley::tools

#endif  // PARLEY_TOOLS_POCKET_SPEECH_H_
