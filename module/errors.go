package module

// Error is the reply to a call of c that got the verdict v, or "" where that is
// no refusal. All error texts that a client can see stand here, but for those
// that the server words itself: on a wrong number of arguments, and what
// PEXPIRE answers.
func (c Command) Error(v Verdict) string {
	switch v {
	case WrongType:
		// The server's own (server.c, shared.wrongtypeerr).
		return "WRONGTYPE Operation against a key holding the wrong kind of value"
	case NotInteger:
		// The server's own (object.c, getLongLongFromObjectOrReply).
		return "ERR value is not an integer or out of range"
	case InvalidExpire:
		// The server's own since 7.0 (networking.c, addReplyErrorExpireTime).
		return "ERR invalid expire time in '" + c.Name + "' command"
	case OneKeyTwice:
		return "ERR the two keys of '" + c.Name + "' must differ"
	case Unavailable:
		return "ERR '" + c.Name + "' is unavailable: this server does not run a command that it needs"
	case Panicked:
		return "ERR internal error in '" + c.Name + "' command, the server's log has the details"
	}
	return ""
}
