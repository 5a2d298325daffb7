// The Kaiser window of the filters that change a sample rate (J. F. Kaiser, 1974), with a stop band 60 dB
// below.
#ifndef PARLEY_AUDIO_KAISER_H_
#define PARLEY_AUDIO_KAISER_H_

#include <cmath>

namespace parley {

constexpr double kPi = 3.14159265358979323846;

// Not normalised. `place` from -1 to 1 across the window.
inline double KaiserWindow(double place) {
  constexpr double kBeta = 6.2;
  const double x = kBeta * std::sqrt(1 - place * place);
  double sum = 1, term = 1;  // the modified Bessel function of the first kind and order zero
  for (int n = 1; n < 30; n++) {
    term *= (x / 2 / n) * (x / 2 / n);
    sum += term;
  }
  return sum;
}

}  // namespace parley

#endif  // PARLEY_AUDIO_KAISER_H_
