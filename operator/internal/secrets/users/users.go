// Package users reads the users in a Secret, and converts them into memcached's authentication file. Both programs use
// it: the operator to report an invalid Secret, and the agent to write the file.
//
// The Secret holds either `username` and `password`, or `users`, a list with an entry `user:password` in each line.
// Memcached silently drops whatever its file cannot hold (authfile.c): the ninth user, and everything after an entry
// that is too long. A user may have several passwords, with an entry for each password, so that an old password works
// until all clients know the new one.
//
// Errors contain nothing of the content: a malformed line may be a password.
package users

// The users, their limits, and memcached's authentication file.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Keys of the Secret.
const (
	KeyUsername = "username"
	KeyPassword = "password"
	KeyUsers    = "users"
)

// MaxUsers is how many users memcached reads.
const MaxUsers = 8

// maxEntry is the longest user:password. Memcached reads a line into 256 bytes, including its end and a null byte.
const maxEntry = 254

// User is the name and the password of a user. The package fmt never prints the password, whatever the verb.
type User struct{ Name, Password string }

// Format prints only the name.
func (u User) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, u.Name) }

// Parse reads the entries of a Secret.
func Parse(secret map[string][]byte) ([]User, error) {
	list, hasList := secret[KeyUsers]
	name, hasName := secret[KeyUsername]
	password, hasPassword := secret[KeyPassword]
	switch {
	case hasList && (hasName || hasPassword):
		return nil, fmt.Errorf("the Secret holds %s as well as %s and %s: keep one or the other",
			KeyUsers, KeyUsername, KeyPassword)
	case hasList:
		return ParseFile(list)
	case !hasName || !hasPassword:
		return nil, fmt.Errorf("the Secret needs %s and %s, or %s with a line user:password each",
			KeyUsername, KeyPassword, KeyUsers)
	}
	// If a Secret is created from a file, the name often has a line end that is not part of it.
	user := User{trimLineEnd(string(name)), trimLineEnd(string(password))}
	if err := user.validate(); err != nil {
		return nil, fmt.Errorf("%s and %s: %w", KeyUsername, KeyPassword, err)
	}
	return []User{user}, nil
}

// ParseFile reads lines user:password, and skips empty lines.
func ParseFile(content []byte) ([]User, error) {
	var list []User
	number := 0
	for line := range bytes.Lines(content) {
		number++
		entry := trimLineEnd(string(line))
		if entry == "" {
			continue
		}
		name, password, ok := strings.Cut(entry, ":")
		if !ok {
			return nil, fmt.Errorf("%s, line %d: no colon: write user:password", KeyUsers, number)
		}
		user := User{name, password}
		if err := user.validate(); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", KeyUsers, number, err)
		}
		list = append(list, user)
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("%s: no user: write a line user:password each", KeyUsers)
	case len(list) > MaxUsers:
		return nil, fmt.Errorf("%s: %d users: memcached holds at most %d", KeyUsers, len(list), MaxUsers)
	}
	return list, nil
}

// validate rejects users that memcached cannot store, or that no client could send.
func (u User) validate() error {
	length := len(u.Name) + 1 + len(u.Password)
	switch {
	case u.Name == "":
		return errors.New("no user name")
	case u.Password == "":
		return errors.New("no password")
	case strings.Contains(u.Name, ":"):
		return errors.New("a colon in the user name: memcached takes what follows for the password")
	case strings.ContainsFunc(u.Name+u.Password, unsendable):
		return errors.New("a blank or control character: memcached takes it for the end of the user name or the password")
	case length > maxEntry:
		return fmt.Errorf("user:password has %d bytes: memcached holds at most %d", length, maxEntry)
	}
	return nil
}

// Newest returns the first user with the newest password: the one in the last entry of this user, because a new
// password is added to the list before the old one is removed.
func Newest(list []User) User {
	newest := list[0]
	for _, user := range list {
		if user.Name == newest.Name {
			newest = user
		}
	}
	return newest
}

func unsendable(r rune) bool { return r <= ' ' || r == 0x7f }

func trimLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}

// File returns the content of memcached's authentication file.
func File(list []User) []byte {
	var file bytes.Buffer
	for _, user := range list {
		file.WriteString(user.Name + ":" + user.Password + "\n")
	}
	return file.Bytes()
}

// WriteFile replaces the authentication file atomically: memcached never sees a part of it. Only the owner may read
// it.
func WriteFile(path string, list []User) error {
	next := path + ".next"
	if err := os.WriteFile(next, File(list), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}
