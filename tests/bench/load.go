package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
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
	stretch time.Duration // for how long they do so at a time
	times   int           // how often in a round
}

// A sample is what comes of one stretch.
type sample struct {
	calls, usec float64 // by the server's own account
	elapsed     time.Duration
	latencies   []time.Duration // of each batch
}

// clients are connections that call at the same time.
type clients []*client

type client struct {
	net.Conn
	received  []byte
	latencies []time.Duration
}

// A task is a trial with all that clients send and receive for it: prepared, so
// that they have little to do while the clock runs.
type task struct {
	trial
	shares []share // of each client
}

type share struct {
	locks []int
	calls []batch // with one call for each lock
}

// A batch is what is sent at once, and what must come back.
type batch struct{ request, reply []byte }

// prepare returns the task of a trial. All tasks are about the same locks: which
// one the server finds sooner depends on when it was first taken.
func prepare(t trial, w way) task {
	prepared := task{trial: t}
	order := rand.New(rand.NewPCG(0, 0)).Perm(w.conns * w.locks)
	for locks := range slices.Chunk(order, w.locks) {
		own := share{locks: locks}
		for locks := range slices.Chunk(locks, w.depth) {
			var b batch
			for _, i := range locks {
				b.request, b.reply = t.call(b.request, b.reply, i)
			}
			own.calls = append(own.calls, b)
		}
		prepared.shares = append(prepared.shares, own)
	}
	return prepared
}

// connect returns the clients of a way, even where it fails.
func (s *server) connect(w way) (clients, error) {
	all := make(clients, 0, w.conns)
	for range w.conns {
		conn, err := net.DialTimeout("tcp", s.addr, patience)
		if err != nil {
			return all, err
		}
		// Closed without a trace: thousands that linger would use up the ports.
		conn.(*net.TCPConn).SetLinger(0)
		all = append(all, &client{Conn: conn})
	}
	return all, nil
}

func (all clients) close() {
	for _, c := range all {
		c.Close()
	}
}

// each has every client do its share, all at the same time.
func (all clients) each(t task, do func(*client, share) error) error {
	var group errgroup.Group
	for i, c := range all {
		group.Go(func() error { return do(c, t.shares[i]) })
	}
	return group.Wait()
}

// warmUp takes the locks anew, and goes once through a task. The first comparison
// changes how a value is stored, and a lock that is renewed has most often been
// renewed before.
func (all clients) warmUp(t task) error {
	if err := all.acquire(t); err != nil {
		return err
	}
	return all.each(t, func(c *client, s share) error {
		return c.run(s.calls, false, 0, time.Now().Add(patience))
	})
}

// stretch has a task worked on for a while.
func (s *server) stretch(all clients, t task, w way) (sample, error) {
	if err := all.warmUp(t); err != nil {
		return sample{}, err
	}
	for _, c := range all {
		c.latencies = c.latencies[:0]
	}
	before, err := s.commandStats(t.stat())
	if err != nil {
		return sample{}, err
	}
	var result sample
	for result.elapsed < w.stretch {
		if t.consumes() {
			if err := all.acquire(t); err != nil {
				return sample{}, err
			}
		}
		start := time.Now()
		end := start.Add(w.stretch - result.elapsed)
		err := all.each(t, func(c *client, s share) error {
			return c.run(s.calls, !t.consumes(), w.gap, end)
		})
		if err != nil {
			return sample{}, err
		}
		result.elapsed += time.Since(start)
	}
	after, err := s.commandStats(t.stat())
	if err != nil {
		return sample{}, err
	}
	result.calls, result.usec = after.calls-before.calls, after.usec-before.usec
	for _, c := range all {
		result.latencies = append(result.latencies, c.latencies...)
	}
	return result, nil
}

// acquire takes all locks of a task.
func (all clients) acquire(t task) error {
	return all.each(t, func(c *client, s share) error {
		var b batch
		for locks := range slices.Chunk(s.locks, 64) {
			c.SetDeadline(time.Now().Add(patience))
			b.request, b.reply = b.request[:0], b.reply[:0]
			for _, i := range locks {
				b.request, b.reply = t.acquire(b.request, b.reply, i)
			}
			if err := c.do(b); err != nil {
				return err
			}
		}
		return nil
	})
}

// run makes all calls, and if it may again and again, until end. It makes one
// at least.
func (c *client) run(calls []batch, again bool, gap time.Duration, end time.Time) error {
	c.SetDeadline(end.Add(patience))
	for {
		for _, b := range calls {
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
		return fmt.Errorf("the reply to %.200q was %.200q", b.request, c.received)
	}
	return nil
}
