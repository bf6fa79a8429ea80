package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
	"cudalab/grader/machine/calibrate"
	"cudalab/grader/machine/lock"
	"cudalab/grader/suites/course"
	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/session"
	"cudalab/native/sim"
)

func newCalibrate() *cobra.Command {
	var output, kind string
	cmd := &cobra.Command{
		Use:   "calibrate [-o FILE]",
		Short: "Measure this machine's GPU and make the simulated device one like it",
		Long: `Calibrate measures what CUDA calls and kernels cost on this machine's GPU, shows the figures beside those of the NVIDIA
H200 that the simulated device is otherwise like, and writes them as a profile: a JSON file with the unit in every name. It
takes some seconds, in which nothing else should use the GPU: it measures until two runs agree, says so where no two
do, and writes no figures that contradict each other.

The profile goes into the course as ` + course.ProfileFile + `. From then on the simulated device is that GPU, with its
name in every report, and so it is in every handout that is made of the course. Delete the file to have the H200 back. With
-o the file goes elsewhere, for --profile of check, bench and grade.

With --device sim it measures the simulated device instead, which must give its own profile back: that shows that
calibrate works, and is for a FILE of its own.`,
		Example: `  cudalab calibrate
  cudalab calibrate -o l4.json
  cudalab check --all --solution --device sim --profile l4.json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCalibrate(cmd, kind, output) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&output, "output", "o", "", "write the profile to `FILE`; default: "+course.ProfileFile+
		" in the course")
	flags.StringVar(&kind, "device", string(device.GPU), "`KIND` is gpu or sim")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("device", func(*cobra.Command, []string, string) ([]string,
		cobra.ShellCompDirective) {
		return []string{string(device.GPU), string(device.Sim)}, cobra.ShellCompDirectiveNoFileComp
	}))
	return cmd
}

func runCalibrate(cmd *cobra.Command, kind, output string) error {
	switch {
	case kind != string(device.GPU) && kind != string(device.Sim):
		return usage("calibrate measures the gpu or the sim, not %q.", kind)
	case kind == string(device.Sim) && output == "":
		return usage("the course's profile is to be a GPU's: with --device sim, name another file with -o.")
	}
	kept := output == ""
	if kept {
		c, err := openCourse(cmd)
		if err != nil {
			return err
		}
		output = filepath.Join(c.Root, filepath.FromSlash(course.ProfileFile))
	}
	f, unsure, err := measured(cmd, kind)
	if err != nil {
		return err
	}
	if err := showProfile(cmd.OutOrStdout(), f); err != nil {
		return err
	}
	if len(unsure) > 0 {
		screenOf(cmd.OutOrStdout()).say(fmt.Sprintf("Doubtful: measured again and again, no two runs agreed, the closest "+
			"not on %s. Something else uses this machine or its GPU; calibrate again when nothing does.", strings.Join(unsure,
			", ")))
	}
	if err := class.WriteFile(output, f.Text()); err != nil {
		return &exitError{exitEnvironment, fmt.Sprintf("the profile could not be written: %v.", err)}
	}
	told := fmt.Sprintf("Written: %s. Give it to check, bench or grade with --profile.",
		filepath.ToSlash(course.Relative(output)))
	if kept {
		told = fmt.Sprintf("Written: %s. The simulated device of this course is an %s now, and so it will be in handouts.",
			filepath.ToSlash(course.Relative(output)), f.Profile.Name)
	}
	screenOf(cmd.OutOrStdout()).say(told)
	return nil
}

// measured measures a device while nothing of cudalab's uses it.
func measured(cmd *cobra.Command, kind string) (f *profile.File, unsure []string, err error) {
	if kind == string(device.GPU) {
		release, err := lock.Here().Alone(cmd.Context())
		if err != nil {
			return nil, nil, err
		}
		defer release()
	}
	d, err := session.OpenDevice(kind)
	if err != nil {
		return nil, nil, &exitError{exitEnvironment, "there is no GPU to measure. " + err.Error()}
	}
	defer func() {
		if failed := d.Close(); err == nil && failed != nil {
			err = &exitError{exitEnvironment, fmt.Sprintf("the GPU could not be given back: %v.", failed)}
		}
	}()
	s := screenOf(cmd.ErrOrStderr())
	f, unsure, err = calibrate.Measure(cmd.Context(), d, func(p calibrate.Progress) {
		if s.width > 0 {
			fmt.Fprintf(s, "\r\x1b[K%d of %d: %s", p.Step, p.Steps, p.Name)
			if p.Run > 1 {
				fmt.Fprintf(s, ", run %d", p.Run)
			}
		}
	})
	if s.width > 0 {
		fmt.Fprint(s, "\r\x1b[K")
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return f, unsure, err
	}
	return nil, nil, &exitError{exitEnvironment,
		fmt.Sprintf("the %s could not be measured. %s. Nothing was written; try again when nothing else "+
			"uses it.", d.Info().Name, strings.TrimSuffix(err.Error(), "."))}
}

// figure is a line of what calibrate shows.
type figure struct {
	name string
	of   func(p *sim.Profile) string
}

// figures are the constants that say most about a GPU, in the order in which the lessons come upon them.
var figures = []figure{
	{"memory", func(p *sim.Profile) string { return fmt.Sprintf("%.1f GiB", float64(p.Memory)/(1<<30)) }},
	{"multiprocessors", func(p *sim.Profile) string { return fmt.Sprint(p.Multiprocessors) }},
	{"launch, on the host", func(p *sim.Profile) string { return micros(p.Launch) }},
	{"launch until the kernel begins", func(p *sim.Profile) string { return micros(p.LaunchLatency) }},
	{"empty kernel", func(p *sim.Profile) string { return micros(p.Operation) }},
	{"synchronize, nothing to wait for", func(p *sim.Profile) string { return micros(p.Synchronize) }},
	{"event record", func(p *sim.Profile) string { return micros(p.EventRecord) }},
	{"cudaMallocAsync, warm pool", func(p *sim.Profile) string { return micros(p.MallocAsync) }},
	{"cudaFreeAsync", func(p *sim.Profile) string { return micros(p.FreeAsync) }},
	{"pool grows by 64 MiB", func(p *sim.Profile) string { return micros(p.PoolGrow.At(64 << 20)) }},
	{"pool gives 64 MiB back", func(p *sim.Profile) string { return micros(p.PoolRelease.At(64 << 20)) }},
	{"cudaMalloc 1 MiB", func(p *sim.Profile) string { return micros(p.Malloc.At(1 << 20)) }},
	{"cudaFree 1 MiB", func(p *sim.Profile) string { return micros(p.Free.At(1 << 20)) }},
	{"cudaMalloc 256 MiB", func(p *sim.Profile) string { return micros(p.Malloc.At(256 << 20)) }},
	{"pinned memory, 1 MiB", func(p *sim.Profile) string { return micros(p.HostMalloc.At(1 << 20)) }},
	{"cuMemCreate 64 MiB", func(p *sim.Profile) string { return micros(p.MemCreate.At(64 << 20)) }},
	{"cuMemSetAccess 64 MiB", func(p *sim.Profile) string { return micros(p.MemSetAccess.At(64 << 20)) }},
	{"memory bandwidth", func(p *sim.Profile) string { return perSecond(p.MemoryBandwidth) }},
	{"memory bandwidth of kernels", func(p *sim.Profile) string { return perSecond(p.KernelBandwidth) }},
	{"pinned copy to the device", func(p *sim.Profile) string { return perSecond(p.HtoDBandwidth) }},
	{"pinned copy to the host", func(p *sim.Profile) string { return perSecond(p.DtoHBandwidth) }},
	{"pageable copy", func(p *sim.Profile) string { return perSecond(p.PageableBandwidth) }},
}

func micros(nanos int64) string { return fmt.Sprintf("%.2f µs", float64(nanos)/1000) }

func perSecond(bytes int64) string { return fmt.Sprintf("%.1f GB/s", float64(bytes)/1e9) }

// showProfile shows the figures beside those of the built-in profile, and says what was not measured.
func showProfile(out io.Writer, f *profile.File) error {
	s := screenOf(out)
	builtIn := "built in: " + sim.H200.Name
	first, own := 0, len(f.Profile.Name)
	for _, x := range figures {
		first, own = max(first, len(x.name)), max(own, len([]rune(x.of(&f.Profile))))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %*s  %s\n", first, "", own, f.Profile.Name, builtIn)
	for _, x := range figures {
		fmt.Fprintf(&b, "%-*s  %*s  %*s\n", first, x.name, own, x.of(&f.Profile), len(builtIn), x.of(&sim.H200))
	}
	if _, err := io.WriteString(s, b.String()+"\n"); err != nil {
		return err
	}
	if len(f.Kept) > 0 {
		s.say(fmt.Sprintf("Not to be found out here, and taken from the built-in profile: %s.", strings.Join(f.Kept, ", ")))
	}
	return nil
}
