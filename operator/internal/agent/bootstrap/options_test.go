package bootstrap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOptions(t *testing.T) {
	const lists = "--from=10.0.0.1:11211 --from=10.0.0.2:11211 --from-hash=Ketama --to=shop-0:11211 --to-hash=Rendezvous "
	tests := map[string]struct{ args, want string }{
		"two lists":              {lists, "<nil>"},
		"IPv6":                   {"--from=[fd00::1]:11211 --from-hash=Ketama --to=shop-0:11211 --to-hash=Ketama", "<nil>"},
		"all of them":            {lists + "--tls-dir=/tls --client-ca --auth-dir=/auth --from-tls-dir=/a --from-auth-dir=/b --bytes-per-second=1 --phase-file=/run/c --state-file=/run/s", "<nil>"},
		"nothing to copy from":   {"--to=shop-0:11211 --to-hash=Ketama", "--from is missing: set it once for each server"},
		"nothing to copy to":     {"--from=10.0.0.1:11211 --from-hash=Ketama", "--to is missing: set it once for each server"},
		"no port":                {lists + "--from=10.0.0.3", `--from "10.0.0.3": set HOST:PORT`},
		"no host":                {lists + "--to=:11211", `--to ":11211": set HOST:PORT`},
		"a port that is none":    {lists + "--to=a:0", `--to "a:0": set HOST:PORT`},
		"a port by its name":     {lists + "--to=a:memcache", `--to "a:memcache": set HOST:PORT`},
		"a server twice":         {lists + "--from=10.0.0.1:11211", `--from "10.0.0.1:11211" is set twice`},
		"a server on both sides": {lists + "--to=10.0.0.1:11211", `--from "10.0.0.1:11211": --to has the same server`},
		"an unknown hash":        {lists + "--from-hash=Maglev", `--from-hash "Maglev": set one of Ketama, CRC32Modulo, JumpSorted, Rendezvous`},
		"no hash":                {lists + "--to-hash=", `--to-hash "": set one of Ketama`},
		"a negative limit":       {lists + "--bytes-per-second=-1", "--bytes-per-second -1: set 0 for no limit"},
		"a relative path":        {lists + "--phase-file=cutover", `--phase-file "cutover": set an absolute path`},
		"a relative state":       {lists + "--state-file=state", `--state-file "state": set an absolute path`},
		"CAs without TLS":        {lists + "--client-ca", "--client-ca needs --tls-dir"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			flags := pflag.NewFlagSet("bootstrap", pflag.ContinueOnError)
			options.AddFlags(flags)
			if err := flags.Parse(strings.Fields(tc.args)); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(options.Validate()); !strings.HasPrefix(got, tc.want) {
				t.Errorf("error %s, want %s", got, tc.want)
			}
		})
	}
}
