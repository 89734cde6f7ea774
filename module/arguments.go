package module

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Accelerated reads the load arguments, and returns the scripts that they ask
// to run as commands, ordered by digest. The arguments come in pairs:
//
//	accelerate known               the scripts that are listed here
//	accelerate SHA1=cad|caexpire   one of the user's own, sent by EVALSHA
//
// There are no others. Without any, nothing is accelerated.
func Accelerated(args []string) ([]Script, error) {
	var chosen []Script
	for pair := range slices.Chunk(args, 2) {
		switch {
		case pair[0] != "accelerate":
			return nil, fmt.Errorf("unknown load argument %.80q: the only one is accelerate", pair[0])
		case len(pair) == 1:
			return nil, errors.New("load argument accelerate needs a value: known, or SHA1=cad or SHA1=caexpire")
		case pair[1] == "known":
			chosen = append(chosen, Scripts()...)
		default:
			script, err := ownScript(pair[1])
			if err != nil {
				return nil, err
			}
			chosen = append(chosen, script)
		}
	}
	// One that is known comes before the user's own, of which less is known.
	slices.SortFunc(chosen, func(a, b Script) int {
		return cmp.Or(cmp.Compare(a.SHA1, b.SHA1), cmp.Compare(b.Length, a.Length))
	})
	for i, script := range chosen[min(1, len(chosen)):] {
		if before := chosen[i]; script.SHA1 == before.SHA1 && script.Command != before.Command {
			return nil, fmt.Errorf("script %s cannot be both %s and %s", script.SHA1, before.Command, script.Command)
		}
	}
	return slices.CompactFunc(chosen, func(a, b Script) bool { return a.SHA1 == b.SHA1 }), nil
}

func ownScript(value string) (Script, error) {
	sha1, command, _ := strings.Cut(value, "=")
	script := Script{SHA1: strings.ToLower(sha1), Command: Name + "." + command}
	if digest, err := hex.DecodeString(sha1); err != nil || len(digest) != 20 {
		return Script{}, fmt.Errorf("accelerate %.80q: %.80q is no SHA-1 digest, 40 digits in hexadecimal", value, sha1)
	}
	if script.Command != cad.Name && script.Command != caexpire.Name {
		return Script{}, fmt.Errorf("accelerate %.80q: a script can be run as cad or as caexpire", value)
	}
	return script, nil
}
