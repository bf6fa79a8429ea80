#include "go_asm.h"
#include "textflag.h"

// func fork(number, a1, a2 uintptr, first *call, end *failure) (pid, errno uintptr)
TEXT ·fork(SB),NOSPLIT,$0-56
	MOVD	a1+8(FP), R0
	MOVD	a2+16(FP), R1
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	first+24(FP), R19
	MOVD	end+32(FP), R20
	MOVD	number+0(FP), R8
	SVC
	CBZ	R0, next
	CMN	$4095, R0
	BCS	refused
	MOVD	R0, pid+40(FP)
	MOVD	ZR, errno+48(FP)
	RET
refused:
	NEG	R0, R0
	MOVD	ZR, pid+40(FP)
	MOVD	R0, errno+48(FP)
	RET

	// The new process. The stack is its parent's, who is using it.
next:
	MOVD	call_number(R19), R8
	MOVD	(call_args+0)(R19), R0
	MOVD	(call_args+8)(R19), R1
	MOVD	(call_args+16)(R19), R2
	MOVD	(call_args+24)(R19), R3
	MOVD	(call_args+32)(R19), R4
	MOVD	(call_args+40)(R19), R5
	SVC
	MOVD	call_least(R19), R9
	CMP	R9, R0
	BLT	failed
	ADD	$call__size, R19
	B	next
failed:
	MOVD	R19, failure_call(R20)
	NEG	R0, R0
	MOVD	R0, failure_errno(R20)
	MOVD	$125, R0
	MOVD	$94, R8 // exit_group
	SVC
	BRK
