package differential

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// patience is how long a server may take to answer.
const patience = 30 * time.Second

// conn is a client's connection. Replies are kept as they stand on the wire,
// since a library's idea of them would hide differences.
type conn struct {
	net.Conn
	from *bufio.Reader

	// pushed is what the server has sent unasked since forget, as words: the
	// invalidation of a key, or a keyspace event. What a step makes the server
	// push to the client that took it may come before its reply or after it,
	// and so, always, in the same place among the replies to its next steps.
	pushed []string
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, from: bufio.NewReader(c)}, nil
}

func (c *conn) forget() { c.pushed = nil }

// do sends commands at once and returns their replies.
func (c *conn) do(commands ...[]string) ([]reply, error) {
	return c.send(encode(commands...), len(commands))
}

// send is do for n commands that are encoded already.
func (c *conn) send(commands []byte, n int) ([]reply, error) {
	c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(commands); err != nil {
		return nil, err
	}
	replies := make([]reply, 0, n)
	for len(replies) < n {
		r, err := c.next()
		if err != nil {
			return nil, err
		}
		replies = append(replies, r)
	}
	return replies, nil
}

func encode(commands ...[]string) []byte {
	var b []byte
	for _, words := range commands {
		b = fmt.Appendf(b, "*%d\r\n", len(words))
		for _, word := range words {
			b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(word), word)
		}
	}
	return b
}

// push words what was pushed. An invalidation can name many keys.
func push(r reply) []string {
	switch r.items[0].text {
	case "pmessage":
		return []string{r.items[2].text + " " + strconv.Quote(r.items[3].text)}
	case "invalidate":
		if r.items[1].items == nil {
			return []string{"invalidate everything"}
		}
		var keys []string
		for _, key := range r.items[1].items {
			keys = append(keys, invalidation(key.text))
		}
		return keys
	}
	return []string{r.String()}
}

func invalidation(key string) string { return "invalidate " + strconv.Quote(key) }

// reply is a reply, or a part of one.
type reply struct {
	kind  byte // its first byte on the wire
	text  string
	items []reply
}

// next reads a reply, or a part of one, and keeps what is pushed before it. 6.0
// pushes amid the replies to EXEC, too.
func (c *conn) next() (reply, error) {
	for {
		r, err := c.read()
		if err != nil || r.kind != '>' {
			return r, err
		}
		c.pushed = append(c.pushed, push(r)...)
	}
}

func (c *conn) read() (reply, error) {
	line, err := c.from.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	r := reply{kind: line[0], text: strings.TrimSuffix(line[1:], "\r\n")}
	switch r.kind {
	case '$', '=', '!':
		n, err := strconv.Atoi(r.text)
		if err != nil || n < 0 { // null in RESP2
			return r, err
		}
		text := make([]byte, n+len("\r\n"))
		_, err = io.ReadFull(c.from, text)
		r.text = string(text[:n])
		return r, err
	case '*', '~', '>', '%':
		n, err := strconv.Atoi(r.text)
		if err != nil || n < 0 {
			return r, err
		}
		if r.kind == '%' {
			n *= 2
		}
		r.items = make([]reply, n)
		for i := range r.items {
			if r.items[i], err = c.next(); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

func (r reply) String() string {
	switch r.kind {
	case '*', '~', '>', '%':
		if r.items == nil { // null, or left out
			return string(r.kind) + r.text
		}
		var items []string
		for _, item := range r.items {
			items = append(items, item.String())
		}
		return string(r.kind) + "[" + strings.Join(items, " ") + "]"
	case ':':
		return r.text
	}
	return string(r.kind) + strconv.Quote(r.text)
}

func (r reply) failed() bool { return r.kind == '-' || r.kind == '!' }

func (r reply) integer() (int64, bool) {
	n, err := strconv.ParseInt(r.text, 10, 64)
	return n, r.kind == ':' && err == nil
}
