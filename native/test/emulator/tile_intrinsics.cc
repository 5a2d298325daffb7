#include "test/emulator/tile_intrinsics.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "test/emulator/block.h"

namespace parley::cuda {
namespace {

const char* const kAwaitPhase = "AwaitPhase";

using emulator::Block;
namespace races = emulator::races;

// Address by which race checks identify a phase of a barrier.
const void* OrderOf(const Barrier* barrier, uint32_t parity) {
  return reinterpret_cast<const char*>(barrier) + parity;
}

void EndPhaseIfAllAreThere(Barrier* barrier) {
  if (barrier->pending > 0 || barrier->bytes > 0) return;
  barrier->parity ^= 1u;
  barrier->pending = barrier->arrivals;
  Block::Current().FreeAllAt(kAwaitPhase);
}

// The byte of a tile whose rows have `row` bytes, of which so many are swizzled: bits 4 and up by those from
// bit 7 on.
uint32_t Swizzled(uint32_t byte, uint32_t row) { return byte ^ ((byte >> 7 & (row / 16 - 1)) << 4); }

typedef double Eight __attribute__((vector_size(64)));

// Swizzles are those of shared memory, not of the tile, which may begin at any row of their pattern.
double ValueOf(const TileProduct& of, const unsigned char* tile, uint32_t row, uint32_t column) {
  const auto before = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(tile) % 1024);
  uint16_t bits;
  std::memcpy(&bits, tile - before + Swizzled(before + row * of.row + (of.step * 16 + column) * 2, of.row),
              sizeof bits);
  return ToFloat(Bf16{bits});
}

// An element of the rows that the lanes hold together. Lane by lane: pairs of columns of the rows g and g +
// 8, then the same eight columns further.
double HeldValue(void* const lanes[32], uint32_t row, uint32_t column) {
  const auto& its = *static_cast<const TileProduct*>(lanes[row % 8 * 4 + column % 8 / 2]);
  const uint32_t pair = its.held[column / 8 * 2 + row / 8];
  return ToFloat(Bf16{static_cast<uint16_t>(column % 2 == 0 ? pair : pair >> 16)});
}

// Multiplies as Mma does: sixteen products are summed without rounding, and then added to d.
void JoinTiles(void* const lanes[32], uint32_t) {
  const TileProduct& all = *static_cast<const TileProduct*>(lanes[0]);
  double a[16][16];
  for (uint32_t row = 0; row < 16; row++) {
    for (uint32_t k = 0; k < 16; k++)
      a[row][k] = all.held == nullptr ? ValueOf(all, all.a, row, k) : HeldValue(lanes, row, k);
  }
  for (uint32_t n = 0; n < all.octets; n++) {
    Eight b[16], sums[16];
    for (uint32_t k = 0; k < 16; k++) {
      for (uint32_t g = 0; g < 8; g++) b[k][g] = ValueOf(all, all.b, n * 8 + g, k);
    }
    for (uint32_t row = 0; row < 16; row++) {
      sums[row] = a[row][0] * b[0];
      for (uint32_t k = 1; k < 16; k++) sums[row] += a[row][k] * b[k];
    }
    for (uint32_t lane = 0; lane < 32; lane++) {
      float* const d = static_cast<const TileProduct*>(lanes[lane])->d + n * 4;
      for (uint32_t i = 0; i < 4; i++)
        d[i] = static_cast<float>(d[i] + sums[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
    }
  }
}

}  // namespace

void InitBarrier(Barrier* barrier, uint32_t arrivals) {
  const races::Unseen unseen;
  barrier->arrivals = barrier->pending = arrivals;
  barrier->parity = 0;
  barrier->bytes = 0;
}

void Arrive(Barrier* barrier) {
  const races::Unseen unseen;
  races::Release(OrderOf(barrier, barrier->parity));
  if (barrier->pending == 0) emulator::Refuse("arrives at a barrier where all are");
  barrier->pending--;
  EndPhaseIfAllAreThere(barrier);
}

void ArriveExpecting(Barrier* barrier, uint32_t bytes) {
  const races::Unseen unseen;
  barrier->bytes += static_cast<int32_t>(bytes);
  Arrive(barrier);
}

void AwaitPhase(Barrier* barrier, uint32_t parity) {
  const races::Unseen unseen;
  while (barrier->parity == parity) {
    const size_t made = Block::Current().tile_copies.MakeFor(barrier);
    if (made == 0) {
      Block::Current().WaitAt(kAwaitPhase);
      continue;
    }
    barrier->bytes -= static_cast<int32_t>(made);
    races::Release(OrderOf(barrier, barrier->parity));
    EndPhaseIfAllAreThere(barrier);
  }
  races::Acquire(OrderOf(barrier, parity));
}

void CopyTile(void* to, const TileMap& map, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3,
              Barrier* barrier) {
  const races::Unseen unseen;
  races::Release(to);
  if (reinterpret_cast<uintptr_t>(to) % 512 != 0) emulator::Refuse("copies a tile to where none can lie");
  Block::Current().tile_copies.Request(emulator::PendingTileCopy{to, map, {c0, c1, c2, c3}, barrier});
  Block::Current().FreeAllAt(kAwaitPhase);  // the waiting threads execute the copies
}

void CopyBulk(void* to, const void* from, uint32_t bytes, Barrier* barrier) {
  const races::Unseen unseen;
  races::Release(to);
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes) % 16 != 0) {
    emulator::Refuse("copies bytes that do not lie at multiples of 16");
  }
  Block::Current().tile_copies.Request(emulator::PendingBulkCopy{to, from, bytes, barrier});
  Block::Current().FreeAllAt(kAwaitPhase);  // the waiting threads execute the copies
}

void TileCollective(TileProduct* mine) { emulator::WarpCollective("MmaTiles", 0xffffffff, mine, JoinTiles); }

uint32_t SharedPlace(const void* at) {
  return static_cast<uint32_t>(static_cast<const unsigned char*>(at) - emulator::SharedMemory());
}

uint32_t TwoBytesAt(uint32_t place) {
  const unsigned char* const at = emulator::SharedMemory() + place;
  return at[0] | static_cast<uint32_t>(at[1]) << 8;
}

float4 LoadOfPeer(const float* at, uint32_t rank) {
  const float* its = nullptr;
  {
    const races::Unseen unseen;
    its = reinterpret_cast<const float*>(
        Block::Current().SharedOf(rank) +
        (reinterpret_cast<const unsigned char*>(at) - Block::Current().Shared()));
  }
  return {its[0], its[1], its[2], its[3]};
}

TileMap TileMapOf(const TileShape& shape) {
  if (reinterpret_cast<uintptr_t>(shape.values) % 16 != 0)
    throw std::invalid_argument("tiles lie at multiples of 16 bytes");
  for (const uint64_t stride : shape.strides) {
    if (stride % 16 != 0) throw std::invalid_argument("rows of tiles lie at multiples of 16 bytes");
  }
  for (const uint32_t each : shape.box) {
    if (each == 0 || each > 256) throw std::invalid_argument("a box of tiles has 1 to 256 of each");
  }
  if (shape.box[0] != 64 && shape.box[0] != 32)
    throw std::invalid_argument("a row of a tile has 64 or 128 bytes");
  TileMap map{};
  std::memcpy(&map, &shape, sizeof shape);
  return map;
}

namespace emulator {

template <class Pending>
size_t TileCopies::MakeFor(const void* barrier, std::vector<Pending>* pending) {
  size_t bytes = 0;
  for (const Pending& copy : *pending) bytes += copy.barrier == barrier ? Make(copy) : 0;
  pending->erase(std::remove_if(pending->begin(), pending->end(),
                                [&](const Pending& copy) { return copy.barrier == barrier; }),
                 pending->end());
  return bytes;
}

size_t TileCopies::MakeFor(const void* barrier) {
  return MakeFor(barrier, &tiles_) + MakeFor(barrier, &bytes_);
}

size_t TileCopies::Make(const PendingBulkCopy& copy) {
  std::memcpy(copy.to, copy.from, copy.bytes);
  races::Acquire(copy.to);
  ShowCopy(copy.to, copy.from, copy.bytes);
  return copy.bytes;
}

size_t TileCopies::Make(const PendingTileCopy& copy) {
  TileShape shape;
  std::memcpy(&shape, &copy.map, sizeof shape);
  const auto& box = shape.box;
  auto* const to = static_cast<unsigned char*>(copy.to);
  const uint32_t row_bytes = box[0] * 2;
  uint32_t at = 0;
  for (uint32_t rest = 0; rest < box[1] * box[2] * box[3]; rest++) {
    const uint64_t c1 = copy.from[1] + rest % box[1], c2 = copy.from[2] + rest / box[1] % box[2],
                   c3 = copy.from[3] + rest / box[1] / box[2];
    const bool is_row = c1 < shape.extents[1] && c2 < shape.extents[2] && c3 < shape.extents[3];
    const auto* const row = static_cast<const unsigned char*>(shape.values) + c1 * shape.strides[0] +
                            c2 * shape.strides[1] + c3 * shape.strides[2];
    for (uint32_t i = 0; i < box[0]; i++, at += 2) {
      const uint64_t c0 = copy.from[0] + i;
      unsigned char* const place = to + Swizzled(at, row_bytes);
      if (is_row && c0 < shape.extents[0]) std::memcpy(place, row + c0 * 2, 2);
      else std::memset(place, 0, 2);
    }
  }
  races::Acquire(copy.to);
  ShowCopy(copy.to, nullptr, at);
  return at;
}

}  // namespace emulator
}  // namespace parley::cuda
