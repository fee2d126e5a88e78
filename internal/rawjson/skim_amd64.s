#include "textflag.h"

// Which bytes may follow a backslash: a bit for each high nibble that has some, and
// for each low nibble the bits of those high nibbles with which it makes one.
DATA simpleHigh<>+0(SB)/8, $0x0804020000010000
DATA simpleHigh<>+8(SB)/8, $0
DATA simpleLow<>+0(SB)/8, $0x00040008000d0000
DATA simpleLow<>+8(SB)/8, $0x0104000200000000
GLOBL simpleHigh<>(SB), RODATA|NOPTR, $16
GLOBL simpleLow<>(SB), RODATA|NOPTR, $16

// What can be wrong with two bytes that follow each other in UTF-8, one bit for each,
// by the nibbles of the first and the high nibble of the second: too short 1, too long
// 2, three bytes for what takes two 4, past the last character 8, a surrogate 16, two
// bytes for ASCII 32, four bytes for what takes three or past the last again 64. Bit
// 128 is two continuation bytes, which is right or wrong by what stands before them.
DATA firstHigh<>+0(SB)/8, $0x0202020202020202
DATA firstHigh<>+8(SB)/8, $0x4915012180808080
DATA firstLow<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA firstLow<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
DATA secondHigh<>+0(SB)/8, $0x0101010101010101
DATA secondHigh<>+8(SB)/8, $0x01010101babaaee6
GLOBL firstHigh<>(SB), RODATA|NOPTR, $16
GLOBL firstLow<>(SB), RODATA|NOPTR, $16
GLOBL secondHigh<>(SB), RODATA|NOPTR, $16

// One byte each, to be spread over a register.
DATA bytes<>+0(SB)/8, $0xc080706020225c0f
GLOBL bytes<>(SB), RODATA|NOPTR, $8
#define NIBBLE bytes<>+0(SB)
#define SLASH  bytes<>+1(SB)
#define QUOTE  bytes<>+2(SB)
#define SPACE  bytes<>+3(SB)
#define THIRD  bytes<>+4(SB)
#define FOURTH bytes<>+5(SB)
#define HIGH   bytes<>+6(SB)
#define LEAD   bytes<>+7(SB)

// MASK gathers one bit of each of 64 bytes.
#define MASK(lo, hi, out, tmp) \
	VPMOVMSKB lo, out \
	VPMOVMSKB hi, tmp \
	SHLQ $32, tmp     \
	ORQ  tmp, out

// NOTSIMPLE marks the bytes that may not follow a backslash.
#define NOTSIMPLE(in, out, tmp) \
	VPSRLW   $4, in, tmp    \
	VPAND    Y12, tmp, tmp  \
	VPSHUFB  tmp, Y10, tmp  \
	VPAND    Y12, in, out   \
	VPSHUFB  out, Y11, out  \
	VPAND    tmp, out, out  \
	VPCMPEQB Y9, out, out

// WHOLE marks the bytes that continue well what stands before them, at in.
#define WHOLE(at, in, out, t1, t2) \
	VMOVDQU  -1+at(SI), t1              \
	VPSRLW   $4, t1, t2                 \
	VPAND    Y12, t2, t2                \
	VBROADCASTI128 firstHigh<>(SB), out \
	VPSHUFB  t2, out, out               \
	VPAND    Y12, t1, t1                \
	VBROADCASTI128 firstLow<>(SB), t2   \
	VPSHUFB  t1, t2, t1                 \
	VPAND    t1, out, out               \
	VPSRLW   $4, in, t2                 \
	VPAND    Y12, t2, t2                \
	VBROADCASTI128 secondHigh<>(SB), t1 \
	VPSHUFB  t2, t1, t1                 \
	VPAND    t1, out, out               \
	VPBROADCASTB THIRD, t2              \
	VMOVDQU  -2+at(SI), t1              \
	VPSUBUSB t2, t1, t1                 \
	VPBROADCASTB FOURTH, Y8             \
	VMOVDQU  -3+at(SI), t2              \
	VPSUBUSB Y8, t2, t2                 \
	VPOR     t1, t2, t1                 \
	VPBROADCASTB HIGH, t2               \
	VPAND    t2, t1, t1                 \
	VPXOR    t1, out, out               \
	VPCMPEQB Y9, out, out

// func skim(b []byte, p int) (next, extra int, unsure bool)
TEXT ·skim(SB), NOSPLIT, $0-49
	MOVQ b_base+0(FP), SI
	MOVQ b_len+8(FP), DI
	LEAQ -64(SI)(DI*1), DI // where the last block may start
	ADDQ p+24(FP), SI
	XORQ R8, R8   // extra
	XORQ R9, R9   // 1: the byte before this block is a backslash that starts an escape
	XORQ R10, R10 // not 0: the byte before this block is not ASCII

	VPBROADCASTB QUOTE, Y15
	VPBROADCASTB SLASH, Y14
	VPBROADCASTB SPACE, Y13
	VPBROADCASTB NIBBLE, Y12
	VBROADCASTI128 simpleLow<>(SB), Y11
	VBROADCASTI128 simpleHigh<>(SB), Y10
	VPXOR Y9, Y9, Y9

plain:
	CMPQ SI, DI
	JA   short
	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPCMPEQB Y0, Y14, Y2
	VPCMPEQB Y1, Y14, Y3
	VPCMPEQB Y0, Y15, Y4
	VPCMPEQB Y1, Y15, Y5
	VPCMPGTB Y0, Y13, Y6 // signed: control characters and all that is not ASCII
	VPCMPGTB Y1, Y13, Y7
	VPOR     Y2, Y4, Y8
	VPOR     Y6, Y8, Y8
	VPOR     Y3, Y8, Y8
	VPOR     Y5, Y8, Y8
	VPOR     Y7, Y8, Y8
	VPTEST   Y8, Y8
	JNZ      special
	ADDQ     $64, SI
	JMP      plain

careful: // as plain, when what stands before the block matters
	CMPQ SI, DI
	JA   short
	VMOVDQU  (SI), Y0
	VMOVDQU  32(SI), Y1
	VPCMPEQB Y0, Y14, Y2
	VPCMPEQB Y1, Y14, Y3
	VPCMPEQB Y0, Y15, Y4
	VPCMPEQB Y1, Y15, Y5
	VPCMPGTB Y0, Y13, Y6
	VPCMPGTB Y1, Y13, Y7

special:
	MASK(Y2, Y3, AX, R11) // backslashes
	MASK(Y4, Y5, BX, R11) // quotes
	MASK(Y0, Y1, CX, R11) // not ASCII
	MASK(Y6, Y7, DX, R11)
	ANDNQ DX, CX, DX      // control characters

	// Of backslashes in a row every second one is escaped, and so is what follows an
	// odd number of them. Subtracting the candidates from their neighbours borrows
	// along each row and turns every second bit of it; the fixed pattern makes that come
	// out alike for rows that start at even and at odd places.
	MOVQ  R9, R12 // escaped bytes
	XORQ  R13, R13 // those of them that make no simple escape
	TESTQ AX, AX
	JZ    noslash
	ANDNQ AX, R9, R11
	LEAQ  (R11)(R11*1), R12
	MOVQ  $0xaaaaaaaaaaaaaaaa, R13
	ORQ   R13, R12
	SUBQ  R11, R12
	XORQ  R13, R12
	MOVQ  AX, R11
	ORQ   R9, R11
	ANDQ  R12, AX // escapes start here
	XORQ  R11, R12
	MOVQ  AX, R9
	SHRQ  $63, R9
	JMP   escapes

noslash:
	XORQ  R9, R9
	TESTQ R12, R12
	JZ    noescape

escapes:
	NOTSIMPLE(Y0, Y2, Y4)
	NOTSIMPLE(Y1, Y3, Y4)
	MASK(Y2, Y3, R13, R11)
	ANDQ R12, R13

noescape:
	ANDNQ BX, R12, BX // quotes that are not escaped
	ORQ   DX, BX
	ORQ   R13, BX     // where to stop
	XORQ  DX, DX      // continuation bytes
	XORQ  AX, AX      // bytes that are wrong behind those before them
	ORQ   CX, R10
	JZ    ascii
	WHOLE(0, Y0, Y2, Y4, Y5)
	WHOLE(32, Y1, Y3, Y4, Y5)
	MASK(Y2, Y3, AX, R11)
	NOTQ  AX
	ORQ   AX, BX
	VPBROADCASTB LEAD, Y4
	VPCMPGTB Y0, Y4, Y2 // signed: 80 to BF
	VPCMPGTB Y1, Y4, Y3
	MASK(Y2, Y3, DX, R11)

ascii:
	MOVQ  CX, R10
	SHRQ  $63, R10
	TESTQ BX, BX
	JNZ   stop
	POPCNTQ R12, R12
	POPCNTQ DX, DX
	ADDQ  R12, R8
	ADDQ  DX, R8
	ADDQ  $64, SI
	MOVQ  R9, R11
	ORQ   R10, R11
	JZ    plain
	JMP   careful

stop:
	TZCNTQ BX, CX
	LEAQ  -1(BX), R11
	ANDNQ R11, BX, R11 // all before it
	ANDQ  R11, R12
	ANDQ  R11, DX
	POPCNTQ R12, R12
	POPCNTQ DX, DX
	ADDQ  R12, R8
	ADDQ  DX, R8
	ADDQ  CX, SI
	BTQ   CX, AX
	SETCS R10
	BTQ   CX, R13
	SBBQ  $0, SI // an escape starts at its backslash
	SUBQ  b_base+0(FP), SI
	MOVQ  SI, next+32(FP)
	MOVQ  R8, extra+40(FP)
	MOVB  R10, unsure+48(FP)
	VZEROUPPER
	RET

short:
	SUBQ R9, SI
	SUBQ b_base+0(FP), SI
	MOVQ SI, next+32(FP)
	MOVQ R8, extra+40(FP)
	MOVB $1, unsure+48(FP)
	VZEROUPPER
	RET
