// SentencePiece's unigram tokenizer (Kudo and Richardson, EMNLP 2018): text to the ids of a `tokenizer.model`
// and back. The most probable segmentation (Kudo, ACL 2018) is found in one pass over the text.
#ifndef PARLEY_MODEL_TEXT_SENTENCE_PIECES_H_
#define PARLEY_MODEL_TEXT_SENTENCE_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace parley::model {

// What a piece of the model file is for; the numbers are the file's.
enum class PieceKind : uint8_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

// Not changed after Open(), so any thread may use it.
class SentencePieces {
 public:
  static constexpr size_t kMaxFileBytes = size_t{16} << 20;
  static constexpr size_t kMaxPieces = 1 << 20;

  // Null with `problem` set, which begins with the path: the file cannot be read, is no SentencePiece model,
  // or is one of another kind (byte pairs, words, characters, or with a map that normalises text).
  static std::unique_ptr<const SentencePieces> Open(const std::string& path, std::string* problem);

  size_t size() const { return pieces_.size(); }
  // The piece of an id below size(): "\u2581He" begins with what stands for a space.
  const std::string& PieceOf(int32_t id) const { return pieces_[static_cast<size_t>(id)].text; }

  // Bytes that are no UTF-8 become U+FFFD. Pieces with a meaning, as "<s>", are spelled out.
  std::vector<int32_t> Encode(std::string_view text) const;
  // Of ids from `from` to before `to`, each below size().
  std::string Decode(const std::vector<int32_t>& ids, size_t from, size_t to) const;

 private:
  friend class SentencePieceFile;

  struct Piece {
    std::string text;
    float score = 0;
    PieceKind kind = PieceKind::kNormal;
  };
  struct Node;  // of the best segmentation

  SentencePieces() = default;
  bool Prepare(std::string* problem);
  void AddToTrie(int32_t id);
  std::string Normalized(std::string_view text) const;
  double ScoreOf(const Piece& piece) const;
  void Extend(std::string_view text, size_t from, std::vector<Node>* nodes) const;
  void AppendUnknown(std::string_view character, std::vector<int32_t>* ids) const;

  std::vector<Piece> pieces_;
  std::unordered_map<uint64_t, uint32_t> next_;  // of the trie: node << 8 | byte
  std::vector<int32_t> piece_at_;                // of each node; -1: none ends there
  std::vector<int32_t> byte_ids_;                // by byte; empty without byte fallback
  int32_t unknown_id_ = 0;
  float least_score_ = 0, most_score_ = 0;  // of normal pieces
  bool byte_fallback_ = false;
  bool add_dummy_prefix_ = true;
  bool remove_extra_whitespaces_ = true;
  bool escape_whitespaces_ = true;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_TEXT_SENTENCE_PIECES_H_
