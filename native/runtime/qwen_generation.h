// One generation of Qwen3-TTS: its text as ids, its prompt, and from Begin on
// the streams of talker and codec decoder.
#ifndef PARLEY_RUNTIME_QWEN_GENERATION_H_
#define PARLEY_RUNTIME_QWEN_GENERATION_H_

#include <memory>
#include <string>
#include <vector>

#include "model/files/checkpoint.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/speech_model.h"
#include "runtime/frame_model.h"
#include "runtime/text_feed.h"
#include "runtime/voice_store.h"

namespace parley::runtime {

class QwenGeneration final : public Generation {
 public:
  // The checkpoint outlives it. `voice` may be null.
  QwenGeneration(const model::Checkpoint& checkpoint, const SpeechRequest& request, const model::DrawRules& rules,
                 std::shared_ptr<Voice> voice);

  // What the request says, its text last. False: it does not fit the model.
  bool Read(std::string_view text, Refusal* refusal);

  bool AddText(std::string_view text, bool last, Refusal* refusal) override;
  bool Ready() const override { return !prompt_.rows.empty(); }
  bool Starved() const override { return stream_->Starved(); }
  bool TextEnded() const override { return feed_.ended(); }
  size_t TextTokens() const override { return text_tokens_; }
  size_t PromptRows() const override { return prompt_.rows.size(); }
  size_t PromptLeft() const override { return stream_->prompt_left(); }

  const std::shared_ptr<Voice>& voice() const { return voice_; }
  // Rows of the prompt that are the same whatever the text is, and what they depend on beside the voice.
  size_t shared_rows() const { return shared_rows_; }
  const std::string& prefix_key() const { return language_; }

  // Throws std::bad_alloc.
  void Begin(model::SpeechModel& model, model::CodecDecoder& decoder, size_t draws);
  model::SpeechStream* stream() const { return stream_.get(); }
  model::CodecState* codec() const { return codec_.get(); }
  std::vector<int32_t>& codes() { return codes_; }  // of the frames that are not decoded yet

 private:
  bool BuildPrompt(const std::vector<int32_t>& text_ids, model::Prompt* prompt, std::string* problem) const;
  bool CountNeeded(std::string* problem);
  size_t ReferenceFrames() const;

  const model::Checkpoint& checkpoint_;
  const std::string language_, speaker_, instruction_;
  const bool more_text_;
  model::DrawRules rules_;
  const std::shared_ptr<Voice> voice_;
  TextFeed feed_;
  size_t needed_ = 1;          // text ids, before a prompt can be made whose text goes on
  size_t text_tokens_ = 0;
  std::vector<int32_t> ids_;   // that no prompt and no stream has yet
  model::Prompt other_;        // of the same request with another text
  model::Prompt prompt_;       // no rows: not made yet
  bool text_follows_ = false;  // the prompt's
  size_t shared_rows_ = 0;
  std::unique_ptr<model::SpeechStream> stream_;
  std::unique_ptr<model::CodecState> codec_;
  std::vector<int32_t> codes_;
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_QWEN_GENERATION_H_
