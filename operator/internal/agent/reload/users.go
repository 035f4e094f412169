package reload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/example-inc/memcached-operator/operator/internal/agent/certs"
	"github.com/example-inc/memcached-operator/operator/internal/agent/mounted"
	"github.com/example-inc/memcached-operator/operator/internal/agent/protocol"
	"github.com/example-inc/memcached-operator/operator/internal/agent/users"
)

// Users are those who may use the cache.
type Users struct {
	// Dir is the folder that the Secret is mounted at.
	Dir string

	// File is memcached's authentication file. It is written by this agent alone, and always as a whole.
	File string

	// Address is where memcached speaks plaintext, on the loopback interface.
	Address string

	// Certificate is memcached's; nil if it has none.
	Certificate *certs.Source

	// Proc is where processes are to be seen: /proc.
	Proc string

	wanted  []users.User               // what the file holds
	removed []users.User               // what it held, and memcached may still accept
	login   atomic.Pointer[users.User] // whom memcached accepts, as far as it is known
}

// Read writes the authentication file if the Secret has changed. A Secret that memcached can't hold changes nothing.
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

// resume reads the file that an earlier run of the agent may have left, which is what memcached was started with.
func (u *Users) resume() {
	content, _ := os.ReadFile(u.File) // where it can't be read it is written
	if list, err := users.ParseFile(content); err == nil {
		u.wanted = list
		u.login.Store(&list[0])
	}
}

// Started returns an error unless the authentication file is there, without which memcached does not start.
func (u *Users) Started() error {
	_, err := os.Stat(u.File)
	return err
}

// Tell sends memcached a signal, once it answers: before that, the signal would end it. From memcached 1.6.40 on, the
// same signal loads the certificates, so it has to wait until those that are mounted can be loaded.
func (u *Users) Tell(ctx context.Context) error {
	if u.Certificate != nil {
		if _, err := u.Certificate.Load(); err != nil {
			return fmt.Errorf("users are not loaded until the certificate can be loaded, too: %w", err)
		}
	}
	client, err := protocol.Dial(ctx, u.Address, nil)
	if err != nil {
		return err
	}
	defer client.Close()
	return hangUp(u.Proc)
}

// Check logs in as each user, and tries all those who must not get in any more.
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

// Login connects to memcached as a user whom it accepts.
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
