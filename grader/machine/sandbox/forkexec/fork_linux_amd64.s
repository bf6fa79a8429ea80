#include "go_asm.h"
#include "textflag.h"

// func fork(number, a1, a2 uintptr, first *call, end *failure) (pid, errno uintptr)
TEXT ·fork(SB),NOSPLIT,$0-56
	MOVQ	a1+8(FP), DI
	MOVQ	a2+16(FP), SI
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	XORL	R9, R9
	MOVQ	first+24(FP), R12
	MOVQ	end+32(FP), R13
	MOVQ	number+0(FP), AX
	SYSCALL
	TESTQ	AX, AX
	JEQ	next
	CMPQ	AX, $0xfffffffffffff001
	JCC	refused
	MOVQ	AX, pid+40(FP)
	MOVQ	$0, errno+48(FP)
	RET
refused:
	NEGQ	AX
	MOVQ	$0, pid+40(FP)
	MOVQ	AX, errno+48(FP)
	RET

	// The new process. The stack is its parent's, who is using it.
next:
	MOVQ	call_number(R12), AX
	MOVQ	(call_args+0)(R12), DI
	MOVQ	(call_args+8)(R12), SI
	MOVQ	(call_args+16)(R12), DX
	MOVQ	(call_args+24)(R12), R10
	MOVQ	(call_args+32)(R12), R8
	MOVQ	(call_args+40)(R12), R9
	SYSCALL
	CMPQ	AX, call_least(R12)
	JLT	failed
	ADDQ	$call__size, R12
	JMP	next
failed:
	MOVQ	R12, failure_call(R13)
	NEGQ	AX
	MOVQ	AX, failure_errno(R13)
	MOVL	$125, DI
	MOVL	$231, AX // exit_group
	SYSCALL
	INT	$3
