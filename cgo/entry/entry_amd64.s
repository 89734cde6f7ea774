#include "textflag.h"

TEXT ·Address(SB), NOSPLIT, $0-8
	LEAQ enter<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// From C's convention, with decide in DI and request in SI, to Go's: argument
// and result in AX, X15 zero, and a word of the caller's frame for the argument
// to be spilled to. Go preserves no register; C expects BX, BP and R12 to R15
// back. With the return address and six registers pushed, that word also aligns
// the stack to 16 bytes.
TEXT enter<>(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BX
	PUSHQ BP
	PUSHQ R12
	PUSHQ R13
	PUSHQ R14
	PUSHQ R15
	SUBQ  $8, SP
	MOVQ  SI, AX
	XORPS X15, X15
	CALL  DI
	ADDQ  $8, SP
	POPQ  R15
	POPQ  R14
	POPQ  R13
	POPQ  R12
	POPQ  BP
	POPQ  BX
	RET
