package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/example-inc/memcached-operator/operator/clienthash"
	"github.com/example-inc/memcached-operator/operator/cmd/snapshot/bucket"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/peer"
	"github.com/example-inc/memcached-operator/operator/internal/agent/snapshot"
)

// options are the flags of all commands.
type options struct {
	place, placeFlag string // the bucket, and the flag that names it
	name, cache      string
	owner            string
	servers          []string
	hash             clienthash.Algorithm
	bytesPerSecond   int64
	tlsDir, authDir  string
	tlsName          string // name in the certificates of all servers; empty: the host in each server's address
	once             bool
	output           string
	resultFile       string

	list []snapshot.Server // the servers as the flags describe them
}

func (o *options) addSave(flags *pflag.FlagSet) {
	o.addPlace(flags, "to")
	flags.StringVar(&o.name, "name", "",
		"Name of the snapshot. The default is the name of the cache with the time, such as CACHE-20261127T120000Z.")
	flags.StringVar(&o.cache, "cache", "", "Name of the cache.")
	flags.StringVar(&o.owner, "owner", "", "`ID` of the owner for whom the snapshot is made, if other owners may choose "+
		"the same name for a snapshot: any text, such as the UID of an object.")
	flags.BoolVar(&o.once, "once", false, "If a whole snapshot with the same name and owner exists, report it as "+
		"saved instead of failing. This is for a Job that tries again. Without --owner, the cache and the servers must "+
		"be the same instead.")
	o.addServers(flags, "Repeat it for all servers of the cache, in the order in which clients list them.")
}

func (o *options) addRestore(flags *pflag.FlagSet) {
	o.addVerify(flags)
	o.addServers(flags, "Repeat it for all servers of the cache. With --client-hash, give the servers in the same "+
		"order and with the same addresses as your clients do, because the server of a key is computed from them.")
	flags.StringVar((*string)(&o.hash), "client-hash", "", "Hash by which clients choose a server, as in "+
		"spec.slots.clientHash: "+hashes()+". Without it, each server gets the keys that the server with the same name had.")
}

func (o *options) addVerify(flags *pflag.FlagSet) {
	o.addPlace(flags, "from")
	flags.StringVar(&o.name, "name", "", "Name of the snapshot.")
}

func (o *options) addPlace(flags *pflag.FlagSet, flag string) {
	o.placeFlag = "--" + flag
	flags.StringVar(&o.place, flag, "", "The bucket: "+bucket.Forms+".")
}

func (o *options) addServers(flags *pflag.FlagSet, repeat string) {
	const rate = 16 << 20
	flags.StringArrayVar(&o.servers, "server", nil, "A server as `NAME=HOST:PORT`, with the name of its slot. "+repeat)
	flags.Int64Var(&o.bytesPerSecond, "bytes-per-second", rate, "Limit of the bytes of keys and values per second; 0 "+
		"means no limit.")
	flags.StringVar(&o.tlsDir, "tls-dir", "", "Folder with the Secret by which the servers are verified: ca.crt and, "+
		"for mutual TLS, tls.crt and tls.key. Without it, the program connects without TLS.")
	flags.StringVar(&o.tlsName, "tls-server-name", "", "Name that the certificates of all servers must have. Without "+
		"it, the certificate of each server must have the host in the --server of this server.")
	flags.StringVar(&o.authDir, "auth-dir", "", "Folder with the Secret that has a user of the servers: username and "+
		"password, or users. Without it, the program does not log in.")
}

var errStopped = errors.New("a signal stopped the command before it was finished: run it again")

// action performs a command.
type action func(context.Context, *bucket.Bucket, *printer) (result, error)

func (o *options) command(use, short string, add func(*pflag.FlagSet), do action) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if err := o.validate(c.Flags()); err != nil {
				return err
			}
			store, err := bucket.Open(c.Context(), o.place)
			if err != nil {
				return fmt.Errorf("%s: %w", o.placeFlag, err)
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			p := &printer{out: c.OutOrStdout(), progress: c.ErrOrStderr(), json: o.output == "json"}
			began := time.Now()
			r, err := do(c.Context(), store, p)
			if err != nil && c.Context().Err() != nil {
				return errStopped // All other errors are consequences of the stop.
			}
			if err != nil {
				return err
			}
			r.Seconds = time.Since(began).Seconds()
			return errors.Join(p.print(r), r.writeTo(o.resultFile))
		},
	}
	add(command.Flags())
	command.Flags().StringVarP(&o.output, "output", "o", "text",
		"Format of the result that is printed at the end: text or json.")
	command.Flags().StringVar(&o.resultFile, "result-file", "",
		"File to which the result is also written, as JSON, such as the file for the termination message of a container.")
	return command
}

func (o *options) validate(flags *pflag.FlagSet) error {
	if o.place == "" {
		return fmt.Errorf("%s is missing: write %s", o.placeFlag, bucket.Forms)
	}
	if o.output != "text" && o.output != "json" {
		return fmt.Errorf("--output %q: write text or json", o.output)
	}
	if o.name == "" && o.cache != "" {
		o.name = o.cache + time.Now().UTC().Format("-20060102T150405Z")
	}
	if err := snapshot.ValidateName(o.name); err != nil {
		return fmt.Errorf("--name %w", err)
	}
	if o.bytesPerSecond < 0 {
		return fmt.Errorf("--bytes-per-second %d: write 0 for no limit, or a positive number", o.bytesPerSecond)
	}
	if o.hash != "" && !slices.Contains(clienthash.Algorithms, o.hash) {
		return fmt.Errorf("--client-hash %q: write one of %s", o.hash, hashes())
	}
	if flags.Lookup("server") == nil {
		return nil
	}
	return o.parseServers()
}

func (o *options) parseServers() error {
	if len(o.servers) == 0 {
		return errors.New("--server is missing: write it for each server, such as " +
			"--server=shop-0=shop-0.shop-slots.team.svc:11211")
	}
	var config peer.Configure
	if o.tlsDir != "" {
		config = func(host string) (*tls.Config, error) { return mounted.Client(o.tlsDir, cmp.Or(o.tlsName, host)) }
	}
	for _, server := range o.servers {
		name, address, _ := strings.Cut(server, "=")
		host, port, err := net.SplitHostPort(address)
		number, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || portErr != nil || host == "" || number == 0 {
			return fmt.Errorf("--server %q: write NAME=HOST:PORT, such as shop-0=shop-0.shop-slots.team.svc:11211", server)
		}
		if err := snapshot.ValidateName(name); err != nil {
			return fmt.Errorf("--server %w", err)
		}
		if slices.ContainsFunc(o.list, func(s snapshot.Server) bool { return s.Name == name || s.Address == address }) {
			return fmt.Errorf("--server %q: its name or its address is set twice", server)
		}
		o.list = append(o.list, snapshot.Server{
			Name: name, Address: address, Dial: peer.Dialer(address, o.authDir, config),
		})
	}
	return nil
}

func hashes() string {
	var all []string
	for _, algorithm := range clienthash.Algorithms {
		all = append(all, string(algorithm))
	}
	return strings.Join(all, ", ")
}
