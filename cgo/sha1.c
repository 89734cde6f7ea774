/* SHA-1, as RFC 3174 has it. It names scripts here and protects nothing. */

#include <stdint.h>
#include <string.h>

#include "accelerate.h"

enum { BLOCK = 64 };

static uint32_t rotate(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

static uint32_t load(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(unsigned char *p, uint32_t x) {
    p[0] = (unsigned char)(x >> 24);
    p[1] = (unsigned char)(x >> 16);
    p[2] = (unsigned char)(x >> 8);
    p[3] = (unsigned char)x;
}

static void add_block(uint32_t h[5], const unsigned char block[BLOCK]) {
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    int t;

    for (t = 0; t < 16; t++) w[t] = load(block + 4 * t);
    for (; t < 80; t++) w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (t = 0; t < 80; t++) {
        uint32_t f = t < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                     : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                     : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                              : (b ^ c ^ d) + 0xca62c1d6;
        uint32_t sum = rotate(a, 5) + f + e + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = sum;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1(const char *text, size_t length, unsigned char digest[SHA1_BYTES]) {
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    unsigned char last[2 * BLOCK] = {0};
    size_t rest = length % BLOCK, padded = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK, i;

    for (i = 0; i + BLOCK <= length; i += BLOCK) add_block(h, (const unsigned char *)text + i);
    memcpy(last, text + i, rest);
    last[rest] = 0x80;
    store(last + padded - 8, (uint32_t)((uint64_t)length >> 29));
    store(last + padded - 4, (uint32_t)((uint64_t)length << 3));
    for (i = 0; i < padded; i += BLOCK) add_block(h, last + i);
    for (i = 0; i < 5; i++) store(digest + 4 * i, h[i]);
}
