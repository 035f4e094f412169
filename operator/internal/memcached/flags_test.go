package memcached

import (
	"strings"
	"testing"
)

func TestCheckArgumentsRefusesWhatIsManaged(t *testing.T) {
	tests := map[string]struct {
		arguments []string
		want      string
	}{
		"a letter":                               {[]string{"-m", "100"}, `"-m" sets memcached's --memory-limit: set spec.memory instead`},
		"a letter with its value joined":         {[]string{"-c2048"}, "set spec.maxConnections instead"},
		"letters that stand together":            {[]string{"-vvd"}, "--daemon"},
		"a name":                                 {[]string{"--threads", "9"}, "set spec.threads instead"},
		"a name with its value joined":           {[]string{"--max-item-size=2m"}, "set spec.maxItemSize instead"},
		"a shortened name":                       {[]string{"--memory-l=9"}, "--memory-limit"},
		"a name so short that it is ambiguous":   {[]string{"--enable-s"}, "--enable-"},
		"the port":                               {[]string{"-v", "-p", "1"}, "--port"},
		"the address":                            {[]string{"-l", "0.0.0.0"}, "--listen"},
		"the shutdown command":                   {[]string{"-A"}, "any client could stop memcached"},
		"TLS by an extended option":              {[]string{"-o", "modern,ssl_chain_cert=/x"}, "encryption"},
		"TLS by an extended option, joined":      {[]string{"-ossl_key=/x"}, "encryption"},
		"TLS by the long extended option":        {[]string{"--extended=ssl_key=/x"}, "encryption"},
		"TLS by an extended option after blanks": {[]string{"-o", " \tssl_key=/x"}, "encryption"},
		"a proxy":                                {[]string{"-o", "proxy_config=/x.lua"}, `"-o" sets proxy_config: the operator runs memcached as a cache, not as a proxy`},
		"a proxy's argument, among others":       {[]string{"-o", "modern,proxy_arg=x,lru_crawler"}, "sets proxy_arg"},
		"a proxy, joined":                        {[]string{"-oproxy_config=/x.lua"}, "sets proxy_config"},
		"a proxy, by the long name, shortened":   {[]string{"--ext=proxy_config=/x.lua"}, "sets proxy_config"},
		"a proxy, in the next argument":          {[]string{"--extended", "proxy_config=/x.lua"}, "sets proxy_config"},
		"a file for items":                       {[]string{"-o", "ext_path=/data/store:1G"}, "sets ext_path: the container's file system is read-only"},
		"an option of such a file":               {[]string{"-o", "ext_threads=9"}, "sets ext_threads"},
		"large items in one chunk":               {[]string{"-o", "no_chunked_items"}, "spec.maxItemSize needs the option's default"},
		"the defaults of memcached 1.4":          {[]string{"-o", "no_modern"}, "spec.maxItemSize needs the option's default"},
		"a filter of system calls":               {[]string{"-o", "drop_privileges"}, "memcached could not reload users"},
		"an unknown extended option":             {[]string{"-o", "modern,sock_cookie_id=1"}, "sets sock_cookie_id: the operator does not know this extended option of memcached 1.6"},
		"a blank between extended options":       {[]string{"-o", "modern, lru_crawler"}, `sets  lru_crawler`},
		"an extended option, shortened":          {[]string{"-o", "hashpow=20"}, "sets hashpow"},
		"after a delimiter of prefixes":          {[]string{"-D", ":", "-m", "1"}, "--memory-limit"},
		"the chunk of large items":               {[]string{"-o", "modern,slab_chunk_max=9"}, "spec.maxItemSize needs the option's default"},
		"a protocol that the agent can't speak":  {[]string{"-B", "binary"}, `"-B" sets memcached's --protocol to "binary"`},
		"a protocol, by its long name":           {[]string{"--proto=auto"}, "use the text protocol; remove it"},
		"the end of options":                     {[]string{"--", "x"}, "remove it"},
		"after a value that looks like none":     {[]string{"-f", "-1", "-m", "1"}, "--memory-limit"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := CheckArguments(tc.arguments)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%q: got %v, want an error with %q", tc.arguments, err, tc.want)
			}
		})
	}
}

func TestCheckArgumentsLetsTheRestThrough(t *testing.T) {
	for _, arguments := range [][]string{
		nil, {"-v"}, {"-vv"}, {"-M"}, {"-f", "1.08"}, {"-f1.08"}, {"--slab-growth-factor=1.08"}, {"-o", "modern,no_lru_crawler"},
		{"-o", "hashpower=20,no_hashexpand,idle_timeout=60"}, {"-o", "no_drop_privileges,"}, {"-o", " modern"}, {"-vD-"}, {"-D", "-m"},
		{"-f", "-m"}, {"-D", "--"}, {"--protocol", "ascii"}, {"-B", "ascii", "-F"}, {"--some-new-option"}, {"-9"}, {"-"}, {"word"},
	} {
		if err := CheckArguments(arguments); err != nil {
			t.Errorf("%q: %v", arguments, err)
		}
	}
}

func TestCheckSlots(t *testing.T) {
	const always, never = "or remove spec.slots", "set spec.slots.handoff.mode to Never"
	tests := map[string]struct {
		arguments []string
		want      string // the fix; empty if nothing is wrong
	}{
		"nothing":                     {nil, ""},
		"what slots can do with":      {[]string{"-v", "-M", "-o", "modern,hashpower=20"}, ""},
		"a value that looks like one": {[]string{"-D", "-F"}, ""},
		"no flush_all":                {[]string{"-F"}, always},
		"no flush_all, with others":   {[]string{"-vF"}, always},
		"no flush_all, by name":       {[]string{"--disable-f"}, always},
		"no dumps":                    {[]string{"-X"}, never},
		"no log":                      {[]string{"-v", "--disable-watch"}, never},
		"no crawler":                  {[]string{"-o", "modern,no_lru_crawler"}, never},
		"an idle timeout":             {[]string{"--extended=idle_timeout=5"}, never},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, handoff := range []bool{true, false} {
				err := CheckSlots(tc.arguments, handoff)
				wantErr := tc.want == always || tc.want == never && handoff
				if (err != nil) != wantErr || err != nil && !strings.HasSuffix(err.Error(), tc.want) {
					t.Errorf("handoff %t: %v, want %q", handoff, err, tc.want)
				}
			}
		})
	}
}

func FuzzCheckArgumentsNeverPanics(f *testing.F) {
	f.Add("-vvm\x0064")
	f.Add("--memory\x00--=")
	f.Add("-o\x00ssl_x")
	f.Fuzz(func(_ *testing.T, joined string) {
		_ = CheckArguments(strings.Split(joined, "\x00"))
	})
}
