package tests

import (
	"testing"

	"goblin/tests/server"

	"github.com/stretchr/testify/assert"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	s := server.New(t)
	assert.Equal(t, "OK", s.Do("SET", "k", "v"))
	assert.Equal(t, int64(1), s.Do("GOBLIN.CAEXPIRE", "k", "v", 1000))
	t.Log(s.Program, s.Do("PTTL", "k"), s.Info("goblin"))
}
