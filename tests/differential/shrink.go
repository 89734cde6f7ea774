package differential

// shrink leaves out steps as long as the program still fails.
func shrink(program Program, fails func(Program) bool) Program {
	for size := len(program.Steps) / 2; size > 0; {
		shorter := false
		for i := len(program.Steps) - size; i >= 0; i -= size {
			if less := program.without(i, i+size); fails(less) {
				program, shorter = less, true
			}
		}
		if !shorter || size > len(program.Steps) {
			size /= 2
		}
	}
	return program
}
