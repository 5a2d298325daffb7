// Prompts of the talker: a request becomes rows of ids, and those become sums of embeddings.
#ifndef PARLEY_MODEL_PROMPT_H_
#define PARLEY_MODEL_PROMPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/speech/embeddings.h"
#include "model/speech/model_config.h"
#include "model/text/tokenizer.h"

namespace parley::model {

// A request becomes the rows that the talker reads first, as ids: the text
// row and the codec-side row that are summed at every position.
//
//   [instruction] · role prefix · codec header · text and, for a voice by
//   example, the reference recording's frames
//
// The arithmetic belongs to the talker; here nothing but ids is known.
struct PromptRequest {
  std::string_view text = {};
  std::string_view instruction = {};  // empty: none; for models that take one
  std::string_view language = "auto";
  std::string_view speaker = {};         // CustomVoice needs one, others have none
  std::string_view reference_text = {};  // Base: what the recording says; empty where only its voice is used
  size_t reference_frames = 0;           // Base: of the recording's codes; 0 where only its voice is used
  bool whole_text = true;  // all text in the prompt; else the first token, the rest frame by frame
  const std::vector<int32_t>* text_ids =
      nullptr;  // instead of text, where that is tokenized already; not empty
};

// A position of the prompt: the sum of all that is not kNoRow.
struct PromptRow {
  static constexpr int32_t kNoRow = -1;
  static constexpr int32_t kSpeakerVector = -2;

  int32_t text = kNoRow;  // id of the text vocabulary, through the text projection
  int32_t codec =
      kNoRow;  // id of the talker's own vocabulary, or kSpeakerVector: the speaker encoder's answer
  int32_t frame = kNoRow;  // frame of the reference: the sum of the embeddings of its codes
};

struct Prompt {
  std::vector<PromptRow> rows;
  // The text row that is added when the codes of frame 0, 1, ... are fed back;
  // after the last one, or where there is none, tts_pad for ever.
  std::vector<int32_t> trailing;
};

// A text between the markers of its template: all ids, and where its own are.
struct MarkedText {
  std::vector<int32_t> ids;
  size_t begin = 0, end = 0;
};

enum class Template {
  kTarget,       // <|im_start|>assistant\n ... <|im_end|>\n<|im_start|>assistant\n
  kReference,    // <|im_start|>assistant\n ... <|im_end|>\n
  kInstruction,  // <|im_start|>user\n ... <|im_end|>\n
};

// Literals of tokens in the text are text. White space before it is left out:
// a line end would melt into the template's own. False with `problem` set when
// nothing is left, and as Tokenizer::Encode().
bool EncodeMarked(const Tokenizer& tokenizer, Template form, std::string_view text, MarkedText* marked,
                  std::string* problem);

// False with `problem` set when the request does not fit the model: an unknown
// language or speaker, an instruction that it does not take, too long a text.
bool BuildPrompt(const ModelConfig& config, const Tokenizer& tokenizer, const PromptRequest& request,
                 Prompt* prompt, std::string* problem);

// The part of a prompt that comes from a cloned voice.
//
// Immutable, shared by streams.
struct VoicePrompt {
  std::vector<float> speaker;  // [hidden] of the talker, on the host
  std::vector<int32_t> codes;  // [frames, code_groups], or empty: only the voice is used
  std::string text;            // transcript of the recording; with codes
};

// True if every id of a prompt is a row of its table, and the voice has what it asks for. Else
// `problem` names the row.
bool FitsModel(const ModelConfig& config, const Prompt& prompt, const VoicePrompt* voice,
               std::string* problem);

class PromptRows {
 public:
  PromptRows(SpeechKernels& kernels, Embeddings& embeddings)
      : kernels_(kernels), embeddings_(embeddings), code_ids_(kernels), frame_ids_(kernels) {}

  // The rows first .. last of a prompt that FitsModel.
  struct Part {
    const Prompt* prompt;
    const VoicePrompt* voice;
    size_t first, last;
  };
  // x: the rows of all parts, part by part.
  void Sum(const Part* parts, size_t count, float* x);

 private:
  void Add(const PromptRow& row, const VoicePrompt* voice);

  SpeechKernels& kernels_;
  Embeddings& embeddings_;
  IdList code_ids_, frame_ids_;
  std::vector<int32_t> texts_, codes_, frames_;  // per row, -1 where it has none
  std::vector<const VoicePrompt*> speakers_;     // per row whose codec part is the voice's vector; else null
  bool has_frames_ = false;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_PROMPT_H_
