// Selects the kernel for a product.
//
// Matrices of more than 8 rows, with columns a multiple of 32 and values at a multiple of 16 bytes, use
// tensor cores; others use the plain kernel. Only the matrix decides. On tensor cores there are separate
// kernels for few vectors and for many (for many there are two, by device). All of them give the same bits.
#ifndef PARLEY_KERNELS_CUDA_PRODUCTS_CUH_
#define PARLEY_KERNELS_CUDA_PRODUCTS_CUH_

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/queue.h"
#include "kernels/cuda/device/work_room.h"
#include "kernels/cuda/norms.cuh"
#include "kernels/cuda/products/gemv.cuh"
#include "kernels/cuda/products/laid_vectors.cuh"
#include "kernels/cuda/products/product_plan.h"
#include "kernels/cuda/products/tiled_gemm_launch.cuh"
#include "kernels/speech_kernels.h"

namespace parley::cuda {

inline bool FitsTensorCores(const Matrix& w) {
  return w.rows > 8 && w.columns > 0 && w.columns % kChunk == 0 && LiesAtFours(w.values);
}

template <class Shape>
Grid CutRows(ProductArgs* args, size_t bucket) {
  Grid grid;
  grid.x = 0;
  grid.y = static_cast<uint32_t>(BlocksOf(bucket, Shape::kVectors));
  for (MatrixView& matrix : args->matrices) {
    matrix.blocks = Shape::kGated && &matrix != args->matrices
                        ? 0
                        : static_cast<uint32_t>(BlocksOf(matrix.rows, Shape::kRows));
    grid.x += matrix.blocks;
  }
  grid.threads = 256;
  grid.shared = Shape::kShared;
  return grid;
}

// True if a product reads the floats of its vectors as they lie, and norms them itself; otherwise their
// terms are prepared.
inline bool ReadsFloats(const Plan& plan) { return plan.cut == Cut::kGemv && plan.octets == 1; }

// The kernels of products take long to compile. One file compiles them, cuda_planned.cc, which has these two.
// Enqueues the product by one of the plans for its format. It uses terms that exist already.
void EnqueuePlanned(Queue& queue, Room& room, const Plan& plan, bool gated, ProductArgs args,
                    const LaidVectors& laid);
// Without tensor cores.
void LaunchPlainly(Queue& queue, bool gated, const ProductArgs& args, size_t bucket);

inline Plan PlanFor(const Room& room, bool gated, const ProductArgs& args, const LaidVectors& laid) {
  size_t rows = args.matrices[0].rows;
  if (!gated) rows += args.matrices[1].rows + args.matrices[2].rows;
  const bool wide = room.rules.wide && VectorTermsOf(args.formats[0], room.rules.full_vectors) == 1 &&
                    FitsTiles(args, laid);
  const Plan plan =
      PlanOf({args.formats[0], rows, args.columns, gated, laid.bucket, wide, wide && FitsSplit(args, laid)});
  return !laid.in_fours && ReadsFloats(plan) ? Plan{Cut::kSkinnyGemm, 2, 2} : plan;
}

// Matrices of one format and as many columns.
inline void EnqueueProduct(Queue& queue, Room& room, bool gated, const ProductArgs& args,
                           const LaidVectors& laid) {
  EnqueuePlanned(queue, room, PlanFor(room, gated, args, laid), gated, args, laid);
}

inline void TakeMatrix(const Matrix& w, float* y, int i, ProductArgs* args) {
  args->matrices[i] = {
      w.values, HasScales(w.format) ? w.scales : nullptr, nullptr, y, static_cast<uint32_t>(w.rows), 0};
  args->formats[i] = w.format;
}

inline ProductArgs ArgsFor(const Matrix& w, float* y, const VectorsView& x) {
  ProductArgs args{};
  TakeMatrix(w, y, 0, &args);
  args.columns = static_cast<uint32_t>(w.columns);
  args.x = x;
  return args;
}

inline ProductArgs ArgsFor(const Matrix& w, float* y, const VectorsView& x, const Finish& finish) {
  ProductArgs args = ArgsFor(w, y, x);
  args.matrices[0].bias = finish.bias;
  args.gain = finish.gain;
  args.add = finish.add;
  return args;
}

// w x of vectors that are laid.
inline void EnqueueMultiply(Queue& queue, Room& room, const Matrix& w, const LaidVectors& x,
                            const Finish& finish, float* y) {
  if (w.rows == 0 || x.bucket == 0) return;
  const ProductArgs args = ArgsFor(w, y, x.view, finish);
  if (FitsTensorCores(w)) EnqueueProduct(queue, room, false, args, x);
  else LaunchPlainly(queue, false, args, x.bucket);
}

inline void EnqueueMultiply(Queue& queue, Room& room, const Matrix& w, const Vectors& x, const Finish& finish,
                            float* y) {
  EnqueueMultiply(queue, room, w, LayVectors(queue, x), finish, y);
}

// w x as EnqueueMultiply cuts it, of rows that lie one behind the other.
inline Plan PlanForRows(const Room& room, const Matrix& w, size_t rows, const Finish& finish, float* y) {
  LaidVectors laid;
  laid.view.stride = w.columns;
  laid.view.length = static_cast<uint32_t>(w.columns);
  laid.bucket = BucketOf(rows);
  laid.in_fours = true;
  return PlanFor(room, false, ArgsFor(w, y, laid.view, finish), laid);
}

// True if the product of rows that lie one behind the other prepares their terms, and can activate them
// there.
inline bool PreparesRows(const Room& room, const Matrix& w, size_t rows, const Finish& finish, float* y) {
  return rows > 0 && FitsTensorCores(w) && !ReadsFloats(PlanForRows(room, w, rows, finish, y));
}

// w gelu(x) of such rows.
inline void EnqueueMultiplyActivated(Queue& queue, Room& room, const Matrix& w, const float* x, size_t rows,
                                     const Finish& finish, float* y) {
  const LaidVectors laid = LayVectors(queue, Rows(x, rows, w.columns));
  ProductArgs args = ArgsFor(w, y, laid.view, finish);
  args.activates = true;
  EnqueueProduct(queue, room, false, args, laid);
}

// The place at which an earlier grid can put the rows that are multiplied with w, as terms. Null if that
// product reads floats, or two terms of each value.
inline TermsPlace PlaceForTerms(const Room& room, Room& handed, const Matrix& w, size_t rows,
                                const Finish& finish, float* y) {
  if (rows == 0 || !FitsTensorCores(w) || VectorTermsOf(w.format, room.rules.full_vectors) != 1) return {};
  const Plan plan = PlanForRows(room, w, rows, finish, y);
  if (ReadsFloats(plan)) return {};
  return {static_cast<unsigned char*>(handed.AtLeast(BucketOf(rows) * w.columns * 2)), !ReadsTiles(plan.cut)};
}

// w x of rows that were handed over.
inline void EnqueueMultiplyHanded(Queue& queue, Room& room, const Matrix& w, const TermsPlace& x, size_t rows,
                                  const Finish& finish, float* y) {
  const LaidVectors laid = LayVectors(queue, Rows(nullptr, rows, w.columns));
  ProductArgs args = ArgsFor(w, y, laid.view, finish);
  args.terms = x.terms;
  EnqueuePlanned(queue, room, PlanForRows(room, w, rows, finish, y), false, args, laid);
}

inline bool GoTogether(const Matrix& a, const Matrix& b) {
  return a.format == b.format && a.columns == b.columns && FitsTensorCores(a) && FitsTensorCores(b);
}

inline void EnqueueGated(Queue& queue, Room& room, ProductArgs args, const Matrix& gate, const Matrix& up,
                         const LaidVectors& x) {
  TakeMatrix(up, nullptr, 1, &args);
  if (GoTogether(gate, up)) EnqueueProduct(queue, room, true, args, x);
  else LaunchPlainly(queue, true, args, x.bucket);
}

inline void EnqueueMultiplyGated(Queue& queue, Room& room, const Matrix& gate, const Matrix& up,
                                 const Vectors& x, float* y) {
  if (x.count == 0 || gate.rows == 0) return;
  const LaidVectors laid = LayVectors(queue, x);
  EnqueueGated(queue, room, ArgsFor(gate, y, laid.view), gate, up, laid);
}

// Rows whose RMSNorm a product does itself, or what prepares their terms: those that lie well. Otherwise it
// is done before, to x.normed.
inline bool NormsItself(const Norm& norm, const LayerRows& x, size_t width) {
  return norm.bias == nullptr && LiesAtFours(x.x) && LiesAtFours(norm.weight) && width % kChunk == 0;
}

// The rows as a product reads them, normed or to be.
inline LaidVectors LayRows(Queue& queue, const Norm& norm, const LayerRows& x, size_t width,
                           bool norms_itself) {
  if (!norms_itself) EnqueueNorm(queue, x.x, norm.weight, norm.bias, x.rows, width, norm.eps, x.normed);
  return LayVectors(queue, Rows(norms_itself ? x.x : x.normed, x.rows, width));
}

inline void TakeNorm(const Norm& norm, bool norms_itself, ProductArgs* args) {
  if (!norms_itself) return;
  args->norm = norm.weight;
  args->eps = norm.eps;
}

inline void EnqueueExpandRows(Queue& queue, Room& room, const Norm& norm, const Matrix& gate,
                              const Matrix& up, const LayerRows& x, float* y, const TermsPlace& handed = {}) {
  if (x.rows == 0 || gate.rows == 0) return;
  const bool norms_itself = GoTogether(gate, up) && NormsItself(norm, x, gate.columns);
  const LaidVectors laid = LayRows(queue, norm, x, gate.columns, norms_itself);
  ProductArgs args = ArgsFor(gate, y, laid.view);
  args.handed = handed;
  TakeNorm(norm, norms_itself, &args);
  EnqueueGated(queue, room, args, gate, up, laid);
}

// SpeechKernels::MultiplyNormed.
inline void EnqueueMultiplyNormed(Queue& queue, Room& room, const Matrix& w, const Norm& norm,
                                  const LayerRows& x, size_t every, const float* bias, float* y) {
  const size_t width = w.columns;
  const LaidVectors laid = LayVectors(queue, {x.x, x.rows, every * width, width, 1, 0});
  ProductArgs args = ArgsFor(w, y, laid.view, {bias, nullptr, false});
  TakeNorm(norm, true, &args);
  EnqueueProduct(queue, room, false, args, laid);
}

// The first half of AttendRows: q, k and v of the rows' norm, without q_norm, k_norm and rotation.
inline void EnqueueProjectHeads(Queue& queue, Room& room, const HeadProjections& heads, const LayerRows& x,
                                const AttentionRows& rows) {
  if (x.rows == 0) return;
  const bool together = GoTogether(heads.q, heads.k) && GoTogether(heads.q, heads.v);
  const bool norms_itself = together && NormsItself(heads.norm, x, heads.q.columns);
  const LaidVectors laid = LayRows(queue, heads.norm, x, heads.q.columns, norms_itself);
  if (!together) {
    EnqueueMultiply(queue, room, heads.q, laid, {heads.q_bias, nullptr, false}, rows.queries);
    EnqueueMultiply(queue, room, heads.k, laid, {heads.k_bias, nullptr, false}, rows.keys);
    return EnqueueMultiply(queue, room, heads.v, laid, {heads.v_bias, nullptr, false}, rows.values);
  }
  ProductArgs args = ArgsFor(heads.q, rows.queries, laid.view, {heads.q_bias, nullptr, false});
  TakeMatrix(heads.k, rows.keys, 1, &args);
  TakeMatrix(heads.v, rows.values, 2, &args);
  args.matrices[1].bias = heads.k_bias;
  args.matrices[2].bias = heads.v_bias;
  TakeNorm(heads.norm, norms_itself, &args);
  EnqueueProduct(queue, room, false, args, laid);
}

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_PRODUCTS_CUH_
