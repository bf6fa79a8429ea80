package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"cudalab/grader/judge/check"
	"cudalab/grader/report/cudac"
)

// The terms that reports may be in: those of the exercises, or those of CUDA C++.
const (
	goTerms   = "go"
	cudaTerms = "cuda"
)

var allTerms = []string{goTerms, cudaTerms}

func termsFlag(cmd *cobra.Command, terms *string) {
	cmd.Flags().StringVar(terms, "as", goTerms, "name calls as `LANGUAGE` does: go, as you write them, or cuda, as in C++")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("as", names(allTerms)))
}

func validTerms(terms string) error {
	if !slices.Contains(allTerms, terms) {
		return usage("there are no reports as %q: choose go or cuda.", terms)
	}
	return nil
}

// inTerms has a result's report be in the terms that were asked for.
func inTerms(terms string, r check.Result) check.Result {
	if terms == cudaTerms {
		r.Report = cudac.Report(r.Report)
	}
	return r
}
