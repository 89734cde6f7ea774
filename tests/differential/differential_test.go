package differential

import "testing"

// The commands do what the scripts do.
func TestCommandsForScripts(t *testing.T) {
	t.Parallel()
	Run(t, Commands, Scripts, CommandsForScripts)
}
