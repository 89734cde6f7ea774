package differential

import "testing"

// The commands do what the scripts do.
func TestCommandsForScripts(t *testing.T) {
	t.Parallel()
	Run(t, Commands, Scripts, CommandsForScripts)
}

// The scripts do what they did where they run as commands.
func TestScriptsRunAsCommands(t *testing.T) {
	t.Parallel()
	Run(t, Accelerated, Scripts, AcceleratedForScripts)
}
