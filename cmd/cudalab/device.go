package main

import (
	"slices"

	"github.com/spf13/cobra"
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
func devices(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return deviceKinds, cobra.ShellCompDirectiveNoFileComp
}
