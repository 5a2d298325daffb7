// CUDA's vector types for the host's compiler, aligned as a GPU aligns them.
#ifndef PARLEY_KERNELS_CUDA_EMULATOR_VECTOR_TYPES_H_
#define PARLEY_KERNELS_CUDA_EMULATOR_VECTOR_TYPES_H_

#define PARLEY_VECTOR_OF_2(Name, Value)    \
  struct alignas(2 * sizeof(Value)) Name { \
    Value x, y;                            \
  };                                       \
  inline Name make_##Name(Value x, Value y) { return {x, y}; }

#define PARLEY_VECTOR_OF_3(Name, Value) \
  struct Name {                         \
    Value x, y, z;                      \
  };                                    \
  inline Name make_##Name(Value x, Value y, Value z) { return {x, y, z}; }

#define PARLEY_VECTOR_OF_4(Name, Value)                             \
  struct alignas(sizeof(Value) < 4 ? 4 * sizeof(Value) : 16) Name { \
    Value x, y, z, w;                                               \
  };                                                                \
  inline Name make_##Name(Value x, Value y, Value z, Value w) { return {x, y, z, w}; }

#define PARLEY_VECTORS(name, Value)  \
  PARLEY_VECTOR_OF_2(name##2, Value) \
  PARLEY_VECTOR_OF_3(name##3, Value) \
  PARLEY_VECTOR_OF_4(name##4, Value)

PARLEY_VECTORS(char, signed char)
PARLEY_VECTORS(uchar, unsigned char)
PARLEY_VECTORS(short, short)
PARLEY_VECTORS(ushort, unsigned short)
PARLEY_VECTORS(int, int)
PARLEY_VECTORS(uint, unsigned)
PARLEY_VECTORS(float, float)
PARLEY_VECTOR_OF_2(longlong2, long long)
PARLEY_VECTOR_OF_2(ulonglong2, unsigned long long)
PARLEY_VECTOR_OF_2(double2, double)

#undef PARLEY_VECTORS
#undef PARLEY_VECTOR_OF_2
#undef PARLEY_VECTOR_OF_3
#undef PARLEY_VECTOR_OF_4

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

#endif  // PARLEY_KERNELS_CUDA_EMULATOR_VECTOR_TYPES_H_
