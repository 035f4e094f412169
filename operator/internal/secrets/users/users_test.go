package users

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func secret(entries ...string) map[string][]byte {
	secret := map[string][]byte{}
	for i := 0; i < len(entries); i += 2 {
		secret[entries[i]] = []byte(entries[i+1])
	}
	return secret
}

func TestTheNewestPasswordIsTheLastOfTheFirstUser(t *testing.T) {
	for list, want := range map[string]string{
		"ann:a":                 "ann:a",
		"ann:a\nbob:b":          "ann:a",
		"ann:old\nann:new":      "ann:new",
		"ann:old\nb:b\nann:new": "ann:new",
	} {
		parsed, err := ParseFile([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		if got := Newest(parsed); got.Name+":"+got.Password != want {
			t.Errorf("%q: %s:%s, want %s", list, got.Name, got.Password, want)
		}
	}
}

func TestParse(t *testing.T) {
	eight := strings.Repeat("ann:secret\n", MaxUsers)
	long := strings.Repeat("x", maxEntry-len("ann:"))
	tests := map[string]struct {
		secret map[string][]byte
		want   []User
	}{
		"one user":                          {secret("username", "ann", "password", "secret"), []User{{"ann", "secret"}}},
		"one user, line ends":               {secret("username", "ann\n", "password", "secret\r\n"), []User{{"ann", "secret"}}},
		"other entries do not matter":       {secret("username", "ann", "password", "secret", "x", "y"), []User{{"ann", "secret"}}},
		"several users":                     {secret("users", "ann:one\nbob:two\n"), []User{{"ann", "one"}, {"bob", "two"}}},
		"no line end at the end":            {secret("users", "ann:one\nbob:two"), []User{{"ann", "one"}, {"bob", "two"}}},
		"line ends of Windows, empty lines": {secret("users", "\r\nann:one\r\n\nbob:two\r\n"), []User{{"ann", "one"}, {"bob", "two"}}},
		"a user with two passwords":         {secret("users", "ann:new\nann:old\n"), []User{{"ann", "new"}, {"ann", "old"}}},
		"a colon in the password":           {secret("users", "ann:a:b:\n"), []User{{"ann", "a:b:"}}},
		"letters of any language":           {secret("users", "anné:größe\n"), []User{{"anné", "größe"}}},
		"the longest":                       {secret("users", "ann:"+long), []User{{"ann", long}}},
		"the longest, by two entries":       {secret("username", "ann", "password", long), []User{{"ann", long}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.secret)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if got, err := Parse(secret("users", eight)); err != nil || len(got) != MaxUsers {
		t.Errorf("as many users as can be: %d, error %v", len(got), err)
	}
}

func TestParseRefusesWhatMemcachedCannotHold(t *testing.T) {
	const password = "pa55word"
	long := strings.Repeat("x", maxEntry-len("ann:")+1)
	tests := map[string]struct {
		secret map[string][]byte
		want   string
	}{
		"an empty Secret":                {secret(), "the Secret needs username and password, or users with a line user:password each"},
		"a name alone":                   {secret("username", "ann"), "the Secret needs username and password"},
		"a password alone":               {secret("password", password), "the Secret needs username and password"},
		"both kinds":                     {secret("users", "ann:"+password, "username", "ann"), "the Secret holds users as well as username and password: keep one or the other"},
		"an empty name":                  {secret("username", "", "password", password), "username and password: no user name"},
		"an empty password":              {secret("username", "ann", "password", "\n"), "username and password: no password"},
		"a colon in the name":            {secret("username", "an:n", "password", password), "username and password: a colon in the user name"},
		"a blank in the password":        {secret("username", "ann", "password", password+" x"), "a blank or control character"},
		"two line ends":                  {secret("username", "ann", "password", password+"\n\n"), "a blank or control character"},
		"a null byte":                    {secret("username", "ann", "password", password+"\x00"), "a blank or control character"},
		"too long":                       {secret("username", "ann", "password", long), "user:password has 255 bytes: memcached holds at most 254"},
		"no user":                        {secret("users", "\n"), "users: no user: write a line user:password each"},
		"a ninth user":                   {secret("users", strings.Repeat("ann:"+password+"\n", MaxUsers+1)), "users: 9 users: memcached holds at most 8"},
		"a line that is only a password": {secret("users", "ann:x\n"+password+"\n"), "users, line 2: no colon: write user:password"},
		"a line without a name":          {secret("users", ":"+password), "users, line 1: no user name"},
		"a line without a password":      {secret("users", "ann:"), "users, line 1: no password"},
		"a line with a blank":            {secret("users", "\nann: "+password), "users, line 2: a blank or control character"},
		"a line that is too long":        {secret("users", "ann:"+long), "users, line 1: user:password has 255 bytes"},
		"line ends of an old Mac":        {secret("users", "ann:"+password+"\rbob:"+password), "users, line 1: a blank or control character"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.secret)
			if !strings.Contains(fmt.Sprint(err), tc.want) || got != nil {
				t.Errorf("%d users, error %v, want %q", len(got), err, tc.want)
			}
			if strings.Contains(fmt.Sprint(err), password) {
				t.Errorf("the error contains the password: %v", err)
			}
		})
	}
}

func TestAUserNeverPrintsThePassword(t *testing.T) {
	user := User{"ann", "secret"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{user, &user, []User{user}} {
			if got := fmt.Sprintf(verb, value); strings.Contains(got, "secret") || strings.Contains(got, fmt.Sprintf("%x", "secret")) {
				t.Errorf("%s of %T: %s", verb, value, got)
			}
		}
	}
}

func TestTheFileIsReplacedAndOnlyForItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth")
	for _, list := range [][]User{{{"ann", "one"}, {"bob", "two"}}, {{"ann", "three"}}} {
		if err := WriteFile(path, list); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if diff := cmp.Diff(string(File(list)), string(content)); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("files %v, error %v", entries, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %s, error %v", info.Mode(), err)
	}
}
