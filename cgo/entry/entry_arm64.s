#include "textflag.h"

TEXT ·Address(SB), NOSPLIT, $0-8
	MOVD $enter<>(SB), R0
	MOVD R0, ret+0(FP)
	RET

// From C's convention, with decide in R0 and request in R1, to Go's: argument
// and result in R0, and a word of the caller's frame, at 8(RSP), for the
// argument to be spilled to. Go preserves no register; C expects R19 to R30 and
// the lower halves of V8 to V15 back.
TEXT enter<>(SB), NOSPLIT|NOFRAME, $0
	SUB  $176, RSP
	STP  (R19, R20), 16(RSP)
	STP  (R21, R22), 32(RSP)
	STP  (R23, R24), 48(RSP)
	STP  (R25, R26), 64(RSP)
	STP  (R27, g), 80(RSP)
	STP  (R29, R30), 96(RSP)
	FSTPD (F8, F9), 112(RSP)
	FSTPD (F10, F11), 128(RSP)
	FSTPD (F12, F13), 144(RSP)
	FSTPD (F14, F15), 160(RSP)
	MOVD R0, R9
	MOVD R1, R0
	CALL (R9)
	LDP  16(RSP), (R19, R20)
	LDP  32(RSP), (R21, R22)
	LDP  48(RSP), (R23, R24)
	LDP  64(RSP), (R25, R26)
	LDP  80(RSP), (R27, g)
	LDP  96(RSP), (R29, R30)
	FLDPD 112(RSP), (F8, F9)
	FLDPD 128(RSP), (F10, F11)
	FLDPD 144(RSP), (F12, F13)
	FLDPD 160(RSP), (F14, F15)
	ADD  $176, RSP
	RET
