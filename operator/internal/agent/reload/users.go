package reload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/secrets/users"
)

// Users are the users of the cache.
type Users struct {
	// Dir is the folder where the Secret is mounted.
	Dir string

	// File is memcached's authentication file. Only this agent writes this file, and always atomically.
	File string

	// Address is the loopback address of memcached's plaintext port.
	Address string

	// Certificate is memcached's certificate; nil if it has none.
	Certificate *mounted.Certificate

	// Proc is the folder with the processes: /proc.
	Proc string

	wanted  []users.User               // the users in the file
	removed []users.User               // former users, which memcached may still accept
	login   atomic.Pointer[users.User] // a user that memcached accepts, if one is known
}

// Read writes the authentication file if the Secret has changed. An invalid Secret changes nothing.
func (u *Users) Read() (string, error) {
	if u.wanted == nil {
		u.resume()
	}
	secret, err := mounted.Read(u.Dir, users.KeyUsername, users.KeyPassword, users.KeyUsers)
	if err != nil {
		return "", err
	}
	list, err := users.Parse(secret)
	if err != nil {
		return "", err
	}
	if !slices.Equal(list, u.wanted) {
		if err := users.WriteFile(u.File, list); err != nil {
			return "", err
		}
		u.removed = slices.DeleteFunc(append(u.removed, u.wanted...), func(user users.User) bool {
			return slices.Contains(list, user)
		})
		u.wanted = list
	}
	u.login.CompareAndSwap(nil, &list[0])
	return string(users.File(list)), nil
}

// resume reads the file that an earlier run of the agent wrote. Memcached was started with this file.
func (u *Users) resume() {
	content, _ := os.ReadFile(u.File) // if the file cannot be read, Read writes it again
	if list, err := users.ParseFile(content); err == nil {
		u.wanted = list
		u.login.Store(&list[0])
	}
}

// Started returns an error until the authentication file exists, without which memcached does not start.
func (u *Users) Started() error {
	_, err := os.Stat(u.File)
	return err
}

// Reload sends SIGHUP to memcached once memcached answers: before that, the signal would end memcached. Since memcached
// 1.6.40, the same signal also reloads the certificates, so Reload sends it only if the mounted certificates can be
// loaded.
func (u *Users) Reload(ctx context.Context) error {
	if u.Certificate != nil {
		if _, err := u.Certificate.Load(); err != nil {
			return fmt.Errorf("memcached can't load the users before it can load the certificate: %w", err)
		}
	}
	client, err := protocol.Dial(ctx, u.Address, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	return hangUp(u.Proc)
}

// Check logs in as each user, and verifies that removed users are rejected.
func (u *Users) Check(ctx context.Context) error {
	for _, user := range u.wanted {
		if err := u.try(ctx, user); err != nil {
			return fmt.Errorf("memcached rejects a user of the Secret: %w", err)
		}
	}
	for _, user := range u.removed {
		if err := u.try(ctx, user); !errors.Is(err, protocol.ErrRefused) {
			return errors.Join(errors.New("memcached still accepts a removed user"), err)
		}
	}
	u.removed = nil
	u.login.Store(&u.wanted[0])
	return nil
}

func (u *Users) try(ctx context.Context, user users.User) error {
	client, err := protocol.Dial(ctx, u.Address, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Authenticate(ctx, user.Name, user.Password)
}

// Login connects to memcached as a user that it accepts.
func (u *Users) Login(ctx context.Context) (*protocol.Client, error) {
	user := u.login.Load()
	if user == nil {
		return nil, errors.New("no password is known yet")
	}
	client, err := protocol.Dial(ctx, u.Address, nil)
	if err != nil {
		return nil, err
	}
	if err := client.Authenticate(ctx, user.Name, user.Password); err != nil {
		_ = client.Close()
		return nil, err
	}
	return client, nil
}
