// All layers of a transformer for a few rows as one grid that stays: a block for each of some multiprocessors, to each its rows
// of every matrix. What a step makes is told (told.cuh) to the blocks whose next step needs it, while the weights of
// the steps to come flow into their rings. The bits are those of the grids that do the same one by one.
//
// Who has no rows in a step reads nothing for it. So nobody still reads what a block tells anew: it has heard what all those made of it.
#ifndef PARLEY_KERNELS_CUDA_LAYER_RUN_CUH_
#define PARLEY_KERNELS_CUDA_LAYER_RUN_CUH_

#include "kernels/cuda/layer_run_args.h"
#include "kernels/cuda/run_attention.cuh"
#include "kernels/cuda/slab_product.cuh"

namespace parley::cuda {

constexpr uint32_t kStepsOfLayer = 5;

// Chunks of a part of such columns.
template <int kHidden_, int kAttended_, int kExpanded_, class Cached_>
struct RunShape {
  static constexpr int kHidden = kHidden_, kAttended = kAttended_, kExpanded = kExpanded_;
  static constexpr uint32_t kHiddenColumns = kHidden * kParts * kChunk, kExpandedColumns = kExpanded * kParts * kChunk;
  static constexpr uint32_t kQueryHeads = kAttended * kParts * kChunk / kRunDim;
  using Cached = Cached_;
  using Attention = RunAttention<Cached>;
};

// Where a block's shared memory goes.
struct RunRoom {
  static constexpr uint32_t kBars = sizeof(WeightRing::Bars);

  uint32_t pitch, sums_pitch;  // floats
  uint32_t sums, all;          // floats of one of two; bytes without the ring

  __host__ __device__ static RunRoom Of(uint32_t hidden, uint32_t most_rows, uint32_t most_slabs, uint32_t attention) {
    RunRoom room;
    room.pitch = hidden + 4;
    room.sums_pitch = most_slabs * kSlabRows + 4;
    room.sums = kParts * most_rows * room.sums_pitch;
    const uint32_t vectors = most_rows * room.pitch * 4;
    room.all = kBars + ((vectors > attention ? vectors : attention) + 15) / 16 * 16 + 2 * room.sums * 4;
    return room;
  }
};

template <class Shape>
struct RunBlock {
  using Attention = typename Shape::Attention;

  const LayerRunArgs& args;
  uint32_t rows;  // that there are
  uint32_t streams_count;
  const AttentionStream* streams;  // in the block's memory
  uint32_t step;  // whose inputs are awaited next
  uint32_t heads_slabs, kv_slabs, hidden_slabs, inner_slabs;
  RunRoom room;
  WeightRing ring;
  unsigned char* scratch;  // vectors, or what attention shares
  float* sums;
  uint32_t turn = 0;  // of the sums

  __device__ __forceinline__ explicit RunBlock(const LayerRunArgs& its) : args(its) {
    heads_slabs = Shape::kQueryHeads * kRunDim / kSlabRows;
    kv_slabs = args.heads.heads * kRunDim / kSlabRows;
    hidden_slabs = Shape::kHiddenColumns / kSlabRows;
    inner_slabs = Shape::kExpandedColumns / kSlabRows;
    room = RunRoom::Of(Shape::kHiddenColumns, args.most_rows, MostSlabs(), sizeof(typename Attention::Shared));
    unsigned char* const bytes = SharedBytes();
    ring.bytes = bytes;
    ring.places = args.places;
    unsigned char* const rest = bytes + args.places * kSlabBytes;
    ring.bars = reinterpret_cast<WeightRing::Bars*>(rest);
    sums = reinterpret_cast<float*>(rest + RunRoom::kBars);
    scratch = rest + RunRoom::kBars + 2 * room.sums * 4;
  }

  // Of a block in one product, at most.
  __device__ __forceinline__ uint32_t MostSlabs() const {
    const uint32_t blocks = gridDim.x, all = heads_slabs + 2 * kv_slabs;
    return max((all + blocks - 1) / blocks, 2 * ((inner_slabs + blocks - 1) / blocks));
  }

  // --- the warp that fills the ring
  // One of a layer's four products, as far as this block has a share in it.
  struct Source {
    const unsigned char *matrix[3];  // of this block's slabs the first ..
    uint32_t until[3];               // .. and where the next matrix begins
    uint32_t columns;
  };
  __device__ __forceinline__ Source SourceOf(const RunLayer& layer, uint32_t product) const {
    const uint32_t attended = args.heads.query_heads * kRunDim;
    const auto at = [&](const unsigned char* matrix, uint32_t slab, uint32_t columns) {
      return matrix + static_cast<uint64_t>(slab) * (kSlabRows * 2) * columns;
    };
    if (product == 0) {
      const SlabShare share = SlabShare::Of(heads_slabs + 2 * kv_slabs);
      const uint32_t k = heads_slabs, v = heads_slabs + kv_slabs, end = share.first + share.count;
      const auto until = [&](uint32_t border) { return min(max(border, share.first), end) - share.first; };
      return {{at(layer.q, share.first, Shape::kHiddenColumns), at(layer.k, max(k, share.first) - k, Shape::kHiddenColumns),
               at(layer.v, max(v, share.first) - v, Shape::kHiddenColumns)},
              {until(k), until(v), share.count}, Shape::kHiddenColumns};
    }
    if (product == 2) {
      const SlabShare share = SlabShare::Of(inner_slabs);
      return {{at(layer.gate, share.first, Shape::kHiddenColumns), at(layer.up, share.first, Shape::kHiddenColumns), nullptr},
              {share.count, 2 * share.count, 2 * share.count}, Shape::kHiddenColumns};
    }
    const SlabShare share = SlabShare::Of(hidden_slabs);
    const uint32_t columns = product == 1 ? attended : Shape::kExpandedColumns;
    return {{at(product == 1 ? layer.o : layer.down, share.first, columns), nullptr, nullptr}, {share.count, share.count, share.count}, columns};
  }

  // In tiles: piece by piece of their columns, slab by slab.
  __device__ __forceinline__ void Fill() {
#pragma unroll 1
    for (uint32_t product = 0; product < args.layers * 4; product++) {
      const Source source = SourceOf(args.layer[product / 4], product % 4);
      const uint32_t slabs = source.until[2], row_bytes = source.columns * 2, width = TileWidth(ring, source.columns);
#pragma unroll 1
      for (uint32_t tile = 0; tile < slabs; tile += width) {
#pragma unroll 1
        for (uint32_t begin = 0; begin < source.columns; begin += kSlabColumns) {
#pragma unroll 1
          for (uint32_t slab = tile; slab < min(tile + width, slabs); slab++) {
            const unsigned char* const rows =
                slab < source.until[0]   ? source.matrix[0] + static_cast<uint64_t>(slab) * kSlabRows * row_bytes
                : slab < source.until[1] ? source.matrix[1] + static_cast<uint64_t>(slab - source.until[0]) * kSlabRows * row_bytes
                                         : source.matrix[2] + static_cast<uint64_t>(slab - source.until[1]) * kSlabRows * row_bytes;
            ring.Fill(rows + begin * 2, row_bytes, min(source.columns - begin, kSlabColumns));
          }
        }
      }
    }
  }

  // --- the warps that compute
  // Nobody writes what a grid before this one may.
  __device__ __forceinline__ void TakeStreams() {
    __shared__ AttentionStream its[kMostRunRows];
    streams_count = *args.heads.stream_count;
    streams = its;
    if (ThisThread() < streams_count) its[ThisThread()] = args.heads.streams[ThisThread()];
    MeetRun();
  }

  __device__ __forceinline__ SlabSums NextSums() {
    turn ^= 1;
    return {sums + turn * room.sums, room.sums_pitch, rows};
  }

  // Floats of the rows that are told, of the warp's part, to the block's.
  template <int kRows>
  __device__ __forceinline__ void TakeRows(float* x) const {
    constexpr int kOfRow = Shape::kHidden > 1 ? Shape::kHidden / 2 : 1;  // pairs of a lane
    // Lanes without one have another's.
    const uint32_t lane = ThisThread() % 32 % (Shape::kHidden * 16), begin = VectorPart<Shape::kHidden>::First() + lane * 2;
#pragma unroll 1
    for (uint32_t row = 0; row < rows; row += kRows) {
      TwoTold told[kRows * kOfRow];
      const auto row_of = [&](int n) { return kRows == 1 ? row : min(row + n / kOfRow, rows - 1); };
      AwaitTold(args.rows + begin, [&](int n) { return row_of(n) * Shape::kHiddenColumns + n % kOfRow * 64; }, step, told);
#pragma unroll
      for (int n = 0; n < kRows * kOfRow; n++) {
        *reinterpret_cast<float2*>(x + row_of(n) * room.pitch + begin + n % kOfRow * 64) =
            make_float2(__uint_as_float(told[n].first.bits), __uint_as_float(told[n].second.bits));
      }
    }
  }
  __device__ __forceinline__ void TakeFirstRows(float* x) const {
#pragma unroll 1
    for (uint32_t row = 0; row < rows; row++) {
#pragma unroll 1
      for (uint32_t k = ThisThread() * 4; k < Shape::kHiddenColumns; k += kRunThreads * 4) {
        *reinterpret_cast<float4*>(x + row * room.pitch + k) = *reinterpret_cast<const float4*>(args.x + row * Shape::kHiddenColumns + k);
      }
    }
  }

  // As RmsFactor.
  __device__ __forceinline__ float FactorOfRow(const float* x) const {
    const float* const own = x + ThisThread() % 32 * 4;
    float sum = 0;
#pragma unroll
    for (uint32_t k = 0; k < Shape::kHiddenColumns; k += 128) sum = SumOfSquares(*reinterpret_cast<const float4*>(own + k), sum);
    return RmsFactorOf(sum, Shape::kHiddenColumns, args.heads.eps);
  }

  // The factor of this lane's row.
  __device__ __forceinline__ float FactorOf(const float* x) const {
    __shared__ float factors[8];
    const uint32_t warp = ThisThread() / 32;
    const float factor = FactorOfRow(x + min(warp, rows - 1) * room.pitch);
    if (rows == 1) return factor;
    if (warp < rows && ThisThread() % 32 == 0) factors[warp] = factor;
    MeetRun();
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
    MeetRun();
    part.Norm(x, room.pitch, rows, FactorOf(x), weights);
    const SlabSums its = NextSums();
    MultiplySlabs(&ring, part, slabs, its);
    return its;
  }

  // Of a finished product each warp has a row. Raw heads.
  __device__ __forceinline__ void TellRaw(const SlabSums& its, const SlabShare& share) const {
    const uint32_t row = ThisThread() / 32, all = (heads_slabs + 2 * kv_slabs) * kSlabRows, first = share.first * kSlabRows;
    if (row >= rows) return;
#pragma unroll 1
    for (uint32_t of = ThisThread() % 32; of < share.count * kSlabRows; of += 32) {
      Tell(args.raw + row * all + first + of, __float_as_uint(its.Total(row, of)), step + 1);
    }
  }

  // silu(gate) * up. Neighbours of a row are a pair.
  __device__ __forceinline__ void TellExpanded(const SlabSums& its, const SlabShare& share) const {
    const uint32_t row = ThisThread() / 32, lane = ThisThread() % 32, count = share.count * kSlabRows;
    if (row >= rows) return;
#pragma unroll 1
    for (uint32_t begin = 0; begin < count; begin += 32) {
      const uint32_t of = min(begin + lane, count - 1);
      const float value = Gated(its.Total(row, of), its.Total(row, count + of));
      const float next = __shfl_down_sync(0xffffffffu, value, 1);
      if (begin + lane == of && of % 2 == 0) {
        Tell(args.inner + (row * Shape::kExpandedColumns + share.first * kSlabRows + of) / 2, PackBf16(value, next), step + 1);
      }
    }
  }

  // The first half of a layer begins with its heads, the second with what is expanded.
  __device__ __forceinline__ void BeginHalf(const RunLayer& layer, bool heads, bool is_first) {
    const SlabShare share = SlabShare::Of(heads ? heads_slabs + 2 * kv_slabs : inner_slabs);
    if (share.count > 0) {
      const SlabSums its = MultiplyNormed(heads ? layer.norm : layer.mlp_norm, heads ? share.count : 2 * share.count, is_first);
      if (heads) TellRaw(its, share);
      else TellExpanded(its, share);
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

  __device__ __forceinline__ void Attend(uint32_t n) {
    if (Attention::HasPart()) {
      bool is_first = true;
      ForHeads([&](const RunPlace& place) {
        if (!is_first) Attention::Meet();  // what the block shares has been read
        is_first = false;
        Attention(args, place, n, scratch).Attend(args.layer[n], step);
      });
    }
    step++;
  }

  // The other end of a half: x += the product of pairs, to the rows, and told.
  template <int kPairs>
  __device__ __forceinline__ void EndHalf(const Told* pairs) {
    const SlabShare share = SlabShare::Of(hidden_slabs);
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
        Tell(args.rows + place + of, __float_as_uint(value), step + 1);
        args.x[place + of] = value;
      }
    }
    step++;
  }

  __device__ __forceinline__ void Run() {
#pragma unroll 1
    for (uint32_t half = 0; half < 2 * args.layers; half++) {
      const RunLayer& layer = args.layer[half / 2];
      const bool heads = half % 2 == 0;
      if (heads) {
        ForHeads([&](const RunPlace& place) {
          if (place.i == 0) Attention(args, place, half / 2, scratch).Fetch(kRunThreads);
        });
      }
      BeginHalf(layer, heads, half == 0);
      if (heads) Attend(half / 2);
      if (heads) EndHalf<Shape::kAttended>(args.attended);
      else EndHalf<Shape::kExpanded>(args.inner);
    }
  }
};

constexpr uint32_t kFillThreads = 128;  // a warpgroup, whose registers the others get

template <class Shape>
__global__ void __launch_bounds__(kRunThreads + kFillThreads, 1) RunLayersKernel(const __grid_constant__ LayerRunArgs args) {
  LetNextBegin();
  if constexpr (kHasTiles) {
    RunBlock<Shape> block(args);
    block.ring.Begin();
    if (threadIdx.x >= kRunThreads) {
      LeaveRegisters<40>();
      if (threadIdx.x < kRunThreads + 32) block.Fill();
      AwaitInputs();
    } else {
      TakeRegisters<232>();
      block.rows = *args.heads.rows;
      AwaitInputs();
      block.TakeStreams();
      block.step = args.steps[blockIdx.x];
      block.Run();
      MeetRun();
      if (threadIdx.x == 0) args.steps[blockIdx.x] = block.step;
    }
  }
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_LAYER_RUN_CUH_
