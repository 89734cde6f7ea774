package main

// #include "bridge.h"
import "C"

import (
	"unsafe"

	"goblin/module"
)

// The compiler refuses an array index that is not 0: each line says that C and
// Go agree.
var (
	goRequest module.Request
	cRequest  C.struct_request
	equal     [1]struct{}

	_ = equal[unsafe.Sizeof(goRequest)-unsafe.Sizeof(cRequest)]
	_ = equal[unsafe.Offsetof(goRequest.Type)-unsafe.Offsetof(cRequest._type)]
	_ = equal[unsafe.Offsetof(goRequest.Held)-unsafe.Offsetof(cRequest.held)]
	_ = equal[unsafe.Offsetof(goRequest.Expected)-unsafe.Offsetof(cRequest.expected)]
	_ = equal[unsafe.Offsetof(goRequest.Ms)-unsafe.Offsetof(cRequest.ms)]
	_ = equal[unsafe.Offsetof(goRequest.MsValid)-unsafe.Offsetof(cRequest.ms_valid)]
	_ = equal[unsafe.Offsetof(goRequest.Now)-unsafe.Offsetof(cRequest.now)]
	_ = equal[unsafe.Offsetof(goRequest.TTL)-unsafe.Offsetof(cRequest.ttl)]
	_ = equal[unsafe.Offsetof(goRequest.SameKeys)-unsafe.Offsetof(cRequest.same_keys)]
	_ = equal[module.NoTTL-C.REDISMODULE_NO_EXPIRE]

	_ = equal[module.EmptyKey-C.REDISMODULE_KEYTYPE_EMPTY]
	_ = equal[module.StringKey-C.REDISMODULE_KEYTYPE_STRING]

	_ = equal[module.Missing-C.MISSING]
	_ = equal[module.Mismatched-C.MISMATCHED]
	_ = equal[module.Renew-C.RENEW]
	_ = equal[module.Remove-C.REMOVE]
	_ = equal[module.Own-C.OWN]
	_ = equal[module.Delegate-C.DELEGATE]
	_ = equal[module.WrongType-C.WRONG_TYPE]
	_ = equal[module.NotInteger-C.NOT_INTEGER]
	_ = equal[module.InvalidExpire-C.INVALID_EXPIRE]
	_ = equal[module.OneKeyTwice-C.ONE_KEY_TWICE]
	_ = equal[module.Unavailable-C.UNAVAILABLE]
	_ = equal[module.Panicked-C.PANICKED]
	_ = equal[module.Verdicts-C.VERDICTS]

	_ = equal[module.StringArg-C.REDISMODULE_ARG_TYPE_STRING]
	_ = equal[module.IntegerArg-C.REDISMODULE_ARG_TYPE_INTEGER]
	_ = equal[module.KeyArg-C.REDISMODULE_ARG_TYPE_KEY]

	_ = equal[module.ReadWrite-C.REDISMODULE_CMD_KEY_RW]
	_ = equal[module.Access-C.REDISMODULE_CMD_KEY_ACCESS]
	_ = equal[module.Update-C.REDISMODULE_CMD_KEY_UPDATE]
	_ = equal[module.Delete-C.REDISMODULE_CMD_KEY_DELETE]
)
