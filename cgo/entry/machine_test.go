//go:build amd64 || arm64

package entry

import (
	"regexp"
	"slices"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// machine is an architecture that decisions are called directly on.
type machine struct {
	goarch    string
	cc        string         // Debian's compiler for it
	goroutine *regexp.Regexp // matches an instruction that asks which goroutine runs
	decode    func(code []byte, pc uint64) (instruction, error)
}

// instruction is what matters here of one instruction.
type instruction struct {
	text     string
	size     uint64
	branches bool // goes, or may go, to target, or calls it
	target   uint64
	computed bool // goes to where a register or memory says, or calls it
	final    bool // never comes to the instruction behind it
}

// Go keeps the running goroutine in R14 or R28, and for C in thread-local
// storage.
var machines = []machine{
	{"amd64", "x86_64-linux-gnu-gcc", regexp.MustCompile(`\bR14\b|\b[FG]S:|\bTLS\b`), decodeAMD64},
	{"arm64", "aarch64-linux-gnu-gcc", regexp.MustCompile(`\bR28\b|\bTPIDR`), decodeARM64},
}

func decodeAMD64(code []byte, pc uint64) (instruction, error) {
	inst, err := x86asm.Decode(code, 64)
	if err != nil {
		return instruction{}, err
	}
	i := instruction{text: x86asm.GoSyntax(inst, pc, nil), size: uint64(inst.Len)}
	offset, branches := inst.Args[0].(x86asm.Rel)
	i.branches, i.target = branches, pc+i.size+uint64(offset)
	i.computed = !branches && slices.Contains([]x86asm.Op{x86asm.CALL, x86asm.LCALL, x86asm.JMP, x86asm.LJMP, x86asm.SYSCALL}, inst.Op)
	i.final = slices.Contains([]x86asm.Op{x86asm.JMP, x86asm.LJMP, x86asm.RET, x86asm.UD2, x86asm.INT}, inst.Op)
	return i, nil
}

func decodeARM64(code []byte, pc uint64) (instruction, error) {
	inst, err := arm64asm.Decode(code)
	if err != nil {
		return instruction{}, err
	}
	i := instruction{text: arm64asm.GoSyntax(inst, pc, nil, nil), size: 4}
	switch inst.Op {
	case arm64asm.B, arm64asm.BL, arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		i.branches = true
		for _, arg := range inst.Args {
			if offset, ok := arg.(arm64asm.PCRel); ok {
				i.target = pc + uint64(offset)
			}
		}
		_, conditional := inst.Args[0].(arm64asm.Cond)
		i.final = inst.Op == arm64asm.B && !conditional
	case arm64asm.BR, arm64asm.BLR, arm64asm.SVC:
		i.computed = true
		i.final = inst.Op == arm64asm.BR
	case arm64asm.RET, arm64asm.BRK:
		i.final = true
	}
	return i, nil
}
