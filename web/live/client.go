package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"sluice/models"
	"sluice/web/auth"
)

// client is one connection. Its reader takes requests; its writer alone writes.
type client struct {
	server *Server
	conn   *websocket.Conn
	who    auth.Principal
	cancel context.CancelFunc
	gone   chan struct{}

	mu      sync.Mutex
	topics  map[string]*member
	queue   []reply // replies to requests
	closing *closeFrame
	wake    chan struct{}
}

type closeFrame struct {
	code   int
	reason string
}

func (c *client) end(code int, reason string) {
	c.mu.Lock()
	c.closing = &closeFrame{code, reason}
	c.mu.Unlock()
	c.nudge()
}

func (c *client) signedOut() { c.end(CloseSignedOut, "sign in again") }

// known reports whether the client is still who it was; if not, it is closed. A
// database that does not answer says nothing about that.
func (c *client) known(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err := c.server.check(ctx, c.who)
	if errors.Is(err, models.ErrNotFound) {
		c.signedOut()
		return false
	}
	return true
}

func (c *client) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *client) serve(ctx context.Context) {
	defer c.cancel()
	var writer sync.WaitGroup
	writer.Go(func() { c.write(ctx) })
	c.read(ctx)
	c.cancel()
	writer.Wait()
	c.mu.Lock()
	for _, t := range c.topics {
		t.close()
	}
	c.mu.Unlock()
}

func (c *client) read(ctx context.Context) {
	c.conn.SetReadLimit(maxMessage)
	extend := func() error { return c.conn.SetReadDeadline(time.Now().Add(pongTimeout)) }
	if extend() != nil {
		return
	}
	c.conn.SetPongHandler(func(string) error { return extend() })
	for {
		_, data, err := c.conn.ReadMessage()
		if err != nil || extend() != nil {
			return
		}
		var r request
		if err := json.Unmarshal(data, &r); err != nil {
			c.say(reply{Type: "error", Code: "bad_request", Message: "a message is a JSON object with a type"})
			continue
		}
		c.handle(ctx, r)
	}
}

func (c *client) say(r reply) {
	c.mu.Lock()
	c.queue = append(c.queue, r)
	tooMany := len(c.queue) > 1_000
	c.mu.Unlock()
	if tooMany {
		c.cancel() // it asks and does not read
	}
	c.nudge()
}

func (c *client) handle(ctx context.Context, r request) {
	switch r.Type {
	case "ping":
		c.say(reply{Type: "pong"})
	case "subscribe":
		c.subscribe(ctx, r)
	case "unsubscribe":
		c.mu.Lock()
		if t := c.topics[r.Topic]; t != nil {
			t.close()
			delete(c.topics, r.Topic)
		}
		c.mu.Unlock()
	default:
		c.say(reply{Type: "error", Topic: r.Topic, Code: "bad_request", Message: "the type must be subscribe, unsubscribe or ping"})
	}
}

// subscribe opens a topic that the person may read. Foreign and unknown runs get
// the same answer.
func (c *client) subscribe(ctx context.Context, r request) {
	if !c.known(ctx) {
		return
	}
	t, err := c.server.open(ctx, c.who, r, c.nudge)
	switch {
	case errors.Is(err, models.ErrNotFound):
		c.say(reply{Type: "error", Topic: r.Topic, Code: "not_found", Message: "there is no such topic"})
		return
	case err != nil:
		c.server.log.Warn("subscribe failed", "topic", r.Topic, "err", err)
		c.say(reply{Type: "error", Topic: r.Topic, Code: "unavailable", Message: "the topic can't be read now"})
		return
	}
	c.mu.Lock()
	if old := c.topics[r.Topic]; old != nil {
		old.close()
	}
	full := len(c.topics) >= maxTopics && c.topics[r.Topic] == nil
	if !full {
		c.topics[r.Topic] = t
	}
	c.mu.Unlock()
	if full {
		t.close()
		c.say(reply{Type: "error", Topic: r.Topic, Code: "bad_request", Message: "too many topics"})
		return
	}
	c.nudge()
}

// write sends what has come up. Rooms see to it that this is not too often.
func (c *client) write(ctx context.Context) {
	defer c.conn.Close()
	defer c.cancel()
	ping := time.NewTicker(c.server.pings)
	defer ping.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			if !c.ping(ctx) {
				return
			}
		case <-c.wake:
			for more := true; more; {
				var err error
				if more, err = c.flush(ctx); err != nil {
					c.giveUp(err)
					return
				}
				select {
				case <-ctx.Done():
					return
				case <-ping.C:
					if !c.ping(ctx) {
						return
					}
				default:
				}
			}
		}
	}
}

func (c *client) ping(ctx context.Context) bool {
	c.known(ctx)
	return c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout)) == nil
}

// giveUp ends the connection after an error, with a word where it can still be heard.
func (c *client) giveUp(err error) {
	if _, ok := errors.AsType[storeError](err); !ok {
		return
	}
	c.server.log.Warn("live client", "err", err)
	c.sayClose(closeFrame{websocket.CloseTryAgainLater, "the database does not answer"})
}

// errEnded ends a connection that has been told why.
var errEnded = errors.New("the connection is ended")

// flush writes replies and what is due of each topic; more tells that some have more.
func (c *client) flush(ctx context.Context) (more bool, err error) {
	c.mu.Lock()
	out, closing := c.queue, c.closing
	c.queue = nil
	topics := slices.Collect(maps.Values(c.topics))
	c.mu.Unlock()
	for i := range out {
		if err := send(c.conn, out[i]); err != nil {
			return false, err
		}
	}
	if closing != nil {
		c.sayClose(*closing)
		return false, errEnded
	}
	for _, t := range topics {
		again, err := t.step(ctx, c.conn)
		if err != nil {
			return false, err
		}
		more = more || again
	}
	return more, nil
}

func (c *client) sayClose(f closeFrame) {
	message := websocket.FormatCloseMessage(f.code, f.reason)
	_ = c.conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeTimeout)) // it ends either way
}

// deadline gives a message of a size the time that it takes over a slow line.
func deadline(conn *websocket.Conn, size int) error {
	d := writeTimeout + time.Duration(size)*time.Second/slowest
	if err := conn.SetWriteDeadline(time.Now().Add(d)); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	return nil
}
