package suite_test

import (
	"fmt"

	"cudalab/grader/suite"
	"cudalab/grader/suite/measure"
	"cudalab/kernels"
	"cudalab/native/cuda"
	"cudalab/native/session"
	"cudalab/native/sim"
)

// The same four kernels in one stream and in four, held against each other as in a race: what is judged is the ratio.
// The simulated device's clock is virtual, so the times are the same on every machine.
func ExampleBench_Time() {
	s := session.New(sim.New(sim.Options{}))
	s.Use()
	b := &suite.Bench{Session: s, Seed: 1}

	var streams []cuda.Stream
	var data []cuda.DevicePtr
	for range 4 {
		stream, err := cuda.StreamCreateWithFlags(cuda.StreamNonBlocking)
		b.Must(err)
		p, err := cuda.Malloc(4 * 256)
		b.Must(err)
		streams, data = append(streams, stream), append(data, p)
	}
	in := func(streams ...cuda.Stream) func() error {
		return func() error {
			for i, p := range data {
				if err := kernels.Process(1, 256, streams[i%len(streams)], p, 256, 1, 1000); err != nil {
					return err
				}
			}
			return nil
		}
	}

	samples, ok := b.Time(suite.Timing{Warm: 1, Rounds: 3},
		suite.Contender{Name: "one", Run: in(streams[0])},
		suite.Contender{Name: "four", Run: in(streams...)})
	fmt.Println(ok, samples["one"].Clock)
	for _, name := range []string{"one", "four"} {
		fmt.Println(name, samples[name].Times)
	}
	fmt.Printf("%.2f\n", measure.RatioOf(samples["four"].Times, samples["one"].Times).Value)
	// Output:
	// true virtual
	// one [72800 72800 72800]
	// four [32750 32750 32750]
	// 0.45
}
