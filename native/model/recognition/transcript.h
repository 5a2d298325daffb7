// Reads the language and the words from a recogniser's raw text. The rules are those of the package qwen-asr
// 0.0.6, inference/utils.py.
#ifndef PARLEY_MODEL_RECOGNITION_TRANSCRIPT_H_
#define PARLEY_MODEL_RECOGNITION_TRANSCRIPT_H_

#include <string>
#include <string_view>
#include <vector>

namespace parley::model {

// Stands between the language and the words.
inline constexpr std::string_view kTextMarker = "<asr_text>";

struct Transcript {
  std::string language;  // English name; empty: not found
  std::string text;
};

// `raw`: the decoded ids in UTF-8, "language English<asr_text>Hello." With a forced language the raw text is
// taken as it is.
Transcript ParseTranscript(std::string_view raw, std::string_view forced_language);

// The text without what a model repeats in a loop: a run of more than 20 equal characters becomes one, and of
// at least 20 repetitions of up to 20 characters one stays.
std::string WithoutRepetition(std::string_view text);

// Marks of a CJK script at which words touch: no space is put beside them.
bool IsCjk(char32_t code);

// The texts of a sound's pieces in order. A space lies between two pieces unless a CJK character is on either
// side.
std::string JoinTexts(const std::vector<std::string>& texts);

// The languages of a sound's pieces in order, without empty ones and without one twice in a row, by commas.
std::string JoinLanguages(const std::vector<std::string>& languages);

// " eNGLISH" to "English".
std::string LanguageName(std::string_view name);

// The English name for a language tag, such as "en" or "pt-BR"; empty: the models have none.
std::string_view LanguageOfTag(std::string_view tag);

}  // namespace parley::model

#endif  // PARLEY_MODEL_RECOGNITION_TRANSCRIPT_H_
