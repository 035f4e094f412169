// Owners prints which server two real clients choose for each of 10,000 keys, a character a key.
//
//	go run ./owners gomemcache 5 11211 >../../operator/clienthash/testdata/CRC32Modulo-5-11211.txt
//	go run ./owners thanos 5 11211 >../../operator/clienthash/testdata/JumpSorted-5-11211.txt
//
// It needs no server. Both resolve the servers first, so these are addresses.
package main

import (
	"fmt"
	"log"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/thanos-io/thanos/pkg/cacheutil"
)

const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

type selector interface {
	SetServers(servers ...string) error
	PickServer(key string) (net.Addr, error)
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: owners gomemcache|thanos COUNT PORT")
	}
	if err := print(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func print(client, size, port string) error {
	var count int
	if _, err := fmt.Sscan(size, &count); err != nil {
		return err
	}
	var choose selector = &memcache.ServerList{}
	if client == "thanos" {
		choose = &cacheutil.MemcachedJumpHashSelector{}
	}
	var servers []string
	for n := range count {
		servers = append(servers, fmt.Sprintf("10.0.0.%d:%s", n, port))
	}
	if err := choose.SetServers(servers...); err != nil {
		return err
	}
	var owners strings.Builder
	for n := range 10000 {
		address, err := choose.PickServer(fmt.Sprintf("user:%d:profile", n))
		if err != nil {
			return err
		}
		owners.WriteByte(digits[slices.Index(servers, address.String())])
		if n%100 == 99 {
			owners.WriteByte('\n')
		}
	}
	fmt.Print(owners.String())
	return nil
}
