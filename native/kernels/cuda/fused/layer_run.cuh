// Persistent kernel that runs all layers of a transformer for a few rows in one grid. Each block computes
// its own rows of every matrix. Blocks exchange the results of a step as step-tagged words in global memory
// (TaggedWord, layer_run_args.h). Meanwhile the weights of later steps stream into their rings. The bits
// are those of the separate grids.
//
// A block without rows in a step reads nothing for it. A block may overwrite exchanged words without a
// further barrier: it has received results from all blocks that read the old ones. This holds for any
// distribution of rows (a block may have none where there are fewer slabs than blocks). A block that
// overwrites
//   - rows: has every attended word. They depend on every raw word, and the blocks that published those had
//     read all rows. Or it has every inner word, and the same holds.
//   - raw: has every row, from blocks that had every inner word, from blocks that had every row of the half
//     before, from blocks that had every attended word: all raw words had been read.
//   - attended: has a raw word, from a block that had every row, from all blocks that had read the attended
//     words of the layer before.
//   - inner: has every row, from all blocks that had read the inner words of the layer before.
//
// A block publishes nothing of a step before all of its warps have read what they need. All blocks count
// steps alike, whether they have rows or not.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_CUH_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_CUH_

#include "kernels/cuda/fused/run_shape.cuh"

namespace parley::cuda {

// The warp that fills the ring of a grid that goes through a transformer's layers: which weights, in which
// order.
template <class Shape, bool kPasses>
struct RunWeights {
  const LayerRunArgs& args;
  const RunSlabs& slabs;
  WeightRing* ring;

  // One of a layer's four products, or that of a pass's head, as far as this block has a share in it.
  struct Source {
    const unsigned char* matrix[3];  // this block's first slab in each ..
    uint32_t until[3];               // .. and the slab with which the next matrix begins
    uint32_t columns;
  };
  __device__ __forceinline__ Source SourceOf(const RunLayer& layer, uint32_t product) const {
    const uint32_t attended = args.heads.query_heads * kRunDim;
    const auto at = [&](const unsigned char* matrix, uint32_t slab, uint32_t columns) {
      return matrix + static_cast<uint64_t>(slab) * (kSlabRows * 2) * columns;
    };
    if (product == 0) {
      const SlabShare share = SlabShare::Of(slabs.Heads());
      const uint32_t k = slabs.queries, v = slabs.queries + slabs.kv, end = share.first + share.count;
      const auto until = [&](uint32_t border) { return min(max(border, share.first), end) - share.first; };
      return {{at(layer.q, share.first, Shape::kHiddenColumns),
               at(layer.k, max(k, share.first) - k, Shape::kHiddenColumns),
               at(layer.v, max(v, share.first) - v, Shape::kHiddenColumns)},
              {until(k), until(v), share.count},
              Shape::kHiddenColumns};
    }
    if (product == 2) {
      const SlabShare share = SlabShare::Of(slabs.inner);
      return {{at(layer.gate, share.first, Shape::kHiddenColumns),
               at(layer.up, share.first, Shape::kHiddenColumns), nullptr},
              {share.count, 2 * share.count, 2 * share.count},
              Shape::kHiddenColumns};
    }
    const SlabShare share = SlabShare::Of(slabs.hidden);
    const uint32_t columns = product == 1 ? attended : Shape::kExpandedColumns;
    return {{at(product == 1 ? layer.o : layer.down, share.first, columns), nullptr, nullptr},
            {share.count, share.count, share.count},
            columns};
  }

  __device__ __forceinline__ Source SourceOfHead(uint32_t of_pass) const {
    const SlabShare share = SlabShare::Of(slabs.head);
    const unsigned char* const head = args.passes->pass[of_pass].head;
    return {{head + static_cast<uint64_t>(share.first) * (kSlabRows * 2) * Shape::kHiddenColumns, nullptr,
             nullptr},
            {share.count, share.count, share.count},
            Shape::kHiddenColumns};
  }

  // In tiles: piece by piece of their columns, slab by slab.
  __device__ __forceinline__ void Fill() const {
    const uint32_t of_layers = args.layers * 4,
                   all = kPasses ? args.passes->count * (of_layers + 1) : of_layers;
#pragma unroll 1
    for (uint32_t n = 0; n < all; n++) {
      const uint32_t product = kPasses ? n % (of_layers + 1) : n;
      const Source source = kPasses && product == of_layers ? SourceOfHead(n / (of_layers + 1))
                                                            : SourceOf(args.layer[product / 4], product % 4);
      const uint32_t count = source.until[2], row_bytes = source.columns * 2,
                     width = TileWidth(*ring, source.columns);
#pragma unroll 1
      for (uint32_t tile = 0; tile < count; tile += width) {
#pragma unroll 1
        for (uint32_t begin = 0; begin < source.columns; begin += kSlabColumns) {
#pragma unroll 1
          for (uint32_t slab = tile; slab < min(tile + width, count); slab++) {
            const unsigned char* const rows =
                slab < source.until[0]
                    ? source.matrix[0] + static_cast<uint64_t>(slab) * kSlabRows * row_bytes
                : slab < source.until[1]
                    ? source.matrix[1] + static_cast<uint64_t>(slab - source.until[0]) * kSlabRows * row_bytes
                    : source.matrix[2] +
                          static_cast<uint64_t>(slab - source.until[1]) * kSlabRows * row_bytes;
            ring->Fill(rows + begin * 2, row_bytes, min(source.columns - begin, kSlabColumns));
          }
        }
      }
    }
  }
};

// A step's product.
enum class RunProduct : uint8_t { kHeads, kExpanded, kLogits };

// With passes: those of a code predictor, else the layers once.
template <class Shape, bool kPasses>
struct RunBlock {
  using Attention = typename Shape::Attention;

  const LayerRunArgs& args;
  uint32_t rows;  // that there are
  uint32_t streams_count;
  AttentionStream* streams;  // in the block's memory
  const RunPasses* passes;   // likewise
  int32_t* chosen;           // likewise: the codes that this pass begins with
  uint32_t pass = 0;
  uint32_t step;  // the step whose inputs are awaited next
  RunSlabs slabs;
  RunRoom room;
  WeightRing ring;
  unsigned char* scratch;  // vectors, or what attention shares
  float* sums;
  uint32_t turn = 0;  // which of the two sets of sums is next

  __device__ __forceinline__ explicit RunBlock(const LayerRunArgs& its)
      : args(its), slabs(RunSlabs::Of<Shape, kPasses>(its)) {
    room = RunRoom::Of(Shape::kHiddenColumns, args.most_rows,
                       Shape::MostSlabs(args.heads.heads, slabs.head, gridDim.x), Shape::Scratch(kPasses));
    unsigned char* const bytes = SharedBytes();
    ring.bytes = bytes;
    ring.places = args.places;
    unsigned char* const rest = bytes + args.places * kSlabBytes;
    ring.bars = reinterpret_cast<WeightRing::Bars*>(rest);
    sums = reinterpret_cast<float*>(rest + RunRoom::kBars);
    scratch = rest + RunRoom::kBars + 2 * room.sums * 4;
  }

  // All of them call it, when the grids before are done.
  __device__ __forceinline__ void TakeStreams() {
    __shared__ AttentionStream its[kMostRunRows];
    streams_count = *args.heads.stream_count;
    streams = its;
    if (ThisThread() < streams_count) its[ThisThread()] = args.heads.streams[ThisThread()];
    if constexpr (kPasses) {
      constexpr uint32_t kWords = sizeof(RunPasses) / 8;
      static_assert(sizeof(RunPasses) % 8 == 0 && kWords <= kRunThreads);
      __shared__ uint64_t tagged[kWords];
      __shared__ int32_t codes[kMostRunRows];
      if (ThisThread() < kWords)
        tagged[ThisThread()] = reinterpret_cast<const uint64_t*>(args.passes)[ThisThread()];
      passes = reinterpret_cast<const RunPasses*>(tagged);
      chosen = codes;
    }
    RunBarrier();
  }

  __device__ __forceinline__ SlabSums NextSums() {
    turn ^= 1;
    return {sums + turn * room.sums, room.sums_pitch, rows};
  }

  // Copies the floats of published rows, the warp's part, to the block's.
  template <int kRows>
  __device__ __forceinline__ void TakeRows(float* x) const {
    constexpr int kOfRow = Shape::kHidden > 1 ? Shape::kHidden / 2 : 1;  // pairs of a lane
    // Lanes without one have another's.
    const uint32_t lane = ThisThread() % 32 % (Shape::kHidden * 16),
                   begin = VectorPart<Shape::kHidden>::First() + lane * 2;
#pragma unroll 1
    for (uint32_t row = 0; row < rows; row += kRows) {
      TaggedPair tagged[kRows * kOfRow];
      const auto row_of = [&](int n) { return kRows == 1 ? row : min(row + n / kOfRow, rows - 1); };
      AwaitTagged(
          args.rows + begin, [&](int n) { return row_of(n) * Shape::kHiddenColumns + n % kOfRow * 64; }, step,
          tagged);
#pragma unroll
      for (int n = 0; n < kRows * kOfRow; n++) {
        StoreSame(reinterpret_cast<float2*>(x + row_of(n) * room.pitch + begin + n % kOfRow * 64),
                  make_float2(__uint_as_float(tagged[n].first.bits), __uint_as_float(tagged[n].second.bits)));
      }
    }
  }
  // Four values of the pass's first rows, which lie in memory or are the table rows of codes.
  __device__ __forceinline__ float4 FirstFour(uint32_t row, uint32_t k) const {
    if constexpr (kPasses) {
      if (pass > 0) return FourOfTable(*passes, pass - 1, chosen[row], Shape::kHiddenColumns, k);
    }
    return *reinterpret_cast<const float4*>(args.x + row * Shape::kHiddenColumns + k);
  }
  __device__ __forceinline__ void TakeFirstRows(float* x) const {
#pragma unroll 1
    for (uint32_t row = 0; row < rows; row++) {
#pragma unroll 1
      for (uint32_t k = ThisThread() * 4; k < Shape::kHiddenColumns; k += kRunThreads * 4) {
        *reinterpret_cast<float4*>(x + row * room.pitch + k) = FirstFour(row, k);
      }
    }
  }

  // This block's columns of the rows to where products are added to them, by the threads that will do so
  // (EndHalf).
  __device__ __forceinline__ void KeepFirstRows(const float* x) const {
    const SlabShare share = SlabShare::Of(slabs.hidden);
    const uint32_t row = ThisThread() / 32, first = share.first * kSlabRows;
#pragma unroll 1
    for (uint32_t of = ThisThread() % 32; row < rows && of < share.count * kSlabRows; of += 32) {
      args.x[row * Shape::kHiddenColumns + first + of] = x[row * room.pitch + first + of];
    }
  }

  // The next pass: a row of each stream, at its next position.
  __device__ __forceinline__ void NextPass() {
    if (ThisThread() < 32) {
      const uint32_t stream = min(ThisThread(), streams_count - 1);
      TaggedPair tagged;
      AwaitAll([&] { return (tagged = Poll(passes->tagged_codes + 2 * stream)).first.step ^ step; });
      if (ThisThread() == stream) {
        chosen[stream] = static_cast<int32_t>(tagged.first.bits);
        streams[stream].position += streams[stream].count;
        streams[stream].count = 1;
        streams[stream].row = stream;
      }
    }
    rows = streams_count;
    pass++;
    RunBarrier();
  }

  // Sums in the order of RmsFactor.
  __device__ __forceinline__ float FactorOfRow(const float* x) const {
    const float* const own = x + ThisThread() % 32 * 4;
    float sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < Shape::kHiddenColumns; k += 128)
      sum = SumOfSquares(*reinterpret_cast<const float4*>(own + k), sum);
    return RmsFactorOf(sum, Shape::kHiddenColumns, args.heads.eps);
  }

  // The factor of this lane's row.
  __device__ __forceinline__ float FactorOf(const float* x) const {
    __shared__ float factors[8];
    const uint32_t warp = ThisThread() / 32;
    const float factor = FactorOfRow(x + min(warp, rows - 1) * room.pitch);
    if (rows == 1) return factor;
    if (warp < rows && ThisThread() % 32 == 0) factors[warp] = factor;
    RunBarrier();
    return factors[min(ThisThread() % 32 / 4, rows - 1)];
  }

  // Rows, normed, times the block's slabs.
  __device__ __forceinline__ SlabSums MultiplyNormed(const float* norm, uint32_t slabs, bool are_first) {
    VectorPart<Shape::kHidden> part;
    float* const x = reinterpret_cast<float*>(scratch);
    EightFloats weights[Shape::kHidden];
    part.LoadWeights(norm, weights);
    if (are_first) TakeFirstRows(x);
    else if (rows == 1) TakeRows<1>(x);
    else TakeRows<2>(x);
    RunBarrier();
    if (kPasses && are_first && pass > 0) KeepFirstRows(x);
    part.Norm(x, room.pitch, rows, FactorOf(x), weights);
    const SlabSums its = NextSums();
    MultiplySlabs(&ring, part, slabs, its);
    return its;
  }

  // Publishes a finished product, one row per warp: raw heads, or logits of every `each`-th row.
  __device__ __forceinline__ void PublishWhole(const SlabSums& its, const SlabShare& share,
                                               uint32_t all_slabs, TaggedWord* to, uint32_t each) const {
    const uint32_t row = ThisThread() / 32, all = all_slabs * kSlabRows, first = share.first * kSlabRows;
    if (row >= rows || row % each != each - 1) return;
#pragma unroll 1
    for (uint32_t of = ThisThread() % 32; of < share.count * kSlabRows; of += 32) {
      Publish(to + row / each * all + first + of, __float_as_uint(its.Total(row, of)), step + 1);
    }
  }

  // silu(gate) * up. Neighbours of a row are a pair.
  __device__ __forceinline__ void PublishExpanded(const SlabSums& its, const SlabShare& share) const {
    const uint32_t row = ThisThread() / 32, lane = ThisThread() % 32, count = share.count * kSlabRows;
    if (row >= rows) return;
#pragma unroll 1
    for (uint32_t begin = 0; begin < count; begin += 32) {
      const uint32_t of = min(begin + lane, count - 1);
      const float value = Gated(its.Total(row, of), its.Total(row, count + of));
      const float next = __shfl_down_sync(0xffffffffu, value, 1);
      if (begin + lane == of && of % 2 == 0) {
        Publish(args.inner + (row * Shape::kExpandedColumns + share.first * kSlabRows + of) / 2,
                PackBf16(value, next), step + 1);
      }
    }
  }

  // The first half of a layer begins with its heads, the second with what is expanded; after all layers come
  // the logits.
  __device__ __forceinline__ void Begin(RunProduct what, const float* norm, bool is_first) {
    const bool gated = what == RunProduct::kExpanded, is_head = kPasses && what == RunProduct::kLogits;
    const uint32_t all = is_head ? slabs.head : gated ? slabs.inner : slabs.Heads();
    const SlabShare share = SlabShare::Of(all);
    if (share.count > 0) {
      const SlabSums its = MultiplyNormed(norm, gated ? 2 * share.count : share.count, is_first);
      if (gated) PublishExpanded(its, share);
      else
        PublishWhole(its, share, all, is_head ? passes->tagged_logits : args.raw,
                     is_head ? rows / streams_count : 1);
    }
    step++;
  }

  // The heads that this block attends to; calls use(place of one) for each.
  template <class Use>
  __device__ __forceinline__ void ForHeads(const Use& use) const {
    const uint32_t query_heads = Shape::kQueryHeads, items = streams_count * query_heads;
#pragma unroll 1
    for (uint32_t item = ThisBlock(); item < items; item += gridDim.x) {
      const AttentionStream stream = streams[item / query_heads];
#pragma unroll 1
      for (uint32_t i = 0; i < stream.count; i++) use(RunPlace{stream, i, item % query_heads});
    }
  }

  __device__ __forceinline__ const float* AnglesOfPass() const {
    if constexpr (kPasses) return passes->pass[pass].angles;
    else return args.heads.angles;
  }

  __device__ __forceinline__ void Attend(uint32_t n) {
    if (Attention::HasPart()) {
      bool is_first = true;
      ForHeads([&](const RunPlace& place) {
        if (!is_first) Attention::BlockBarrier();  // all threads have read the shared memory
        is_first = false;
        Attention(args, place, AnglesOfPass(), n, scratch).Attend(args.layer[n], step);
      });
    }
    step++;
  }

  // The other end of a half: x += the product of pairs, to the rows, and tagged.
  template <int kPairs>
  __device__ __forceinline__ void EndHalf(const TaggedWord* pairs) {
    const SlabShare share = SlabShare::Of(slabs.hidden);
    if (share.count > 0) {
      const uint32_t count = share.count * kSlabRows, row = ThisThread() / 32, lane = ThisThread() % 32;
      const uint32_t place = row * Shape::kHiddenColumns + share.first * kSlabRows;
      const bool has_one = row < rows && lane < count;
      float before = 0;
      if (has_one) before = args.x[place + lane];
      VectorPart<kPairs> part;
      part.AwaitPairs(pairs, rows, step);
      const SlabSums its = NextSums();
      MultiplySlabs(&ring, part, share.count, its);
#pragma unroll 1
      for (uint32_t of = lane; row < rows && of < count; of += 32) {
        const float value = (of == lane ? before : args.x[place + of]) + its.Total(row, of);
        Publish(args.rows + place + of, __float_as_uint(value), step + 1);
        args.x[place + of] = value;
      }
    }
    step++;
  }

  __device__ __forceinline__ void RunLayers() {
    const uint32_t halves = 2 * args.layers;
#pragma unroll 1
    for (uint32_t half = 0; half < (kPasses ? halves + 1 : halves); half++) {
      const bool heads = half % 2 == 0, is_end = kPasses && half == halves;
      const RunLayer& layer = args.layer[is_end ? 0 : half / 2];
      if (heads && !is_end) {
        ForHeads([&](const RunPlace& place) {
          if (place.i == 0) Attention(args, place, nullptr, half / 2, scratch).Fetch(kRunThreads);
        });
      }
      Begin(is_end  ? RunProduct::kLogits
            : heads ? RunProduct::kHeads
                    : RunProduct::kExpanded,
            is_end  ? passes->norm
            : heads ? layer.norm
                    : layer.mlp_norm,
            half == 0);
      if (is_end) return;
      if (heads) Attend(half / 2);
      if (heads) EndHalf<Shape::kAttended>(args.attended);
      else EndHalf<Shape::kExpanded>(args.inner);
    }
  }

  // The last blocks choose, one for each stream.
  __device__ __forceinline__ void Choose() {
#pragma unroll 1
    for (uint32_t stream = gridDim.x - 1 - ThisBlock(); stream < streams_count; stream += gridDim.x) {
      RunBarrier();  // all threads have read the shared memory
      ChooseInRun(*passes, stream, pass, step, scratch);
    }
    step++;
  }

  // Chooses codes; after every pass but the last, prepares the first rows of the next pass.
  __device__ __forceinline__ bool GoesOn() {
    Choose();
    if (pass + 1 == passes->count) return false;
    NextPass();
    return true;
  }

  __device__ __forceinline__ void Run() {
    do RunLayers();
    while (kPasses && GoesOn());
  }
};

constexpr uint32_t kFillThreads = 128;  // a warpgroup, whose registers the others get

template <class Shape, bool kPasses>
__global__ void __launch_bounds__(kRunThreads + kFillThreads, 1)
    RunLayersKernel(const __grid_constant__ LayerRunArgs args) {
  LaunchDependents();
  if constexpr (kHasTiles) {
    RunBlock<Shape, kPasses> block(args);
    block.ring.Begin();
    if (threadIdx.x >= kRunThreads) {
      DecreaseRegisters<40>();
      if (threadIdx.x < kRunThreads + 32) RunWeights<Shape, kPasses>{args, block.slabs, &block.ring}.Fill();
      GridDependencyWait();
    } else {
      IncreaseRegisters<232>();
      block.rows = *args.heads.rows;
      GridDependencyWait();
      block.TakeStreams();
      block.step = args.steps[blockIdx.x];
      block.Run();
      RunBarrier();
      if (threadIdx.x == 0) args.steps[blockIdx.x] = block.step;
    }
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_CUH_
