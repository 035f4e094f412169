package main

import (
	"context"
	"log"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
)

// Follow connects by the names of the slots, such as "shop-0.shop-slots.team.svc:11211", and resolves them again every
// second, because gomemcache resolves names only when its list of servers is set.
func Follow(ctx context.Context, servers []string) (*memcache.Client, error) {
	var list memcache.ServerList
	if err := list.SetServers(servers...); err != nil {
		return nil, err
	}
	go func() {
		for ctx.Err() == nil {
			time.Sleep(time.Second)
			if err := list.SetServers(servers...); err != nil {
				log.Print(err) // The last addresses stay: a DNS failure says nothing about the servers.
			}
		}
	}()
	client := memcache.NewFromSelector(&list)
	client.Timeout = 500 * time.Millisecond
	return client, nil
}
