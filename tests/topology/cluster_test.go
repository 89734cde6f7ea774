package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"goblin/tests/server"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const slots = 16384

// node is a master of a cluster.
type node struct {
	*server.Server
	id          string
	first, last int // of the slots that it starts with
}

// cluster starts a cluster of masters that share the slots evenly, in order.
func cluster(t *testing.T, masters int) []node {
	t.Helper()
	nodes := make([]node, masters)
	for i := range nodes {
		s := server.New(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "10000")
		s.Expect("Cluster state changed|Cluster is currently down|configEpoch|IP address for this node updated")
		n := node{s, s.Do("CLUSTER", "MYID").(string), slots * i / masters, slots*(i+1)/masters - 1}
		nodes[i] = n
		add := []any{"CLUSTER", "ADDSLOTS"}
		for slot := n.first; slot <= n.last; slot++ {
			add = append(add, slot)
		}
		require.Equal(t, "OK", s.Do(add...))
		require.Equal(t, "OK", s.Do("CLUSTER", "SET-CONFIG-EPOCH", i+1))
	}
	for _, n := range nodes[1:] {
		require.Equal(t, "OK", n.Do("CLUSTER", "MEET", "127.0.0.1", nodes[0].Port))
	}
	for _, n := range nodes {
		n.Until("the node sees the whole cluster", func() bool {
			info := n.Do("CLUSTER", "INFO").(string)
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", masters)) &&
				!strings.Contains(n.Do("CLUSTER", "NODES").(string), "handshake")
		})
	}
	return nodes
}

// tally counts, by their first word, the errors that the nodes of a cluster
// reply to a client.
type tally struct {
	sync.Mutex
	errors map[string]int
}

func (*tally) DialHook(next redis.DialHook) redis.DialHook { return next }

func (tally *tally) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		tally.add(err)
		return err
	}
}

func (tally *tally) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			tally.add(cmd.Err())
		}
		return err
	}
}

func (tally *tally) add(err error) {
	if err != nil {
		word, _, _ := strings.Cut(err.Error(), " ")
		tally.Lock()
		tally.errors[word]++
		tally.Unlock()
	}
}

func (tally *tally) count(word string) int {
	tally.Lock()
	defer tally.Unlock()
	return tally.errors[word]
}

// until waits until clients have been replied an error once more.
func (tally *tally) until(t *testing.T, word string) {
	t.Helper()
	before := tally.count(word)
	server.Until(t, "a client is replied "+word, func() bool { return tally.count(word) > before })
}

// Leases stay with their holders while the slot that they are in is moved from
// node to node, and clients that know nothing of it go on.
func TestCluster(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 3)
	tally := &tally{errors: map[string]int{}}
	connect := func(slots func(context.Context) ([]redis.ClusterSlot, error)) *redis.ClusterClient {
		client := redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: []string{nodes[0].Addr()}, ClusterSlots: slots, MaxRedirects: 10, DisableIdentity: true,
			NewClient: func(options *redis.Options) *redis.Client {
				client := redis.NewClient(options)
				client.AddHook(tally)
				return client
			},
		})
		t.Cleanup(func() { client.Close() })
		return client
	}
	client := connect(nil)
	// One that never hears of a change, and so is redirected each time.
	var layout []redis.ClusterSlot
	for _, n := range nodes {
		layout = append(layout, redis.ClusterSlot{Start: n.first, End: n.last, Nodes: []redis.ClusterNode{{Addr: n.Addr()}}})
	}
	stale := connect(func(context.Context) ([]redis.ClusterSlot, error) { return layout, nil })

	const tag = "{tag}"
	slot := nodes[0].Do("CLUSTER", "KEYSLOT", tag).(int64)
	at := slices.IndexFunc(nodes, func(n node) bool { return int(slot) <= n.last })
	idle := numbered(tag+"idle", 10)
	for i, key := range idle {
		acquire(t, client, key, "token")
		require.Equal(t, renewed, renew(client, key, "token", lease+i))
	}

	t.Run("redirected as others are", func(t *testing.T) {
		stranger := nodes[(at+1)%3]
		assert.Contains(t, renew(stranger.Client, idle[0], "token", 1), "MOVED")
		assert.Equal(t, stranger.Do("PEXPIRE", idle[0], 1), renew(stranger.Client, idle[0], "token", 1))
		assert.Equal(t, stranger.Do("DEL", idle[0]), release(stranger.Client, idle[0], "token"))
	})

	// Holders, each with its own locks, that never pause.
	var holders sync.WaitGroup
	holding, stop := context.WithCancel(ctx)
	defer holders.Wait()
	defer stop()
	for h, client := range []*redis.ClusterClient{client, client, stale} {
		kept, passing := fmt.Sprint(tag, "kept:", h), fmt.Sprint(tag, "passing:", h)
		acquire(t, client, kept, "token")
		holders.Go(func() {
			for holding.Err() == nil {
				ok := assert.Equal(t, renewed, renew(client, kept, "token", lease)) &&
					assert.Equal(t, lost, renew(client, kept, "wrong", 1)) &&
					assert.Equal(t, lost, release(client, kept, "wrong")) &&
					assert.Equal(t, "OK", server.Do(client, "SET", passing, "token", "NX", "PX", lease)) &&
					assert.Equal(t, renewed, renew(client, passing, "token", lease)) &&
					assert.Equal(t, released, release(client, passing, "token"))
				if !ok {
					return
				}
			}
		})
	}

	for range 2 {
		from, to := nodes[at], nodes[(at+1)%3]
		before, began := deadlines(from.Server, idle), time.Now()
		require.Equal(t, "OK", to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", from.id))
		require.Equal(t, "OK", from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id))
		for {
			keys := from.Do("CLUSTER", "GETKEYSINSLOT", slot, 3).([]any)
			if len(keys) == 0 {
				break
			}
			migrate := append([]any{"MIGRATE", "127.0.0.1", to.Port, "", 0, 5000, "KEYS"}, keys...)
			require.Contains(t, []any{"OK", "NOKEY"}, from.Do(migrate...)) // none, if they were released just now
		}
		tally.until(t, "ASK")
		for _, n := range []node{to, from, nodes[(at+2)%3]} {
			require.Equal(t, "OK", n.Do("CLUSTER", "SETSLOT", slot, "NODE", to.id))
		}
		tally.until(t, "MOVED")
		// MIGRATE sends how long to keep a key, and the receiver counts from then.
		took := time.Since(began).Milliseconds()
		for key, deadline := range deadlines(to.Server, idle) {
			assert.GreaterOrEqual(t, deadline, before[key]-int64(to.Slack())-1, key)
			assert.LessOrEqual(t, deadline, before[key]+int64(to.Slack())+took, key)
		}
		at = (at + 1) % 3
	}
	stop()
	holders.Wait()
	assert.Zero(t, tally.count("TRYAGAIN"))
	assert.Zero(t, tally.count("CLUSTERDOWN"))
	for _, key := range idle {
		assert.Equal(t, released, release(client, key, "token"))
	}
	assert.Equal(t, int64(3), nodes[at].Do("DBSIZE"), "what is kept")

	t.Run("a node without the module", func(t *testing.T) {
		bare := nodes[at]
		bare.Do("CLIENT", "KILL", "TYPE", "normal") // the holders, who called the module last
		bare.Unload()
		assert.Contains(t, renew(client, tag+"kept:0", "token", lease), "ERR unknown command")
		assert.Contains(t, release(client, tag+"kept:0", "token"), "ERR unknown command")
		assert.Equal(t, "token", server.Do(client, "GET", tag+"kept:0"))
	})
}

// A slot that goes, or sets out to, while a transaction runs takes the server's
// own commands with it. A call that needs one changes nothing and says so.
func TestSlotGoes(t *testing.T) {
	t.Parallel()
	nodes := cluster(t, 2)
	s, other := nodes[0], nodes[1]
	const key, owner = "{2}lock", "{2}owner"
	slot := s.Do("CLUSTER", "KEYSLOT", key).(int64)
	require.LessOrEqual(t, int(slot), s.last)
	require.Equal(t, "OK", s.Do("CONFIG", "SET", "cluster-require-full-coverage", "no"))
	deleted, added := []any{"CLUSTER", "DELSLOTS", slot}, []any{"CLUSTER", "ADDSLOTS", slot}
	migrating, stable := []any{"CLUSTER", "SETSLOT", slot, "MIGRATING", other.id}, []any{"CLUSTER", "SETSLOT", slot, "STABLE"}
	for _, test := range []struct {
		command    string
		call       []any
		goes, back []any
	}{
		{"ownexpire", []any{"GOBLIN.OWNEXPIRE", key, owner, "me", 2 * lease}, migrating, stable},
		{"ownexpire", []any{"GOBLIN.OWNEXPIRE", key, owner, "me", 2 * lease}, deleted, added},
		{"caexpire", []any{"GOBLIN.CAEXPIRE", key, "token", 0}, deleted, added},
	} {
		refused := s.Count("goblin", "goblin_"+test.command+"_refused")
		require.Equal(t, "OK", s.Do("SET", key, "token", "PX", lease))
		conn := s.Session()
		for _, call := range [][]any{{"MULTI"}, test.goes, test.call, test.back} {
			require.Contains(t, []any{"OK", "QUEUED"}, server.Do(conn, call...))
		}
		assert.Equal(t, fmt.Sprintf("[OK ERR 'goblin.%s' is unavailable: this server does not run a command that it needs OK]",
			test.command), fmt.Sprint(server.Do(conn, "EXEC")))
		assert.Equal(t, "token", s.Do("GET", key))
		left, _ := s.Do("PTTL", key).(int64)
		assert.True(t, left > 0 && left <= lease, left)
		assert.Nil(t, s.Do("GET", owner))
		assert.Equal(t, refused+1, s.Count("goblin", "goblin_"+test.command+"_refused"))
	}
	assert.Zero(t, s.Count("goblin", "goblin_ownexpire_set"))
	assert.Zero(t, s.Count("goblin", "goblin_caexpire_renewed"))
}
