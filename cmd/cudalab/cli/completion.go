package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// shells are those that cudalab can complete for, in the order in which they are offered.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Write what a shell needs to complete commands, exercises and flags",
		Long: `Completion writes a script for bash, zsh, fish or PowerShell. With it the Tab key completes commands, flags, and the names
of exercises and of their gaps. The script is for the name cudalab: put bin into your PATH.`,
		Example: `  source <(cudalab completion bash)       # for this shell; for all, put the line into ~/.bashrc
  source <(cudalab completion zsh)        # after compinit
  cudalab completion fish | source
  cudalab completion powershell | Out-String | Invoke-Expression`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name the shell, and one only: bash, zsh, fish or powershell.")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return shells, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write, known := map[string]func(io.Writer) error{
				"bash":       func(w io.Writer) error { return cmd.Root().GenBashCompletionV2(w, true) },
				"zsh":        cmd.Root().GenZshCompletion,
				"fish":       func(w io.Writer) error { return cmd.Root().GenFishCompletion(w, true) },
				"powershell": cmd.Root().GenPowerShellCompletionWithDesc,
			}[args[0]]
			if !known {
				return usage("there is no completion for %q: choose bash, zsh, fish or powershell.", args[0])
			}
			return write(cmd.OutOrStdout())
		},
	}
}
