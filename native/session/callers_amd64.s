#include "textflag.h"

// A frame holds the caller's frame pointer and, a word above it, the return address. Assembly has no safe points: the
// stack cannot move under the walk.

// func walkFrames(found *addresses)
TEXT ·walkFrames(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ found+0(FP), DI
	MOVQ BP, AX
	MOVQ $24, CX // len(addresses)
next:
	TESTQ AX, AX
	JZ   done
	MOVQ 8(AX), DX
	MOVQ DX, (DI)
	ADDQ $8, DI
	MOVQ (AX), AX
	DECQ CX
	JNZ  next
done:
	RET
