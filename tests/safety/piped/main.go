// Piped becomes another program, whose standard output and error are the pipe
// that is called pipe in the working directory.
package main

import (
	"os"
	"os/exec"
	"syscall"
)

func main() {
	program, err := exec.LookPath(os.Args[1])
	must(err)
	pipe, err := syscall.Open("pipe", syscall.O_WRONLY, 0)
	must(err)
	must(syscall.Dup3(pipe, 1, 0))
	must(syscall.Dup3(pipe, 2, 0))
	must(syscall.Exec(program, os.Args[1:], os.Environ()))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
