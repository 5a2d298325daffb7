// See tile_intrinsics.h.
#ifndef PARLEY_KERNELS_CUDA_GPU_TILE_WORDS_H_
#define PARLEY_KERNELS_CUDA_GPU_TILE_WORDS_H_

#include <cstdint>

#include "kernels/cuda/products/tile_map.h"

namespace parley::cuda {

namespace gpu {

// wgmma for the numbers of octets that kernels use: 64 rows of tile a by 8 kOctets rows of tile b. GPUs of
// 9.0 alone.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__device__ __forceinline__ void MmaTiles(float (&d)[4][4], uint64_t a, uint64_t b, bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %18, 0; "
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1, 0, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3])
      : "l"(a), "l"(b), "r"(from_zero ? 0 : 1));
}
__device__ __forceinline__ void MmaTiles(float (&d)[8][4], uint64_t a, uint64_t b, bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %34, 0; "
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3])
      : "l"(a), "l"(b), "r"(from_zero ? 0 : 1));
}
__device__ __forceinline__ void MmaTiles(float (&d)[12][4], uint64_t a, uint64_t b, bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %50, 0; "
      "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, p, 1, 1, 0, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]),
        "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]),
        "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3])
      : "l"(a), "l"(b), "r"(from_zero ? 0 : 1));
}
__device__ __forceinline__ void MmaTiles(float (&d)[16][4], uint64_t a, uint64_t b, bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %66, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p, 1, 1, 0, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]),
        "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]),
        "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]),
        "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]), "+f"(d[13][0]), "+f"(d[13][1]),
        "+f"(d[13][2]), "+f"(d[13][3]), "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]),
        "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3])
      : "l"(a), "l"(b), "r"(from_zero ? 0 : 1));
}
// MmaRows takes 64 rows from registers, 16 of them for each warp as Mma has them.
__device__ __forceinline__ void MmaRows(float (&d)[4][4], const uint32_t (&a)[4], uint64_t b,
                                        bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %21, 0; "
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19}, %20, p, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(from_zero ? 0 : 1));
}
__device__ __forceinline__ void MmaRows(float (&d)[8][4], const uint32_t (&a)[4], uint64_t b,
                                        bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %37, 0; "
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %33, %34, %35}, %36, p, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(from_zero ? 0 : 1));
}
__device__ __forceinline__ void MmaRows(float (&d)[16][4], const uint32_t (&a)[4], uint64_t b,
                                        bool from_zero) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %69, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, {%64, %65, %66, %67}, %68, p, 1, 1, 0;}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]),
        "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[4][0]), "+f"(d[4][1]),
        "+f"(d[4][2]), "+f"(d[4][3]), "+f"(d[5][0]), "+f"(d[5][1]), "+f"(d[5][2]), "+f"(d[5][3]),
        "+f"(d[6][0]), "+f"(d[6][1]), "+f"(d[6][2]), "+f"(d[6][3]), "+f"(d[7][0]), "+f"(d[7][1]),
        "+f"(d[7][2]), "+f"(d[7][3]), "+f"(d[8][0]), "+f"(d[8][1]), "+f"(d[8][2]), "+f"(d[8][3]),
        "+f"(d[9][0]), "+f"(d[9][1]), "+f"(d[9][2]), "+f"(d[9][3]), "+f"(d[10][0]), "+f"(d[10][1]),
        "+f"(d[10][2]), "+f"(d[10][3]), "+f"(d[11][0]), "+f"(d[11][1]), "+f"(d[11][2]), "+f"(d[11][3]),
        "+f"(d[12][0]), "+f"(d[12][1]), "+f"(d[12][2]), "+f"(d[12][3]), "+f"(d[13][0]), "+f"(d[13][1]),
        "+f"(d[13][2]), "+f"(d[13][3]), "+f"(d[14][0]), "+f"(d[14][1]), "+f"(d[14][2]), "+f"(d[14][3]),
        "+f"(d[15][0]), "+f"(d[15][1]), "+f"(d[15][2]), "+f"(d[15][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(from_zero ? 0 : 1));
}
#endif

}  // namespace gpu

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define PARLEY_CLUSTER(blocks)
#else
#define PARLEY_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#endif

struct Barrier {
  uint64_t state;
};
// Addresses of shared memory.
struct TilePlace {
  uint32_t at;
};
struct BarrierPlace {
  uint32_t at;
};
__device__ __forceinline__ TilePlace Beyond(const TilePlace& place, uint32_t bytes) {
  return {place.at + bytes};
}
__device__ __forceinline__ BarrierPlace Beyond(const BarrierPlace& place, uint32_t bytes) {
  return {place.at + bytes};
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
constexpr bool kHasTiles = true;

namespace gpu {
__device__ __forceinline__ uint32_t SharedAt(const void* at) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(at));
}

// As above, kept in a register: computing it again takes as long as a read of shared memory.
__device__ __forceinline__ uint32_t KeptAt(const void* at) {
  uint32_t kept;
  asm volatile("mov.u32 %0, %1;" : "=r"(kept) : "r"(SharedAt(at)));
  return kept;
}

// wgmma's matrix descriptor of a tile: rows of kRow bytes, in the swizzle of as many bytes.
template <uint32_t kRow>
__device__ __forceinline__ uint64_t TileAt(uint32_t at) {
  static_assert(kRow == 128 || kRow == 64);
  return (static_cast<uint64_t>(kRow == 128 ? 1 : 2) << 62) | (static_cast<uint64_t>(8 * kRow / 16) << 32) |
         ((at & 0x3ffff) >> 4);
}
}  // namespace gpu

__device__ __forceinline__ TilePlace PlaceOf(const unsigned char* tile) { return {gpu::KeptAt(tile)}; }
__device__ __forceinline__ BarrierPlace PlaceOf(const Barrier* barrier) { return {gpu::KeptAt(barrier)}; }

__device__ __forceinline__ void InitBarrier(Barrier* barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(gpu::SharedAt(barrier)), "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void FenceBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void Arrive(const BarrierPlace& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier.at) : "memory");
}
__device__ __forceinline__ void ArriveIf(Barrier* barrier, bool does) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %1, 0; @p mbarrier.arrive.shared::cta.b64 _, [%0]; }" ::"r"(
                   gpu::SharedAt(barrier)),
               "r"(does ? 1 : 0)
               : "memory");
}
__device__ __forceinline__ void Arrive(Barrier* barrier) { Arrive(BarrierPlace{gpu::SharedAt(barrier)}); }
__device__ __forceinline__ void ArriveExpecting(const BarrierPlace& barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier.at), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void ArriveExpecting(Barrier* barrier, uint32_t bytes) {
  ArriveExpecting(BarrierPlace{gpu::SharedAt(barrier)}, bytes);
}
__device__ __forceinline__ void AwaitPhase(const BarrierPlace& barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred p; Again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra There; bra Again; There: }" ::
          "r"(barrier.at),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void AwaitPhase(Barrier* barrier, uint32_t parity) {
  AwaitPhase(BarrierPlace{gpu::SharedAt(barrier)}, parity);
}
// The upper word of the clock counts 4.3 s: it is read after a try in vain, which takes as long as the GPU
// likes. Time in which the GPU stands still (a debugger, a machine that is paused) counts too.
__device__ __forceinline__ void AwaitPhaseOrTrap(const BarrierPlace& barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred p; .reg .b32 begun, now;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra There;\n"
      "mov.u32 begun, %globaltimer_hi;\n"
      "Again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra There;\n"
      "mov.u32 now, %globaltimer_hi; sub.u32 now, now, begun; setp.lt.s32 p, now, 2; @p bra Again; trap;\n"
      "There: }" ::"r"(barrier.at),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void AwaitPhaseOrTrap(Barrier* barrier, uint32_t parity) {
  AwaitPhaseOrTrap(BarrierPlace{gpu::SharedAt(barrier)}, parity);
}
__device__ __forceinline__ void CopyTile(const TilePlace& to, const TileMap& map, uint32_t c0, uint32_t c1,
                                         uint32_t c2, uint32_t c3, const BarrierPlace& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::
          "r"(to.at),
      "l"(&map), "r"(barrier.at), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}
__device__ __forceinline__ void CopyTile(void* to, const TileMap& map, uint32_t c0, uint32_t c1, uint32_t c2,
                                         uint32_t c3, Barrier* barrier) {
  CopyTile(TilePlace{gpu::SharedAt(to)}, map, c0, c1, c2, c3, BarrierPlace{gpu::SharedAt(barrier)});
}
__device__ __forceinline__ void CopyBulk(void* to, const void* from, uint32_t bytes, Barrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          gpu::SharedAt(to)),
      "l"(from), "r"(bytes), "r"(gpu::SharedAt(barrier))
      : "memory");
}
__device__ __forceinline__ void FenceAsyncProxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
template <uint32_t kRow, int kOctets>
__device__ __forceinline__ void MmaTiles(float (&d)[kOctets][4], const unsigned char* a,
                                         const unsigned char* b, uint32_t step, bool from_zero) {
  gpu::MmaTiles(d, gpu::TileAt<kRow>(gpu::SharedAt(a)) + step * 2,
                gpu::TileAt<kRow>(gpu::SharedAt(b)) + step * 2, from_zero);
}
template <uint32_t kRow, int kOctets>
__device__ __forceinline__ void MmaTiles(float (&d)[kOctets][4], const TilePlace& a, const TilePlace& b,
                                         uint32_t step, bool from_zero) {
  gpu::MmaTiles(d, gpu::TileAt<kRow>(a.at + step * 32), gpu::TileAt<kRow>(b.at + step * 32), from_zero);
}
template <uint32_t kRow, int kOctets>
__device__ __forceinline__ void MmaRows(float (&d)[kOctets][4], const uint32_t (&a)[4],
                                        const unsigned char* b, uint32_t step, bool from_zero) {
  gpu::MmaRows(d, a, gpu::TileAt<kRow>(gpu::SharedAt(b)) + step * 2, from_zero);
}
__device__ __forceinline__ uint32_t SharedPlace(const void* at) { return gpu::SharedAt(at); }
__device__ __forceinline__ uint32_t TwoBytesAt(uint32_t place) {
  uint16_t two;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(two) : "r"(place) : "memory");
  return two;
}
// Keeps the compiler from moving writes of these registers behind FenceTiles, where wgmma forbids them.
__device__ __forceinline__ void HoldRows(uint32_t (&a)[4]) {
  asm volatile("" : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3])::"memory");
}
__device__ __forceinline__ void FenceTiles() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void CommitTiles() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void AwaitTiles() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
template <int kRegisters>
__device__ __forceinline__ void IncreaseRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void DecreaseRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
__device__ __forceinline__ void ClusterBarrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ float4 LoadOfPeer(const float* at, uint32_t rank) {
  uint32_t place;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(place) : "r"(gpu::SharedAt(at)), "r"(rank));
  float4 four;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(place)
               : "memory");
  return four;
}
#else
// Declarations for the other targets, which compile no call of them.
constexpr bool kHasTiles = false;
__device__ TilePlace PlaceOf(const unsigned char*);
__device__ BarrierPlace PlaceOf(const Barrier*);
__device__ void Arrive(const BarrierPlace&);
__device__ void ArriveExpecting(const BarrierPlace&, uint32_t);
__device__ void AwaitPhase(const BarrierPlace&, uint32_t);
__device__ void AwaitPhaseOrTrap(const BarrierPlace&, uint32_t);
__device__ void CopyTile(const TilePlace&, const TileMap&, uint32_t, uint32_t, uint32_t, uint32_t,
                         const BarrierPlace&);
template <uint32_t kRow, int kOctets>
__device__ void MmaTiles(float (&)[kOctets][4], const TilePlace&, const TilePlace&, uint32_t, bool);
__device__ void InitBarrier(Barrier*, uint32_t);
__device__ void FenceBarriers();
__device__ void Arrive(Barrier*);
__device__ void ArriveIf(Barrier*, bool);
__device__ void ArriveExpecting(Barrier*, uint32_t);
__device__ void AwaitPhase(Barrier*, uint32_t);
__device__ void AwaitPhaseOrTrap(Barrier*, uint32_t);
__device__ void CopyTile(void*, const TileMap&, uint32_t, uint32_t, uint32_t, uint32_t, Barrier*);
__device__ void CopyBulk(void*, const void*, uint32_t, Barrier*);
__device__ void FenceAsyncProxy();
template <uint32_t kRow, int kOctets>
__device__ void MmaTiles(float (&)[kOctets][4], const unsigned char*, const unsigned char*, uint32_t, bool);
template <uint32_t kRow, int kOctets>
__device__ void MmaRows(float (&)[kOctets][4], const uint32_t (&)[4], const unsigned char*, uint32_t, bool);
__device__ void HoldRows(uint32_t (&)[4]);
__device__ uint32_t SharedPlace(const void*);
__device__ uint32_t TwoBytesAt(uint32_t);
__device__ void ClusterBarrier();
__device__ float4 LoadOfPeer(const float*, uint32_t);
__device__ void FenceTiles();
__device__ void CommitTiles();
template <int kLeft>
__device__ void AwaitTiles();
template <int kRegisters>
__device__ void IncreaseRegisters();
template <int kRegisters>
__device__ void DecreaseRegisters();
#endif

}  // namespace parley::cuda

#endif  // PARLEY_KERNELS_CUDA_GPU_TILE_WORDS_H_
