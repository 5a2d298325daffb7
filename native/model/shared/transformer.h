// The transformer that all models have in common: talker, code predictor, codec decoder and encoder, audio
// encoder, and the decoder of the recogniser. They differ in data. Many streams, each with its own cache and
// any number of new positions, advance in one call.
#ifndef PARLEY_MODEL_TRANSFORMER_H_
#define PARLEY_MODEL_TRANSFORMER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/kernels.h"
#include "model/files/json.h"
#include "model/shared/workspace.h"

namespace parley::model {

// The sizes of a transformer.
struct TransformerConfig {
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // divides heads
  int64_t head_dim = 0;  // even; heads * head_dim need not be hidden
  double norm_eps = 0;
  double rope_theta = 0;  // 0: heads are not rotated

  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
};

// Ranges wide enough for models ten times as large; beyond is a damaged file.
inline constexpr int64_t kMaxWidth = 65536;
inline constexpr int64_t kMaxLayers = 512;
inline constexpr int64_t kMaxHeads = 1024;
inline constexpr int64_t kMaxHeadDim = 1024;
inline constexpr int64_t kMaxVocabulary = 1 << 20;
inline constexpr int64_t kMaxPositions = 1 << 24;

// Reads the keys common to all transformers; `eps_key` is rms_norm_eps or norm_eps. An absent head_dim is
// hidden / heads if `may_derive_head_dim`.
TransformerConfig ReadTransformer(const ConfigReader& reader, const char* eps_key, const char* activation,
                                  bool may_derive_head_dim);

// Rejects sliding windows, other kinds of layers, and scaled rotation. The three axes of the models' rotation
// always carry one position, so of rope_scaling only the type matters.
void RequireFullAttention(const ConfigReader& reader);

// The keys and values of one stream, all layers, and its position. The stream's owner owns it.
class KvState {
 public:
  // `capacity` positions; with a window a ring.
  KvState(Kernels& kernels, const TransformerConfig& config, Format format, size_t capacity);
  ~KvState();
  KvState(const KvState&) = delete;
  KvState& operator=(const KvState&) = delete;

  static size_t BytesOf(const TransformerConfig& config, Format format, size_t capacity);

  static KvLayout LayoutOf(const TransformerConfig& config, Format format);

  const KvLayout& layout() const { return layout_; }
  void* memory() const { return memory_; }
  uint64_t position() const { return position_; }  // the next row's
  size_t capacity() const { return capacity_; }
  void Advance(size_t rows) { position_ += rows; }
  // Forgets the positions from `position` on, which lies behind none that are kept.
  void Rewind(uint64_t position = 0) { position_ = position; }
  // Copies the first `positions` from another state of the same model and format: a prefix that was computed
  // once. Throws std::invalid_argument if this state has no room for them. It also throws if the other has
  // lost some of them (a wrapped ring: only a state of its capacity can copy it, and only as a whole).
  void CopyFrom(const KvState& other, size_t positions);

 private:
  Kernels& kernels_;
  void* memory_ = nullptr;
  const KvLayout layout_;
  const size_t layers_;
  const size_t bytes_;
  const size_t capacity_;
  uint64_t position_ = 0;
};

class Transformer {
 public:
  // With sight.whole the rows of a stream in one call see each other, and all layers share the keys and
  // values of one: the states are made for one layer.
  Transformer(Kernels& kernels, const TransformerConfig& config, std::vector<LayerWeights> layers,
              const Sight& sight);

  struct Stream {
    KvState* state;
    size_t rows;  // new positions
  };

  // x [sum of rows, hidden], stream by stream, in place: through all layers, without a
  // norm at the end. The states, each named once, advance. Throws std::length_error, before
  // anything is computed, when a state has no room: without a window for its positions,
  // with one for window + rows - 1.
  void Forward(const Stream* streams, size_t count, float* x);
  // Bytes for the intermediate signals of a pass of so many rows.
  size_t WorkBytes(size_t rows) const;

  // A pass in pieces of some layers, between which others may run. Transformer, streams and x outlive it, and
  // no other pass has its streams meanwhile.
  class Passage {
   public:
    explicit Passage(Kernels& kernels) : descriptions_(kernels), angles_(kernels) {}

   private:
    friend class Transformer;

    Workspace descriptions_, angles_;
    std::vector<Stream> states_;
    AttentionBatch streams_;
    const float* turned_ = nullptr;  // [rows, head_dim]
    float* x_ = nullptr;
    size_t layer_ = 0;  // the next
  };
  // As Forward, which is a passage in one piece. Throws as it.
  void Begin(const Stream* streams, size_t count, float* x, Passage* passage);
  // At most so many layers more. False: it is done, and its states have advanced.
  bool Advance(Passage* passage, size_t layers);

  // A pass that is described to the backend once and can then run repeatedly. It starts at the position that
  // its streams had at that time, wherever they are now. Transformer and streams outlive it.
  class Standing {
   public:
    explicit Standing(Kernels& kernels) : descriptions_(kernels), angles_(kernels) {}

    // The first `count` of the streams, and the angles of their rows: [rows, head_dim].
    AttentionBatch First(size_t count) const;
    const float* angles() const { return turned_; }

   private:
    friend class Transformer;

    Workspace descriptions_, angles_;
    AttentionBatch streams_;
    const float* turned_ = nullptr;  // [rows, head_dim]
  };
  // Streams at one position, with as many rows each. Throws as Forward.
  void Describe(const Stream* streams, size_t count, Standing* pass);
  // As Forward, of the first `count` of those that were described, whose states do not advance.
  void Forward(const Standing& pass, size_t count, float* x);

  // As Forward, of the first `layers` layers only and without advancing: for tests.
  void ForwardLayers(const Stream* streams, size_t count, float* x, size_t layers);

  const TransformerConfig& config() const { return config_; }
  const std::vector<LayerWeights>& layers() const { return layers_; }
  size_t window() const { return sight_.window; }

 private:
  struct Batch;
  Batch Prepare(const AttentionBatch& attending, const float* angles, float* x);
  AttentionBatch Gather(const Stream* streams, size_t count, Workspace* descriptions);
  const float* UploadAngles(Workspace* angles);
  void RunLayers(const Batch& batch, size_t first, size_t last);

  Kernels& kernels_;
  const TransformerConfig config_;
  std::vector<LayerWeights> layers_;
  const Sight sight_;
  Workspace workspace_, descriptions_, angles_;
  std::vector<uint64_t> positions_;
  std::vector<AttentionStream> attending_;
};

}  // namespace parley::model

#endif  // PARLEY_MODEL_TRANSFORMER_H_
