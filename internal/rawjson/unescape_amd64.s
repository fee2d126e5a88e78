#include "textflag.h"

DATA slash<>+0(SB)/1, $0x5c
GLOBL slash<>(SB), RODATA|NOPTR, $1

// func unescape(dst, text []byte) (wrote, read int)
//
// A window of 32 bytes is copied before it is known what is in it. Behind each escape what follows is copied once more, one byte
// nearer; so where the next window is read from does not depend on what was in this one.
TEXT ·unescape(SB), NOSPLIT, $0-64
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), R9
	MOVQ text_base+24(FP), SI
	MOVQ text_len+32(FP), R8
	LEAQ -66(SI)(R8*1), R8 // where the last window may start
	LEAQ -66(DI)(R9*1), R9 // and where it may go
	LEAQ ·unescaped(SB), R10
	VPBROADCASTB slash<>(SB), Y1

window:
	XORL CX, CX
	CMPQ SI, R8
	JA   done
	CMPQ DI, R9
	JA   done
	VMOVDQU   (SI), Y0
	VMOVDQU   Y0, (DI)
	VPCMPEQB  Y0, Y1, Y0
	VPMOVMSKB Y0, AX // backslashes
	TESTL AX, AX
	JNZ   escape
	ADDQ  $32, SI
	ADDQ  $32, DI
	JMP   window

escape:
	TZCNTL  AX, CX
	MOVBLZX 1(SI)(CX*1), BX
	MOVBLZX (R10)(BX*1), BX
	TESTL   BX, BX
	JZ      done
	VMOVDQU 2(SI)(CX*1), Y0
	MOVB    BX, (DI)(CX*1)
	VMOVDQU Y0, 1(DI)(CX*1)
	DECQ    DI
	BTRL    CX, AX
	INCL    CX
	BTRL    CX, AX // the second of two is no escape; bit 0, for bit 32, is no longer set
	TESTL   AX, AX
	JNZ     escape
	ADDQ    $32, SI
	ADDQ    $32, DI
	CMPL    CX, $32 // a jump, so that it can be foreseen
	JNE     window
	INCQ    SI      // the window's last byte was the backslash
	INCQ    DI
	JMP     window

done:
	ADDQ CX, SI
	ADDQ CX, DI
	SUBQ text_base+24(FP), SI
	SUBQ dst_base+0(FP), DI
	MOVQ DI, wrote+48(FP)
	MOVQ SI, read+56(FP)
	VZEROUPPER
	RET
