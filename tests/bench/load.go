package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// A way is how clients call the server.
type way struct {
	name    string
	conns   int           // connections that call at the same time
	depth   int           // calls that each sends before it reads the replies
	gap     time.Duration // from a reply to the next call
	locks   int           // that each works on, in random order
	stretch time.Duration // how long that is kept up
}

// measure has a trial called in a way and returns the figures.
func (s *server) measure(t trial, w way) (figures, error) {
	clients, err := s.connect(t, w)
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	if err != nil {
		return figures{}, err
	}

	// Once around before it counts. The first comparison changes how a value is
	// stored, and a lock that is renewed has most often been renewed before.
	if err := each(clients, (*client).acquire); err != nil {
		return figures{}, err
	}
	if err := each(clients, (*client).warmUp); err != nil {
		return figures{}, err
	}
	runtime.GC() // and then none for a while

	before, err := s.commandStats(t.stat())
	if err != nil {
		return figures{}, err
	}
	var elapsed time.Duration
	for elapsed < w.stretch {
		if t.consumes() {
			if err := each(clients, (*client).acquire); err != nil {
				return figures{}, err
			}
		}
		start := time.Now()
		end := start.Add(w.stretch - elapsed)
		if err := each(clients, func(c *client) error { return c.run(!t.consumes(), w.gap, end) }); err != nil {
			return figures{}, err
		}
		elapsed += time.Since(start)
	}
	after, err := s.commandStats(t.stat())
	if err != nil {
		return figures{}, err
	}

	var latencies []time.Duration
	for _, c := range clients {
		latencies = append(latencies, c.latencies...)
	}
	slices.Sort(latencies)
	calls := after.calls - before.calls
	return figures{
		serverTime: (after.usec - before.usec) / calls,
		rate:       calls / elapsed.Seconds(),
		p50:        percentile(latencies, 0.5),
		p99:        percentile(latencies, 0.99),
		p999:       percentile(latencies, 0.999),
	}, nil
}

// A client is a connection with its share of the locks. Requests and replies
// stand ready, so that it has little to do while the clock runs.
type client struct {
	net.Conn
	trial     trial
	locks     []int
	calls     []batch // one call for each lock
	received  []byte
	latencies []time.Duration // of each batch
}

// A batch is what is sent at once, and what must come back.
type batch struct{ request, reply []byte }

// connect returns the clients of a way, even where it fails.
func (s *server) connect(t trial, w way) ([]*client, error) {
	clients := make([]*client, 0, w.conns)
	order := rand.New(rand.NewPCG(0, 0)).Perm(w.conns * w.locks)
	for locks := range slices.Chunk(order, w.locks) {
		conn, err := net.DialTimeout("tcp", s.addr, patience)
		if err != nil {
			return clients, err
		}
		// Closed without a trace: thousands that linger would use up the ports.
		conn.(*net.TCPConn).SetLinger(0)
		c := &client{Conn: conn, trial: t, locks: locks}
		clients = append(clients, c)
		for locks := range slices.Chunk(locks, w.depth) {
			var b batch
			for _, i := range locks {
				b.request, b.reply = t.call(b.request, b.reply, i)
			}
			c.calls = append(c.calls, b)
		}
	}
	return clients, nil
}

// acquire takes all locks of the client.
func (c *client) acquire() error {
	c.SetDeadline(time.Now().Add(patience))
	var b batch
	for locks := range slices.Chunk(c.locks, 64) {
		b.request, b.reply = b.request[:0], b.reply[:0]
		for _, i := range locks {
			b.request, b.reply = c.trial.acquire(b.request, b.reply, i)
		}
		if err := c.do(b); err != nil {
			return err
		}
	}
	return nil
}

// warmUp calls once on each lock.
func (c *client) warmUp() error {
	err := c.run(false, 0, time.Now().Add(patience))
	c.latencies = c.latencies[:0]
	return err
}

// run calls on each lock, and if it may again and again, until end. There is
// one call at least.
func (c *client) run(again bool, gap time.Duration, end time.Time) error {
	c.SetDeadline(end.Add(patience))
	for {
		for _, b := range c.calls {
			time.Sleep(gap)
			start := time.Now()
			if err := c.do(b); err != nil {
				return err
			}
			done := time.Now()
			c.latencies = append(c.latencies, done.Sub(start))
			if done.After(end) {
				return nil
			}
		}
		if !again {
			return nil
		}
	}
}

func (c *client) do(b batch) error {
	if _, err := c.Write(b.request); err != nil {
		return err
	}
	c.received = slices.Grow(c.received[:0], len(b.reply))[:len(b.reply)]
	if _, err := io.ReadFull(c, c.received); err != nil {
		return err
	}
	if !bytes.Equal(c.received, b.reply) {
		return fmt.Errorf("%s: the reply was %.80q", c.trial, c.received)
	}
	return nil
}

// each has all clients do the same at the same time.
func each(clients []*client, do func(*client) error) error {
	var group errgroup.Group
	for _, c := range clients {
		group.Go(func() error { return do(c) })
	}
	return group.Wait()
}
