// e^x, sin(x)^2 and activations as the CPU backend defines them: these very operations, in
// this order, on every variant. Included with a Lanes type (16 floats), or used with
// a single float by way of Scalar.
//
// Constants: Cody-Waite splits of ln 2 and pi; for e^x the polynomial of Cephes'
// expf, for the sine Taylor's of degree 13 (6e-10 off at pi/2).
#ifndef PARLEY_KERNELS_CPU_LANE_MATH_H_
#define PARLEY_KERNELS_CPU_LANE_MATH_H_

#include <cmath>
#include <cstdint>
#include <cstring>

// Internal linkage throughout: each variant's file is compiled for its own
// processor, and the linker must not take one's functions for the other's.
namespace parley::cpu {
namespace {

// e^x = 2^n e^r for x in [-87.3, 88.3]; clamped outside. e^r is 1 + r + r^2 p.
template <class L>
struct ExpParts {
  L n, r, p;

  explicit ExpParts(L x) {
    x = Min(L::All(88.3f), Max(L::All(-87.3f), x));  // in this order NaN passes
    n = Round(Multiplied(x, L::All(1.44269504f)));
    r = Fused(n, L::All(-0.693359375f), x);
    r = Fused(n, L::All(2.12194440e-4f), r);
    p = L::All(1.9875691500e-4f);
    p = Fused(p, r, L::All(1.3981999507e-3f));
    p = Fused(p, r, L::All(8.3334519073e-3f));
    p = Fused(p, r, L::All(4.1665795894e-2f));
    p = Fused(p, r, L::All(1.6666665459e-1f));
    p = Fused(p, r, L::All(5.0000001201e-1f));
  }
};

// Within 2 units in the last place of e^x.
template <class L>
inline L Exp(L x) {
  const ExpParts<L> e(x);
  const L whole = Fused(e.p, Multiplied(e.r, e.r), Added(e.r, L::All(1.0f)));
  return Multiplied(whole, PowerOfTwo(e.n));
}

// x where it is positive, else e^x - 1, which keeps its precision near 0: 2^n (e^r - 1) + (2^n - 1).
template <class L>
inline L Elu(L x) {
  const L zero = L::All(0.0f);
  const ExpParts<L> e(Min(zero, x));
  const L less_one = Fused(e.p, Multiplied(e.r, e.r), e.r), power = PowerOfTwo(e.n);
  return Added(Max(zero, x), Fused(less_one, power, Subtracted(power, L::All(1.0f))));
}

// Within 3e-7 for |x| < 10^4; in [0, 1] always.
template <class L>
inline L SineSquared(L x) {
  const L n = Round(Multiplied(x, L::All(0.318309886f)));
  // pi in three parts; sin(x)^2 has the period pi, so the sign of the sine does not matter.
  L r = Fused(n, L::All(-3.140625f), x);
  r = Fused(n, L::All(-9.67502593994140625e-4f), r);
  r = Fused(n, L::All(-1.509957990978376e-7f), r);
  const L s = Multiplied(r, r);
  L p = L::All(1.6059044e-10f);
  p = Fused(p, s, L::All(-2.5052108e-8f));
  p = Fused(p, s, L::All(2.7557319e-6f));
  p = Fused(p, s, L::All(-1.9841270e-4f));
  p = Fused(p, s, L::All(8.3333333e-3f));
  p = Fused(p, s, L::All(-1.6666667e-1f));
  p = Fused(p, Multiplied(s, r), r);
  return Min(L::All(1.0f), Multiplied(p, p));
}

// gate * sigmoid(gate)
template <class L>
inline L Silu(L x) {
  return Divided(x, Added(L::All(1.0f), Exp(Subtracted(L::All(0.0f), x))));
}

// x/2 (1 + tanh(u)) = x / (1 + e^(-2 u)), with u = sqrt(2 / pi) (x + 0.044715 x^3).
template <class L>
inline L GeluTanh(L x) {
  const L cubic = Multiplied(Multiplied(L::All(0.044715f), x), x);
  return Divided(x, Added(L::All(1.0f), Exp(Multiplied(L::All(-1.59576912f), Fused(cubic, x, x)))));
}

// One float with the operations of a Lanes type.
struct Scalar {
  float value;
  static Scalar All(float value) { return {value}; }
};

inline Scalar Fused(Scalar a, Scalar b, Scalar c) { return {__builtin_fmaf(a.value, b.value, c.value)}; }
inline Scalar Multiplied(Scalar a, Scalar b) { return {a.value * b.value}; }
inline Scalar Added(Scalar a, Scalar b) { return {a.value + b.value}; }
inline Scalar Subtracted(Scalar a, Scalar b) { return {a.value - b.value}; }
inline Scalar Divided(Scalar a, Scalar b) { return {a.value / b.value}; }
// Minimum and maximum as the SIMD instructions define them: the second operand where the comparison fails.
inline Scalar Max(Scalar a, Scalar b) { return {a.value > b.value ? a.value : b.value}; }
inline Scalar Min(Scalar a, Scalar b) { return {a.value < b.value ? a.value : b.value}; }
inline Scalar Round(Scalar a) { return {__builtin_nearbyintf(a.value)}; }

// 2^n for an integral n in [-126, 127].
inline Scalar PowerOfTwo(Scalar n) {
  if (n.value != n.value) return n;
  const uint32_t bits = static_cast<uint32_t>(static_cast<int32_t>(n.value) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return {power};
}

}  // namespace
}  // namespace parley::cpu

#endif  // PARLEY_KERNELS_CPU_LANE_MATH_H_
