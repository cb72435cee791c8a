// SPDX-License-Identifier: Apache-2.0
// Integer and bit builtins of device code.
#pragma once

#include <cstdint>

#include "anygin_cuda/cuda_atomics.h"

inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
inline int __popcll(unsigned long long x) {
  return __builtin_popcountll(x);
}
// Leading zeros; all of them for 0.
inline int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
// Place of the lowest set bit, counted from 1; 0 for 0.
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}
// The bits in reverse order.
inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= ((x >> bit) & 1u) << (31 - bit);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32) |
         __brev(static_cast<unsigned>(x >> 32));
}
// Each nibble of `selector` picks one of the eight bytes (y, x); its high bit replicates the byte's sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const uint64_t bytes = (static_cast<uint64_t>(y) << 32) | x;
  unsigned result = 0;
  for (int place = 0; place < 4; ++place) {
    const unsigned pick = (selector >> (4 * place)) & 0xf;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = (byte & 0x80) ? 0xff : 0;
    result |= byte << (8 * place);
  }
  return result;
}
// The upper (lower) word of (hi, lo) shifted left (right); _l takes the shift modulo 32, _lc clamps it to 32.
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((((static_cast<uint64_t>(hi) << 32) | lo) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>(((static_cast<uint64_t>(hi) << 32) | lo) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// --- Products --------------------------------------------------------------------------------------------------------
inline int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<int64_t>(x) * y) >> 32);
}
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) * y) >> 32);
}
inline long long __mul64hi(long long x, long long y) {
  __extension__ typedef __int128 Wide;
  return static_cast<long long>((static_cast<Wide>(x) * y) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<unsigned long long>((static_cast<Wide>(x) * y) >> 64);
}
inline int __mul24(int x, int y) {
  const int a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
  const int b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
  return static_cast<int>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
}
inline unsigned __umul24(unsigned x, unsigned y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
// |x - y| + z.
inline unsigned __sad(int x, int y, unsigned z) {
  const unsigned difference = static_cast<unsigned>(x) - static_cast<unsigned>(y);
  return (x > y ? difference : 0u - difference) + z;
}
inline unsigned __usad(unsigned x, unsigned y, unsigned z) {
  return (x > y ? x - y : y - x) + z;
}
// Averages, rounded down and up.
inline int __hadd(int x, int y) {
  return static_cast<int>((static_cast<int64_t>(x) + y) >> 1);
}
inline int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1);
}
inline unsigned __uhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) + y) >> 1);
}
inline unsigned __urhadd(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<uint64_t>(x) + y + 1) >> 1);
}
// Four signed (unsigned) byte products added to `c`.
inline int __dp4a(int a, int b, int c) {
  unsigned sum = static_cast<unsigned>(c);
  for (int place = 0; place < 32; place += 8) {
    const int x = static_cast<int8_t>(static_cast<unsigned>(a) >> place);
    const int y = static_cast<int8_t>(static_cast<unsigned>(b) >> place);
    sum += static_cast<unsigned>(x * y);
  }
  return static_cast<int>(sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int place = 0; place < 32; place += 8) c += ((a >> place) & 0xff) * ((b >> place) & 0xff);
  return c;
}

// --- The bits of a number --------------------------------------------------------------------------------------------
inline int __float_as_int(float x) {
  return anygin::simt::bits_as<int>(x);
}
inline unsigned __float_as_uint(float x) {
  return anygin::simt::bits_as<unsigned>(x);
}
inline float __int_as_float(int x) {
  return anygin::simt::bits_as<float>(x);
}
inline float __uint_as_float(unsigned x) {
  return anygin::simt::bits_as<float>(x);
}
inline long long __double_as_longlong(double x) {
  return anygin::simt::bits_as<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return anygin::simt::bits_as<double>(x);
}
inline int __double2hiint(double x) {
  return static_cast<int>(__double_as_longlong(x) >> 32);
}
inline int __double2loint(double x) {
  return static_cast<int>(__double_as_longlong(x));
}
inline double __hiloint2double(int hi, int lo) {
  return anygin::simt::bits_as<double>((static_cast<uint64_t>(static_cast<uint32_t>(hi)) << 32) |
                                       static_cast<uint32_t>(lo));
}
