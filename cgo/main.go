// Package main is where the server and Go meet. It builds the library that the
// server loads: OnLoad tells the server of every command in package module, and
// the bridge, in C, answers their calls. It knows mechanisms (open, compare,
// expire, delete, reply) and no command by name.
//
// A call goes this way:
//
//	RedisModule_OnLoad   onload.go    gives the server a C function for each command
//	call                 bridge.c     gathers a module.Request
//	Command.Decide       ../module    decides; entered as entry.go says
//	call                 bridge.c     carries the module.Verdict out and replies
package main

/*
#cgo CFLAGS: -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Werror
#cgo LDFLAGS: -Wl,-z,relro -Wl,-z,now
*/
import "C"

// main is never called: a library's entry is RedisModule_OnLoad.
func main() {}
