package ptx

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// machine carries out what Translate writes, as the PTX manual says of each instruction. It is one thread: what others
// do to the word is the word's business.
type machine struct {
	code   []instruction
	labels map[string]int
}

type instruction struct {
	guard, name string
	operands    []string
}

// word64 is the memory that a thread has.
type word64 interface {
	Load() uint64
	Add(value uint64) (old uint64)
	CompareAndSwap(compare, value uint64) (old uint64)
}

func load(text string) (*machine, error) {
	m := &machine{labels: map[string]int{}}
	_, body, ok := strings.Cut(text, "{\n")
	if !ok {
		return nil, fmt.Errorf("no body")
	}
	for line := range strings.Lines(strings.TrimSuffix(body, "}\n")) {
		line = strings.TrimSpace(line)
		if label, ok := strings.CutSuffix(line, ":"); ok {
			if _, twice := m.labels[label]; twice {
				return nil, fmt.Errorf("label %s twice", label)
			}
			m.labels[label] = len(m.code)
			continue
		}
		line, ok := strings.CutSuffix(line, ";")
		if !ok {
			return nil, fmt.Errorf("no semicolon: %q", line)
		}
		var i instruction
		if strings.HasPrefix(line, ".reg") {
			continue
		}
		if strings.HasPrefix(line, "@") {
			i.guard, line, _ = strings.Cut(line[1:], " ")
		}
		name, operands, _ := strings.Cut(line, " ")
		i.name = name
		for o := range strings.SplitSeq(operands, ", ") {
			i.operands = append(i.operands, o)
		}
		m.code = append(m.code, i)
	}
	return m, nil
}

// run calls the function. The parameters' registers stand for themselves; w is at whatever address is used.
func (m *machine) run(w word64, parameters ...uint64) (result func(i int) uint64, status Status, err error) {
	registers := map[string]uint64{}
	for i, p := range parameters {
		registers[fmt.Sprintf("parameter%d", i)] = p
	}
	for at, steps := 0, 0; at < len(m.code); at++ {
		if steps++; steps > 100*Turns {
			return nil, 0, fmt.Errorf("no end")
		}
		i := m.code[at]
		if i.guard != "" && registers[i.guard] == 0 {
			continue
		}
		switch i.name {
		case "bra":
			to, ok := m.labels[i.operands[0]]
			if !ok {
				return nil, 0, fmt.Errorf("no label %s", i.operands[0])
			}
			at = to - 1
			continue
		case "ret":
			return func(i int) uint64 { return registers[fmt.Sprintf("result%d", i)] }, Status(registers["status"]), nil
		}
		v := make([]uint64, len(i.operands))
		for k, o := range i.operands[1:] {
			o = strings.Trim(o, "[]")
			if n, err := strconv.ParseInt(o, 10, 64); err == nil {
				v[k+1] = uint64(n)
			} else if n, err := strconv.ParseUint(o, 10, 64); err == nil {
				v[k+1] = n
			} else if r, ok := registers[o]; ok {
				v[k+1] = r
			} else {
				return nil, 0, fmt.Errorf("%s is read before it is written: %v", o, i)
			}
		}
		value, err := i.carriedOut(w, v)
		if err != nil {
			return nil, 0, err
		}
		registers[i.operands[0]] = value
	}
	return nil, 0, fmt.Errorf("no ret")
}

func (i instruction) carriedOut(w word64, v []uint64) (uint64, error) {
	parts := strings.Split(i.name, ".")
	of := parts[len(parts)-1]
	truth := func(holds bool) (uint64, error) {
		if holds {
			return 1, nil
		}
		return 0, nil
	}
	signed := of == "s64"
	switch i.name {
	case "mov.u64", "mov.b64":
		return v[1], nil
	case "add.u64":
		return v[1] + v[2], nil
	case "sub.u64":
		return v[1] - v[2], nil
	case "mul.lo.u64":
		_, low := bits.Mul64(v[1], v[2])
		return low, nil
	case "and.b64":
		return v[1] & v[2], nil
	case "or.b64":
		return v[1] | v[2], nil
	case "xor.b64":
		return v[1] ^ v[2], nil
	case "not.b64":
		return ^v[1], nil
	case "neg.s64":
		return -v[1], nil
	case "div.u64":
		return v[1] / v[2], nil
	case "rem.u64":
		return v[1] % v[2], nil
	case "div.s64", "rem.s64":
		if v[2] == 0 || v[2] == math.MaxUint64 {
			return 0, fmt.Errorf("%s is not defined for %d", i.name, int64(v[2]))
		}
		if i.name == "div.s64" {
			return uint64(int64(v[1]) / int64(v[2])), nil
		}
		return uint64(int64(v[1]) % int64(v[2])), nil
	case "min.u64":
		return min(v[1], v[2]), nil
	case "max.u64":
		return max(v[1], v[2]), nil
	case "min.s64":
		return uint64(min(int64(v[1]), int64(v[2]))), nil
	case "max.s64":
		return uint64(max(int64(v[1]), int64(v[2]))), nil
	case "cvt.u32.u64":
		return v[1] & math.MaxUint32, nil
	case "shl.b64":
		return v[1] << min(v[2], 64), nil
	case "shr.u64":
		return v[1] >> min(v[2], 64), nil
	case "shr.s64":
		return uint64(int64(v[1]) >> min(v[2], 64)), nil
	case "selp.b64":
		if v[3] != 0 {
			return v[1], nil
		}
		return v[2], nil
	case "ld.volatile.u64":
		return w.Load(), nil
	case "atom.add.u64":
		return w.Add(v[2]), nil
	case "atom.cas.b64":
		return w.CompareAndSwap(v[2], v[3]), nil
	}
	if parts[0] == "setp" {
		less, equal := v[1] < v[2], v[1] == v[2]
		if signed {
			less = int64(v[1]) < int64(v[2])
		}
		switch parts[1] {
		case "eq":
			return truth(equal)
		case "ne":
			return truth(!equal)
		case "lt":
			return truth(less)
		case "le":
			return truth(less || equal)
		case "gt":
			return truth(!less && !equal)
		case "ge":
			return truth(!less)
		}
	}
	return 0, fmt.Errorf("no instruction %s", i.name)
}
