package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"cudalab/grader/suites/course"
	"cudalab/native/device"
	"cudalab/native/profile"
	"cudalab/native/sim"
)

var deviceKinds = []string{"auto", "gpu", "sim"}

// validDevice holds the value of --device to the devices that there are.
func validDevice(kind string) error {
	if !slices.Contains(deviceKinds, kind) {
		return usage("there is no device %q: choose auto, gpu or sim.", kind)
	}
	return nil
}

// devices completes --device.
var devices = names(deviceKinds)

// profileFlag lets a command be told which GPU the simulated device is like.
func profileFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "profile", "", "the simulated device is the GPU that `FILE` describes, which `cudalab "+
		"calibrate` has written; default: "+course.ProfileFile+" in the course, if it is there")
}

// simulated is the profile of the simulated device: that of the file, else the course's; nil where there is neither,
// and where no device is simulated.
func simulated(c *course.Course, kind, file string) (*sim.Profile, error) {
	if kind == string(device.GPU) && file != "" {
		return nil, usage("--profile is of the simulated device: leave out either that or --device gpu.")
	}
	if kind == string(device.GPU) {
		return nil, nil
	}
	load := func() (*profile.File, error) { return course.Profile(c.Root) }
	if file != "" {
		load = func() (*profile.File, error) { return profile.Load(file) }
	}
	f, err := load()
	if err != nil {
		return nil, usage("%v.", err)
	}
	if f == nil {
		return nil, nil
	}
	return &f.Profile, nil
}
