#include "kernels/cuda/device/two_sided_arena.h"

#include <algorithm>

namespace parley::cuda {
namespace {

size_t Aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

TwoSidedArena::TwoSidedArena(Device& device, size_t bytes)
    : device_(device), main_(Allocate(std::max<size_t>(Aligned(bytes), 16), true)) {}

TwoSidedArena::~TwoSidedArena() {
  Free(&main_);
  for (std::vector<Piece>& pieces : more_) {
    for (Piece& piece : pieces) Free(&piece);
  }
}

TwoSidedArena::Piece TwoSidedArena::Allocate(size_t bytes, bool both) {
  Piece piece;
  try {
    piece.bytes = bytes;
    piece.device = static_cast<char*>(device_.Allocate(bytes));
    piece.host[turn_] = static_cast<char*>(device_.AllocateHost(bytes));
    if (both) piece.host[1 - turn_] = static_cast<char*>(device_.AllocateHost(bytes));
  } catch (...) {
    Free(&piece);
    throw;
  }
  return piece;
}

void TwoSidedArena::Free(Piece* piece) {
  if (piece->device != nullptr) device_.Free(piece->device);
  for (char* host : piece->host) {
    if (host != nullptr) device_.FreeHost(host);
  }
  *piece = {};
}

void TwoSidedArena::Begin(int turn) {
  turn_ = turn;
  main_.used = 0;
  for (Piece& piece : more_[turn]) Free(&piece);
  more_[turn].clear();
  if (!WillGrow()) return;
  size_t bytes = main_.bytes;
  while (bytes < wanted_) bytes *= 2;
  device_.Wait();  // a list that is under way has the old one
  Piece larger = Allocate(bytes, true);
  Free(&main_);
  main_ = larger;
}

bool TwoSidedArena::Fits(const Piece& piece, size_t bytes) { return bytes <= piece.bytes - piece.used; }

TwoSidedArena::Place TwoSidedArena::Take(size_t bytes) {
  bytes = Aligned(bytes);
  std::vector<Piece>& more = more_[turn_];
  Piece* piece = more.empty() ? &main_ : &more.back();
  if (!Fits(*piece, bytes)) {
    more.push_back(Allocate(std::max(bytes, main_.bytes), false));
    piece = &more.back();
  }
  const Place place = {piece->host[turn_] + piece->used, piece->device + piece->used};
  piece->used += bytes;
  size_t all = main_.used;
  for (const Piece& one : more) all += one.used;
  wanted_ = std::max(wanted_, all);
  return place;
}

void TwoSidedArena::Send() {
  if (main_.used > 0) device_.Send(main_.device, main_.host[turn_], main_.used);
  for (const Piece& piece : more_[turn_]) device_.Send(piece.device, piece.host[turn_], piece.used);
}

void TwoSidedArena::Fetch() {
  if (main_.used > 0) device_.Fetch(main_.host[turn_], main_.device, main_.used);
  for (const Piece& piece : more_[turn_]) device_.Fetch(piece.host[turn_], piece.device, piece.used);
}

}  // namespace parley::cuda
