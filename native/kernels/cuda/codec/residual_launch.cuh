// Launches of the codec's residual units: two grids where the tile kernel supports them, else step by step.
#ifndef PARLEY_KERNELS_CUDA_RESIDUAL_LAUNCH_CUH_
#define PARLEY_KERNELS_CUDA_RESIDUAL_LAUNCH_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/codec/convolutions.cuh"
#include "kernels/cuda/codec/residual_unit.cuh"
#include "kernels/kernels.h"

namespace parley::cuda {

// True if the kernel supports the channels, the taps and the format, and the weights meet vectors of one
// term.
inline bool HasUnitShape(const ResidualUnit& unit, const ProductRules& rules) {
  const Convolution& dilated = unit.dilated;
  const size_t channels = dilated.channels;
  const auto fits = [&](const Matrix& w, size_t columns) {
    return w.format == Format::kBf16 && w.rows == channels && w.columns == columns && LiesAtFours(w.values);
  };
  return rules.wide && VectorTermsOf(Format::kBf16, rules.full_vectors) == 1 &&
         (channels == 96 || channels == 192) && dilated.taps == kUnitTaps &&
         dilated.History() <= kUnitMostPast && fits(dilated.weights, kUnitTaps * channels) &&
         fits(unit.pointwise, channels) && dilated.bias != nullptr && unit.pointwise_bias != nullptr &&
         unit.second.a != nullptr && unit.second.b != nullptr && LiesAtFours(dilated.bias) &&
         LiesAtFours(unit.pointwise_bias) && LiesAtFours(unit.second.a) && LiesAtFours(unit.second.b);
}

// Tiles of one signal. Fewer than these are left to steps, whose weights come to more multiprocessors at
// once: 192 channels read all of theirs for each tile (one stream's five take 26 us, by steps 14; twenty 27
// and 31).
constexpr size_t kLeastTiles = 16;

inline size_t TilesOf(const LaidVectors& laid) {
  return BlocksOf(laid.positions, kUnitPositions) * laid.streams;
}

template <class Shape>
void LaunchUnit(Queue& queue, const ProductRules& rules, const ResidualUnit& unit, const LaidVectors& laid,
                const unsigned char* terms, float* x) {
  const size_t row = Shape::kChannels * 2;
  const auto past = static_cast<uint32_t>(unit.dilated.History());
  UnitArgs args{};
  args.signal = TileMapOf({terms,
                           {Shape::kChannels, 1, laid.slot / Shape::kChannels, laid.streams},
                           {row, row, laid.slot * 2},
                           {Shape::kBox, 1, kUnitPositions + past, 1}});
  const auto map = [&](const Matrix& w) {
    const size_t bytes = w.columns * 2;
    return TileMapOf({w.values,
                      {w.columns, 1, w.rows, 1},
                      {bytes, bytes, bytes * w.rows},
                      {Shape::kBox, 1, Shape::kOfPass, 1}});
  };
  args.dilated = map(unit.dilated.weights);
  args.pointwise = map(unit.pointwise);
  args.windows = laid.view.windows;
  args.counts = laid.view.counts;
  args.x = x;
  args.bias = unit.dilated.bias;
  args.a = unit.second.a;
  args.b = unit.second.b;
  args.pointwise_bias = unit.pointwise_bias;
  args.dilation = static_cast<uint32_t>(unit.dilated.dilation);
  args.past = past;
  args.position_tiles = static_cast<uint32_t>(BlocksOf(laid.positions, kUnitPositions));
  Grid grid;
  grid.x = static_cast<uint32_t>(std::min<size_t>(TilesOf(laid), rules.multiprocessors));
  grid.threads = kUnitThreads;
  grid.shared = Shape::kShared;
  queue.Launch<&AddResidualUnit<Shape>>(grid, args);
}

// False, and nothing is done, where it is to be done step by step. Only where JoinsInput.
inline bool EnqueueUnit(Queue& queue, Room& room, const ResidualUnit& unit, const InputSignal& from,
                        const Stretch* streams, size_t count, float* x) {
  if (!HasUnitShape(unit, room.rules) || !LiesAtFours(x)) return false;
  const LaidVectors laid =
      LayStretches(queue, streams, count, unit.dilated.History(), WindowsOf(unit.dilated, nullptr, 0));
  if (!laid.as_signals || laid.slot == 0) return false;
  if (unit.dilated.channels == 192 && TilesOf(laid) < kLeastTiles) return false;
  JoinedInputArgs input = InputOf(queue, from, unit.dilated, streams, count);
  input.to.x = laid.view;
  input.to.term_bytes = BlocksOf(laid.columns * 2, 256) * 256;
  input.to.terms = static_cast<unsigned char*>(room.AtLeast(input.to.term_bytes));
  EnqueueInput(queue, input, laid, 1);
  if (unit.dilated.channels == 96)
    LaunchUnit<UnitShape<96>>(queue, room.rules, unit, laid, input.to.terms, x);
  else LaunchUnit<UnitShape<192>>(queue, room.rules, unit, laid, input.to.terms, x);
  return true;
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_RESIDUAL_LAUNCH_CUH_
