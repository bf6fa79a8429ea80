package reach_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/exercises/contract"
	"cudalab/grader/suite"
	"cudalab/grader/suite/verdict"
	"cudalab/grader/suites"
	asyncpipelinesuite "cudalab/grader/suites/asyncpipeline"
	blockpoolsuite "cudalab/grader/suites/blockpool"
	buddysuite "cudalab/grader/suites/buddy"
	bugclinicsuite "cudalab/grader/suites/bugclinic"
	crossstreameventssuite "cudalab/grader/suites/crossstreamevents"
	devicebumpsuite "cudalab/grader/suites/devicebump"
	growablesuite "cudalab/grader/suites/growable"
	measuresuite "cudalab/grader/suites/measure"
	overlapsuite "cudalab/grader/suites/overlap"
	poolconfigsuite "cudalab/grader/suites/poolconfig"
	ringsuite "cudalab/grader/suites/ring"
	slabsuite "cudalab/grader/suites/slab"
	streampoolsuite "cudalab/grader/suites/streampool"
	trackersuite "cudalab/grader/suites/tracker"
	vmmarenasuite "cudalab/grader/suites/vmmarena"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
	"cudalab/solutions/asyncpipeline"
	"cudalab/solutions/blockpool"
	"cudalab/solutions/buddy"
	"cudalab/solutions/bugclinic"
	"cudalab/solutions/crossstreamevents"
	"cudalab/solutions/devicebump"
	"cudalab/solutions/growable"
	"cudalab/solutions/measure"
	"cudalab/solutions/overlap"
	"cudalab/solutions/poolconfig"
	"cudalab/solutions/ring"
	"cudalab/solutions/slab"
	"cudalab/solutions/streampool"
	"cudalab/solutions/tracker"
	"cudalab/solutions/vmmarena"
)

// tracked is the solution of tracker, with a look at what OnFull is given.
type tracked struct {
	*tracker.Tracker
	seen *seen
}

func (t tracked) OnFull(f func(int64) bool) {
	t.seen.look("OnFull's", reflect.ValueOf(f))
	t.Tracker.OnFull(f)
}

// Which case it is can still be told by what this test does not compare: arguments, which differ because cases do;
// addresses of memory, which follow from how much was allocated before; and how often the code has been called in its
// process, which it can count. Nothing of these says what is asked about the call.
func TestNothingTellsCasesApart(t *testing.T) {
	lessons := map[string]func(*seen){
		"async-pipeline": of(asyncpipelinesuite.Lesson, asyncpipelinesuite.Of(asyncpipeline.Run,
			asyncpipeline.Sums)),
		"pool-config": of(poolconfigsuite.Lesson, poolconfigsuite.Of(poolconfig.Run, poolconfig.Keep, poolconfig.Lend)),
		"cross-stream-events": of(crossstreameventssuite.Lesson,
			crossstreameventssuite.Of(crossstreamevents.Share, crossstreamevents.FanOut,
				crossstreamevents.NewBuffer)),
		"slab":      of(slabsuite.Lesson, slabsuite.Of(slab.New)),
		"buddy":     of(buddysuite.Lesson, buddysuite.Of(buddy.New)),
		"vmm-arena": of(vmmarenasuite.Lesson, vmmarenasuite.Of(vmmarena.New)),
		"measure":   of(measuresuite.Lesson, measuresuite.Of(measure.Time, measure.Compare)),
		"overlap":   of(overlapsuite.Lesson, overlapsuite.Of(overlap.Run, overlap.Efficiency)),
		"ring":      of(ringsuite.Lesson, ringsuite.Of(ring.Run)),
		"bug-clinic": of(bugclinicsuite.Lesson, bugclinicsuite.Of(bugclinic.Upload, bugclinic.Weights, bugclinic.PingPong,
			bugclinic.Merge, bugclinic.Replace, bugclinic.Allocate, bugclinic.Snapshot, bugclinic.Scratch)),
		"block-pool":  of(blockpoolsuite.Lesson, blockpoolsuite.Of(blockpool.New)),
		"growable":    of(growablesuite.Lesson, growablesuite.Of(growable.New)),
		"device-bump": of(devicebumpsuite.Lesson, devicebumpsuite.Of(devicebump.Alloc, devicebump.AllocWarp, devicebump.New)),
		"stream-pool": of(streampoolsuite.Lesson, streampoolsuite.Of(streampool.New)),
		"tracker": func(s *seen) {
			wrap := func(inner contract.Allocator, at cuda.DevicePtr, bytes, limit int64) (*tracked, error) {
				made, err := tracker.Wrap(inner, at, bytes, limit)
				if made == nil {
					return nil, err
				}
				return &tracked{made, s}, err
			}
			of(trackersuite.Lesson, trackersuite.Of(wrap))(s)
		},
	}
	for _, l := range suites.All() {
		run := lessons[l.Exercise]
		require.NotNil(t, run, "the lesson %s is not looked at", l.Exercise)
		t.Run(l.Exercise, func(t *testing.T) {
			s := &seen{texts: map[string]map[string]string{}}
			run(s)
			require.NotEmpty(t, s.texts)
			for what, texts := range s.texts {
				var all []string
				for _, text := range slices.Sorted(maps.Keys(texts)) {
					all = append(all, fmt.Sprintf("in case %s: %s", texts[text], text))
				}
				require.Len(t, all, 1, "%s tells cases apart", what)
			}
		})
	}
}

// seen is what was printed of each thing that the code can reach, and in which case first.
type seen struct {
	now   string
	calls int // of the case
	texts map[string]map[string]string
}

// mostCalls is how many calls of a case are looked at, which ends with the next.
const mostCalls = 40

// of carries out all cases of a lesson, timed ones as well, with a look at what code is given.
func of[Code any](l suite.Lesson[Code], code Code) func(*seen) {
	return func(s *seen) {
		looking := code
		s.wrap(l.Functions[0], reflect.ValueOf(&looking).Elem())
		for _, c := range l.Suite(looking, code).Cases {
			s.drive(c)
		}
	}
}

// notes are nobody's.
type notes struct{}

func (notes) Outcome(verdict.Outcome) {}
func (notes) Value(string, ...uint64) {}
func (notes) Sample(string, int64)    {}

func (s *seen) drive(c suite.Case) {
	s.now, s.calls = c.ID, 0
	options := sim.Options{Seed: 1}
	if c.Simulated != nil {
		options = c.Simulated(1)
	}
	d := sim.New(options)
	defer d.Close()
	on := session.New(d)
	on.Use()
	if !c.Timed {
		on.StartTrace()
	}
	defer func() {
		if v := recover(); v != nil && s.calls <= mostCalls {
			panic(v)
		}
	}()
	c.Drive(&suite.Bench{Session: on, Seed: 1, CaseID: c.ID, Notes: notes{}})
}

// wrap has a function, or each of a struct, be looked at when it is called.
func (s *seen) wrap(name string, code reflect.Value) {
	if code.Kind() == reflect.Struct {
		for i := range code.NumField() {
			s.wrap(code.Type().Field(i).Name, code.Field(i))
		}
		return
	}
	f := reflect.ValueOf(code.Interface())
	code.Set(reflect.MakeFunc(code.Type(), func(args []reflect.Value) []reflect.Value {
		if s.calls++; s.calls > mostCalls {
			panic("enough of this case")
		}
		for i, a := range args {
			s.look(fmt.Sprintf("%s: argument %d", name, i), a)
		}
		info := session.Current().Device().Info()
		if !scarce[s.now] {
			_, total, _ := session.Current().Device().MemGetInfo()
			s.see("the device", fmt.Sprintf("%+v, of %d bytes", info, total))
		}
		return f.Call(args)
	}))
}

// scarce are cases of devices that have less memory, which is what they ask about.
var scarce = map[string]bool{"memory": true}

// look prints an argument, unless it is plain data: that the contract says, whatever it is.
func (s *seen) look(what string, a reflect.Value) {
	switch a.Kind() {
	case reflect.Interface, reflect.Func:
		if a.IsNil() {
			return
		}
		held := a
		for held.Kind() == reflect.Interface {
			held = held.Elem()
		}
		_, err := json.Marshal(a.Interface())
		s.see(what, fmt.Sprint(held.Kind(), " ", err, printed(a.Interface())))
	case reflect.Slice:
		s.see(what+", beyond its end", fmt.Sprint(a.Cap()-a.Len(), a.IsNil() && a.Len() > 0))
		if a.Len() > 0 && a.Type().Elem().Kind() == reflect.Struct {
			s.look(what+"[i]", a.Index(0))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if field := a.Type().Field(i); field.IsExported() {
				s.look(what+"."+field.Name, a.Field(i))
			}
		}
		if a.NumField() == 1 && !a.IsZero() { // that is an argument: the legacy default stream
			s.see(what, printed(a.Interface()))
		}
	}
}

// addresses are those of Go's heap, which say when something was made, and nothing of what it is: handles of CUDA's are
// such, so that two can be compared, and fmt follows none that lies in a struct.
var addresses = regexp.MustCompile(`\b(0x)?[0-9a-f]{10,}\b`)

// printed is all that fmt prints of a value, by itself and in the code's own variables, where no method hides it.
func printed(x any) (text string) {
	type kept struct{ it any }
	for _, way := range []any{x, &x, kept{x}, &kept{x}, []any{x}, map[int]any{0: x}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%T", "%d", "%x", "%s", "%q", "%p"} {
			text += " " + addresses.ReplaceAllString(fmt.Sprintf(verb, way), "somewhere")
		}
	}
	return text
}

func (s *seen) see(what, text string) {
	if s.texts[what] == nil {
		s.texts[what] = map[string]string{}
	}
	if _, known := s.texts[what][text]; !known {
		s.texts[what][text] = s.now
	}
}
