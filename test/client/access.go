package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// access is how a client authenticates. The client reads the files again for each connection, because the Secret may
// change.
type access struct {
	tls           bool
	serverName    string
	ca, cert, key string // files
	user          string
	passwordFile  string
}

func (a *access) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&a.tls, "tls", false, "speak TLS")
	flags.StringVar(&a.serverName, "server-name", "", "whom the certificate must name; the endpoint's host by default")
	flags.StringVar(&a.ca, "ca", "", "file with the CAs to trust; those of the system by default")
	flags.StringVar(&a.cert, "cert", "", "file with the client's certificate")
	flags.StringVar(&a.key, "key", "", "file with its key")
	flags.StringVar(&a.user, "user", "", "user to log in as")
	flags.StringVar(&a.passwordFile, "password-file", "", "file with the user's password")
}

func (a *access) validate() error {
	switch {
	case (a.cert == "") != (a.key == ""):
		return errors.New("--cert and --key must be set together: set both or none")
	case (a.user == "") != (a.passwordFile == ""):
		return errors.New("--user and --password-file must be set together: set both or none")
	case !a.tls && a.serverName+a.ca+a.cert != "":
		return errors.New("--server-name, --ca and --cert need --tls")
	}
	return nil
}

// dial opens a connection and logs in.
func (a *access) dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := a.connect(ctx, network, address)
	if err != nil || a.user == "" {
		return connection, err
	}
	if err := a.login(ctx, connection); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	return connection, nil
}

func (a *access) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if !a.tls {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, network, address)
}

func (a *access) config() (*tls.Config, error) {
	config := &tls.Config{ServerName: a.serverName}
	if a.ca != "" {
		content, err := os.ReadFile(a.ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(content) {
			return nil, fmt.Errorf("--ca %s holds no certificate", a.ca)
		}
	}
	if a.cert != "" {
		own, err := tls.LoadX509KeyPair(a.cert, a.key)
		if err != nil {
			return nil, err
		}
		// The client shows its certificate to every server, even if the server requests one of another CA.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	return config, nil
}

// login sends the user and the password as the value of a key. In memcached's ASCII protocol, this is the only login.
func (a *access) login(ctx context.Context, connection net.Conn) error {
	password, err := os.ReadFile(a.passwordFile)
	if err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := connection.SetDeadline(deadline); err != nil {
			return err
		}
	}
	login := a.user + " " + strings.TrimRight(string(password), "\r\n")
	if _, err := fmt.Fprintf(connection, "set login 0 0 %d\r\n%s\r\n", len(login), login); err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	answer, err := bufio.NewReader(connection).ReadString('\n') // memcached sends nothing more without a request
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	if answer = strings.TrimSpace(answer); answer != "STORED" {
		return fmt.Errorf("log in as %s: %s", a.user, answer)
	}
	return connection.SetDeadline(time.Time{})
}
