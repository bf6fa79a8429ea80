package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"cudalab/grader/class"
)

func newGradeMerge() *cobra.Command {
	var to, rules string
	var names []string
	var gradebook gradebookFlags
	cmd := &cobra.Command{
		Use:   "merge RESULTS... -o MERGED",
		Short: "Put the results of the parts of a class together",
		Long: `Merge puts the results of shards together in another folder, as if the class had been graded there. They must have
been graded with the same seed, versions, exercises and kind of device.`,
		Example: `  cudalab grade merge results-1 results-2 -o results`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || to == "" {
				return usage("name the folders with the results of the parts, and with -o the one for all: cudalab grade merge " +
					"RESULTS... -o MERGED.")
			}
			w, err := writers(names)
			if err != nil {
				return err
			}
			filled, err := gradebook.writer()
			if err != nil {
				return gradeError(err)
			}
			if filled != nil {
				w = append(w, filled)
			}
			view := newProgressView(screenOf(cmd.ErrOrStderr()))
			merged, err := class.Merge(args, to, class.Options{Policy: rules, Writers: w, Say: view.say})
			if err != nil {
				return gradeError(err)
			}
			for _, sentence := range gradebook.said(to) {
				view.say(sentence)
			}
			return summarise(cmd.OutOrStdout(), merged, to)
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "the folder for all results, `MERGED`")
	policyFlag(cmd, &rules)
	cmd.Flags().StringSliceVar(&names, "format", nil, "write the results as `FORMAT` as well: "+strings.Join(formatNames(),
		", "))
	gradebook.register(cmd)
	return cmd
}
