package discovery

// Limits how many clients are connected at the same time, and chooses which client is disconnected for another one.

import (
	"net"
	"sync"
	"time"
)

// connections is how many clients can be connected at the same time, which limits the memory that they use. A low limit
// is enough, because a client needs only one connection, for a moment each minute.
const connections = 128

// places are the connected clients. If all places are taken, the client that has been silent for longest is
// disconnected, so that an unused connection does not keep another client out.
type places struct {
	free chan struct{} // has an element for each place that is taken

	mu    sync.Mutex
	heard map[net.Conn]time.Time
}

func newPlaces() *places {
	return &places{free: make(chan struct{}, connections), heard: map[net.Conn]time.Time{}}
}

// enter gives a client a place. If no place is free, it disconnects another client, and waits until that client has
// left.
func (p *places) enter(client net.Conn) {
	select {
	case p.free <- struct{}{}:
	default:
		p.dismiss()
		p.free <- struct{}{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard[client] = time.Now()
}

// dismiss disconnects the client that has been silent for longest.
func (p *places) dismiss() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var silent net.Conn
	for client, heard := range p.heard {
		if silent == nil || heard.Before(p.heard[silent]) {
			silent = client
		}
	}
	if silent != nil {
		_ = silent.Close()
		delete(p.heard, silent)
	}
}

// hear records that a client has sent a command.
func (p *places) hear(client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, stays := p.heard[client]; stays {
		p.heard[client] = time.Now()
	}
}

// leave frees the place of a client.
func (p *places) leave(client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.heard, client)
	<-p.free
}
