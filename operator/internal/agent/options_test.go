package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOptions(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"none":                             {"", "<nil>"},
		"users":                            {"--auth-dir=/auth --auth-file=/run/auth", "<nil>"},
		"a certificate":                    {"--tls-dir=/tls", "<nil>"},
		"other ports, IPv6":                {"--memcached-address=[::1]:1 --tls-dir=/tls --memcached-tls-address=[::1]:2", "<nil>"},
		"users without a file":             {"--auth-dir=/auth", "--auth-dir and --auth-file require each other"},
		"a file without users":             {"--auth-file=/run/auth", "--auth-dir and --auth-file require each other"},
		"an address outside of the Pod":    {"--memcached-address=10.0.0.1:11211", `--memcached-address "10.0.0.1:11211": set a loopback address`},
		"an address by a name":             {"--memcached-address=localhost:11211", `--memcached-address "localhost:11211"`},
		"no port":                          {"--memcached-address=127.0.0.1", `--memcached-address "127.0.0.1"`},
		"TLS outside of the Pod":           {"--tls-dir=/tls --memcached-tls-address=10.0.0.1:11212", `--memcached-tls-address "10.0.0.1:11212"`},
		"TLS outside of the Pod, not used": {"--memcached-tls-address=10.0.0.1:11212", "<nil>"},
		"slots":                            {"--handoff-file=/run/handoff/handoff", "<nil>"},
		"slots by a relative path":         {"--handoff-file=handoff", `--handoff-file "handoff": set an absolute path`},
		"no time between two looks":        {"--interval=0s", "--interval 0s: set a time such as 2s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options := NewOptions()
			flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
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
